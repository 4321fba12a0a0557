"""Drop-ins: one line in a framework, and its agents no longer outgrow their window.

Each drop-in changes a *view*: what one request sends. The history that the framework stores stays whole. A drop-in is
a module named after its framework and imports it; nothing here imports a framework by itself.
"""
