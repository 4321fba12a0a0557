"""Octavo measured: speed beside others in one run, and what compressing keeps. `python -m benchmarks` runs it.

Nothing is imported here: `benchmarks/peer_adapter.py` is loaded from this package by a yardstick that times imports.
"""
