"""Counts tokens: vocabularies, frames, images, model cards, and calibration by what providers bill.

Importing this package loads no vocabulary, no SDK and no model table; the first count does.
"""
