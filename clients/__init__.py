"""Real clients through the gateway: `make clients` installs them, runs them, and prints what happened.

Each runs against a provider on this machine that checks what the real ones check (`tests/gateway/strict.py`). None of
this is part of the package or of the tests: it needs the network to install the clients, and many minutes.
"""
