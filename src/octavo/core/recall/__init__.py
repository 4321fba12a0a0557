"""Recall: what was covered comes back when it is asked for, word for word.

`words` turns texts into what is looked up, `question` says what is asked, `rank` orders pieces of covered messages,
`choose` takes the best that fit, `render` writes them as data, and `size` says how much room they may take.
"""
