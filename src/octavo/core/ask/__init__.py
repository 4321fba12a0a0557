"""Asking a model for a summary, and judging what it answers: everything of it that needs no model.

`prepare` makes a job ready; `whole`, `part`, `merge`, `bullets`, `live` and `check` write the messages of the requests;
`judge` and `judge_bullets` turn answers into drafts. Same job, same prompts, same messages, byte for byte.
"""

from octavo.core.ask.answer import Draft, Expected, Judging, distinct, judge, judge_bullets, thin, verdict
from octavo.core.ask.blocks import Block, Chunk, Measure, blocks, divide, text_of
from octavo.core.ask.fences import Fences, fences
from octavo.core.ask.forms import Brief, bullets, check, joined, live, merge, part, prepare, whole
from octavo.core.ask.grounds import Grounds, grounds, said, unfounded
from octavo.core.ask.language import Language, detect, foreign, language_of
from octavo.core.ask.template import Prompts, Template, prompts, template

__all__ = [
    "Block",
    "Brief",
    "Chunk",
    "Draft",
    "Expected",
    "Fences",
    "Grounds",
    "Judging",
    "Language",
    "Measure",
    "Prompts",
    "Template",
    "blocks",
    "bullets",
    "check",
    "detect",
    "distinct",
    "divide",
    "fences",
    "foreign",
    "grounds",
    "joined",
    "judge",
    "judge_bullets",
    "language_of",
    "live",
    "merge",
    "part",
    "prepare",
    "prompts",
    "said",
    "template",
    "text_of",
    "thin",
    "unfounded",
    "verdict",
    "whole",
]
