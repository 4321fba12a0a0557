"""The engine: one turn, straight down, from a stored tree to an answer that is stored again.

Values of the core move through the shell (store, meters, summarisers, providers) in one direction. What was verified
is what is sent. Manual, automatic and background compression are one path; only the trigger differs.
"""
