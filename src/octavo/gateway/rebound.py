"""Remembers which conversations have thinking that is bound to something else than what the client sends.

Thinking that answers a compressed request is bound to its snapshot. So every later request of the conversation asks the
provider to leave out what does not match; see `thinking`. The note is in the store: every replica finds it, and so does
this one after a restart. It goes with its conversation.
"""

from __future__ import annotations

from octavo.gateway.gateway import Gateway

NOTE = "rebound:"
"""How the key of such a note begins; the id of the conversation follows."""


async def is_rebound(gateway: Gateway, conversation: str) -> bool:
    """Tell whether thinking of a conversation may be bound to a snapshot."""
    if gateway.cache.rebound.get(conversation):
        return True
    # Only a yes is cached: another replica may compress the conversation at any time.
    noted = await gateway.engine.store.notes.get(NOTE + conversation) is not None
    if noted:
        gateway.cache.rebound.put(conversation, value=True)
    return noted


async def remember_rebound(gateway: Gateway, conversation: str) -> None:
    """Note that thinking of a conversation may be bound to a snapshot."""
    if not gateway.cache.rebound.get(conversation):
        await gateway.engine.store.notes.put_all({NOTE + conversation: True}, conversation=conversation)
        gateway.cache.rebound.put(conversation, value=True)
