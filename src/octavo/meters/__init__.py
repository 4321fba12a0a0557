"""What counts tokens: vocabularies, frames, images, model cards, calibration, and the providers' own counters.

Importing this package loads no vocabulary, no SDK and no model table; the first count does.
"""
