"""The store: a tree of messages in SQLite or PostgreSQL, from which every context is computed.

Nothing that was acknowledged is lost, nothing is ever rewritten except by deletion, and what is read costs what it
returns, however long the conversation is.
"""

from octavo.store.ids import new_id
from octavo.store.store import Store
from octavo.store.transfer.formats import FORMATS, Format
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
    Ingredients,
    Job,
    LargeText,
    PinPlace,
    Problem,
    Refused,
    Scope,
    Stale,
)

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
    "Ingredients",
    "Job",
    "LargeText",
    "PinPlace",
    "Problem",
    "Refused",
    "Scope",
    "Stale",
    "Store",
    "new_id",
]
