"""Asks a model for a summary, and judges its answer: the parts of that which need no model.

`prepare` makes a job ready; `whole`, `part`, `merge`, `bullets`, `live` and `check` write the messages of the requests;
`judge` and `judge_bullets` turn answers into drafts. Same job, same prompts, same messages, byte for byte.
"""
