"""The pure part: it decides, splits, picks, builds, verifies and shrinks.

Standard library and `octavo.errors` only; no I/O, clock, randomness, logging or async. Everything here is a
function of its arguments, so it can be tested without a database, a network or a model.
"""
