"""Extracts: verbatim lines that later turns will need, chosen from covered messages by code.

`choose.extract` chooses, `render.render` writes what was chosen, `render.parse` reads it back. Everything is a function
of its arguments: the same messages give the same extracts on every machine. Extracts are always chosen from the
originals, so compressing again does not erode them.
"""
