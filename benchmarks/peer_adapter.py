"""Octavo, and what LangChain offers without a model, as a yardstick of libraries wants them.

    python peer_speed.py --adapter benchmarks/peer_adapter.py --peers octavo,trim_messages,langchain,strands,pydantic-ai

Loading this imports the empty packages `octavo` and `benchmarks` and nothing else: the yardstick times imports.
"""

from __future__ import annotations

from benchmarks.adapter import Octavo
from benchmarks.others import TrimMessages

ADAPTERS = [Octavo, TrimMessages]
