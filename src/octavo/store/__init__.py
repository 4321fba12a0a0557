"""The store: a tree of messages in SQLite or PostgreSQL, from which every context is computed.

Nothing that was acknowledged is lost, nothing is ever rewritten except by deletion, and what is read costs what it
returns, however long the conversation is. Whoever only names its values does not pay for the database's library: that
is imported when a store is opened.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from octavo.store.ids import new_id
from octavo.store.values import (
    TIP,
    ApiKey,
    Busy,
    Conversation,
    Details,
    Entry,
    Everywhere,
    File,
    ForConversation,
    ForModel,
    Hit,
    Job,
    PinPlace,
    Refused,
    Scope,
    Stale,
    StoredContext,
    StoreProblem,
)

if TYPE_CHECKING:
    from octavo.store.store import Store
    from octavo.store.transfer.formats import FORMATS, Format

_LATER = {
    "FORMATS": "octavo.store.transfer.formats",
    "Format": "octavo.store.transfer.formats",
    "Store": "octavo.store.store",
}

__all__ = [
    "FORMATS",
    "TIP",
    "ApiKey",
    "Busy",
    "Conversation",
    "Details",
    "Entry",
    "Everywhere",
    "File",
    "ForConversation",
    "ForModel",
    "Format",
    "Hit",
    "Job",
    "PinPlace",
    "Refused",
    "Scope",
    "Stale",
    "Store",
    "StoreProblem",
    "StoredContext",
    "new_id",
]


def __getattr__(name: str) -> object:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'octavo.store' has no attribute {name!r}")
