"""Summarisers: what writes the narrative of a snapshot."""
