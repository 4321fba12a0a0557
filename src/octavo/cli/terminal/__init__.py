"""The terminal chat: a log that scrolls, an input line with a meter under it, and commands no model ever sees.

`session` is the straight path of a session; `commands` is the table of what can be typed; `view` turns values into
lines; `keyboard` and `screen` are the only modules that know a terminal.
"""
