"""Conversations in and out of the store: Octavo's own JSON Lines, and the formats people have their history in.

A reader turns a file into items, whatever its format; `importer` stores items. So a format is one generator.
"""
