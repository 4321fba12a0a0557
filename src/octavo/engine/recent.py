"""The scenes looked at last, one for each conversation, so that a turn costs what is new in it.

A scene is used again only at the same tip of the same revision of its conversation, under the same settings; what
another process changed meanwhile raises the revision, and then it is loaded anew. Nothing is ever served from here
that the store would not give.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.core.plain import Json
from octavo.core.tools import Tool
from octavo.engine.scene import Scene, grown, renewed
from octavo.store.values import Added

if TYPE_CHECKING:
    from octavo.meters.meter import Meter

MOST = 32
"""Conversations remembered: each may hold a whole window of text."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A scene, and the revision of its conversation at which it was true."""

    scene: Scene
    revision: int


class Recent:
    """What was looked at last."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._seen: OrderedDict[str, Seen] = OrderedDict()

    def keep(self, scene: Scene, revision: int) -> None:
        """Remember a scene; the conversation used longest ago is forgotten for it."""
        self._seen[scene.conversation] = Seen(scene, revision)
        self._seen.move_to_end(scene.conversation)
        if len(self._seen) > self._most:
            self._seen.popitem(last=False)

    def grow(self, conversation: str, added: Added, meter: Meter) -> None:
        """Go along with messages that were added below the tip that was looked at."""
        seen = self._seen.get(conversation)
        if seen is None or seen.revision != added.revision:
            return
        # What the meter has learned of the tip is taken over there: further down it would not be found.
        scene = renewed(seen.scene, meter) if meter.card.name == seen.scene.meter.card.name else None
        for node in added.nodes:
            scene = grown(scene, node) if scene else None
        if scene is not None:
            self.keep(scene, added.revision)

    def find(
        self,
        conversation: str,
        tip: str,
        revision: int,
        *,
        settings: Mapping[str, Json],
        tools: tuple[Tool, ...],
        meter: Meter,
    ) -> Scene | None:
        """Give the scene of a tip if it is known and still true."""
        seen = self._seen.get(conversation)
        if seen is None or (seen.scene.tip, seen.revision) != (tip, revision):
            return None
        scene = seen.scene
        if scene.settings != settings or scene.loaded.tools != tools:
            return None
        return renewed(scene, meter)
