"""The store: a tree of messages in SQLite or PostgreSQL, from which every context is computed.

What was acknowledged is never lost. Only a deletion rewrites anything. A read costs as much as it returns, however long
the conversation is. The database's library is imported when a store is opened, so a program that only uses the values
does not pay for it.
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
