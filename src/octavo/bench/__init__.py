"""Octavo measured: speed beside others in one run, and what compressing keeps. `octavo bench` runs it.

Nothing is imported here: `benchmarks/peer_adapter.py` is loaded from this package by a yardstick that times imports.
"""
