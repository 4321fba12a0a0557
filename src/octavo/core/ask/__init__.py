"""Asking a model for a summary, and judging what it answers: everything of it that needs no model.

`prepare` makes a job ready; `whole`, `part`, `merge`, `bullets`, `live` and `check` write the messages of the requests;
`judge` and `judge_bullets` turn answers into drafts. Same job, same prompts, same messages, byte for byte.
"""

from octavo.core.ask.answer import (
    Expected,
    JudgedAnswer,
    JudgeTask,
    distinct,
    judge,
    judge_bullets,
    thin,
    verdict,
)
from octavo.core.ask.blocks import Chunk, Measure, TextBlock, blocks, divide, text_of
from octavo.core.ask.fences import Fences, fences
from octavo.core.ask.forms import Brief, bullets, check, joined, live, merge, part, prepare, whole
from octavo.core.ask.language import Language, detect, foreign, language_of
from octavo.core.ask.source_check import SourceText, said, source_text, unfounded
from octavo.core.ask.template import Prompts, Template, prompts, template

__all__ = [
    "Brief",
    "Chunk",
    "Expected",
    "Fences",
    "JudgeTask",
    "JudgedAnswer",
    "Language",
    "Measure",
    "Prompts",
    "SourceText",
    "Template",
    "TextBlock",
    "blocks",
    "bullets",
    "check",
    "detect",
    "distinct",
    "divide",
    "fences",
    "foreign",
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
    "source_text",
    "template",
    "text_of",
    "thin",
    "unfounded",
    "verdict",
    "whole",
]
