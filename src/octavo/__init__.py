"""Octavo keeps LLM conversations alive past the context window.

The names below are the public ones; everything else is reached through its module. They are imported on first use,
so that `import octavo` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from octavo.core.budget import Budget, ModelCard, Reading
    from octavo.core.context import Context
    from octavo.core.messages import Message, assistant, system, user
    from octavo.core.policy import Policy, preset
    from octavo.core.snapshot import Snapshot
    from octavo.engine.batch import compress_line
    from octavo.engine.chat import Chat
    from octavo.engine.engine import Engine
    from octavo.engine.stateless import acompress, compress
    from octavo.engine.sync import SyncChat, open
    from octavo.errors import OctavoError
    from octavo.protocols import Provider

_HOME = {
    "Budget": "octavo.core.budget",
    "Chat": "octavo.engine.chat",
    "Context": "octavo.core.context",
    "Engine": "octavo.engine.engine",
    "Message": "octavo.core.messages",
    "ModelCard": "octavo.core.budget",
    "OctavoError": "octavo.errors",
    "Policy": "octavo.core.policy",
    "Provider": "octavo.protocols",
    "Reading": "octavo.core.budget",
    "Snapshot": "octavo.core.snapshot",
    "SyncChat": "octavo.engine.sync",
    "acompress": "octavo.engine.stateless",
    "assistant": "octavo.core.messages",
    "compress": "octavo.engine.stateless",
    "compress_line": "octavo.engine.batch",
    "open": "octavo.engine.sync",
    "preset": "octavo.core.policy",
    "system": "octavo.core.messages",
    "user": "octavo.core.messages",
}

__all__ = [
    "Budget",
    "Chat",
    "Context",
    "Engine",
    "Message",
    "ModelCard",
    "OctavoError",
    "Policy",
    "Provider",
    "Reading",
    "Snapshot",
    "SyncChat",
    "__version__",
    "acompress",
    "assistant",
    "compress",
    "compress_line",
    "open",
    "preset",
    "system",
    "user",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'octavo' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
