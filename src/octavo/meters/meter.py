"""A meter: what a whole request costs a model, section by section, and how sure that is.

Messages are counted once and added up ever after: a request that grew by one message costs one count and one
addition. The sections of a reading add up to its total, to the token, and the same total moves the gauge and the
trigger. What the provider billed before corrects what it will bill next.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

from octavo.core.budget import ModelCard, Reading
from octavo.core.messages import Attachment, Image, Message, Node, Opaque, chain
from octavo.core.tools import Tool
from octavo.errors import BadInput
from octavo.meters.calibration import (
    HIDDEN,
    HIDDEN_SHARE,
    Anchor,
    BilledRequest,
    Calibration,
    Prediction,
    observe,
    predict,
)
from octavo.meters.frames import FRAMES
from octavo.meters.images import MEDIA
from octavo.meters.tokenizers import Tokenizer, load, names
from octavo.meters.unit import FRAME, TokenTally, TokenUnit, total

if TYPE_CHECKING:
    from octavo.core.context import Context

log = logging.getLogger(__name__)

FRONT = ("system", "tools")
PINS = "pins"
HISTORY = ("summary", "retained", "pending")
"""The sections of a context, in its order: what stays whatever is said, what is always sent, what was said."""
NOTHING_KNOWN: Mapping[Message, int] = {}


class Running(NamedTuple):
    """A request as far as it is written: extended message by message, never counted twice."""

    key: str
    """Digest of the system prompt and the tools."""
    digest: bytes
    tally: TokenTally
    front: TokenTally = TokenTally()
    """What the system prompt and the tools hold of it."""
    anchor: Anchor | None = None
    """The newest bill known for a beginning of this request."""
    last: bytes = b""
    """Digest of the last message by itself."""
    suspect: str = ""
    """The message since the anchor whose cost is least certain."""
    odd: int = 0
    """What its messages are known to cost beyond their counts."""
    odd_before: int = 0
    """The same as far as the anchor."""

    @property
    def held(self) -> TokenTally:
        """What it holds by count, with what single messages are known to cost beyond it; nothing else is corrected."""
        return self.tally + TokenTally(self.odd)

    @property
    def request(self) -> BilledRequest:
        return BilledRequest(
            key=self.key,
            digest=self.digest.hex(),
            tally=self.tally,
            front=self.front,
            anchor=self.anchor,
            suspect=self.suspect,
            odd=self.odd,
            odd_since=self.odd - self.odd_before,
        )


class Survey(NamedTuple):
    """A context that was gone through: its request as far as it is written, and what its sections cost."""

    running: Running
    sections: Mapping[str, TokenTally]
    """What is known of single messages beyond their counts is among the tokens."""


class Meter:
    """Counts for one model; `calibration` is what is known of its bills so far."""

    def __init__(
        self, card: ModelCard, calibration: Calibration | None = None, *, tokenizer: Tokenizer | None = None
    ) -> None:
        for name, value, known in (
            ("tokenizer", card.tokenizer, names()),
            ("frame", card.frame, FRAMES),
            ("image_rule", card.image_rule, MEDIA),
        ):
            if value not in known:
                raise BadInput(f"{card.name}.{name}", f"unknown {value!r}; one of {', '.join(known)}")
        self.card = card
        self._tokenizer = tokenizer
        self._calibration = calibration

    def __getstate__(self) -> dict[str, object]:
        """Go to another process without the vocabulary: it is loaded there."""
        return {name: getattr(self, name) for name in ("card", "_tokenizer", "_calibration")}

    @cached_property
    def unit(self) -> TokenUnit:
        """What counts are stored in; the vocabulary is loaded when this is first asked for."""
        card, tokenizer = self.card, self._tokenizer or load(self.card.tokenizer)
        if card.assumed and tokenizer.exact:
            # Nobody knows this model's vocabulary. A count in another model's is a guess, and is marked as one.
            tokenizer = replace(tokenizer, name=f"{tokenizer.name}~assumed", exact=False)
        return TokenUnit(
            tokenizer=tokenizer,
            frame=FRAMES[card.frame],
            media=card.image_rule,
            vision=card.vision,
        )

    @cached_property
    def calibration(self) -> Calibration:
        exact, hidden = self.unit.tokenizer.exact, min(HIDDEN, self.card.window // HIDDEN_SHARE)
        return replace(self._calibration or Calibration(), exact=exact, hidden=hidden)

    def untaught(self) -> Meter:
        """Give a meter that counts as this one did before the first bill."""
        return Meter(self.card, tokenizer=self._tokenizer)

    @cached_property
    def _anchors(self) -> Mapping[str, Anchor]:
        return {anchor.digest: anchor for anchor in self.calibration.anchors}

    @cached_property
    def _oddities(self) -> Mapping[str, int]:
        return self.calibration.oddities

    def count_text(self, text: str) -> int:
        """Count a text by itself."""
        return self.unit.text(text)

    def count_message(self, message: Message) -> int:
        """Count a message with its frame: the number that is stored under `unit.name`."""
        return self.unit.tally(message).tokens

    def count_node(self, node: Node) -> int:
        """Give a node's stored count, or count it."""
        stored = node.counts.get(self.unit.name)
        return self.count_message(node.message) if stored is None else stored

    def count_tools(self, tools: Iterable[Tool]) -> int:
        """Count tool definitions."""
        return self.unit.tools(tools).tokens

    def by_role(self, messages: Iterable[Message]) -> tuple[tuple[str, int], ...]:
        """Divide the cost of messages by who said them."""
        total: Counter[str] = Counter()
        for message in messages:
            total[message.role] += self.count_message(message)
        return tuple(total.items())

    def by_part(self, messages: Iterable[Message]) -> tuple[tuple[str, int], ...]:
        """Divide the cost of messages by the kinds of their parts."""
        total: Counter[str] = Counter()
        for message in messages:
            for kind, tokens in self.unit.by_part(message):
                total[kind] += tokens
        return tuple(total.items())

    def start(self, system: Iterable[Message] = (), tools: Iterable[Tool] = ()) -> Running:
        """Begin a request with its system prompt and its tools."""
        tools = tuple(tools)
        base = TokenTally(self.unit.frame.request) + self.unit.tools(tools)
        running = Running("", _digest(self.unit.name, tools), base)
        for message in system:
            running = self.extend(running, message)
        return running._replace(key=running.digest.hex(), front=running.tally)

    def extend(self, running: Running, message: Message, tokens: int | None = None) -> Running:
        """Add a message; `tokens` is its stored count, if there is one."""
        return self._extend(running, ((message, tokens),))

    def _extend(self, running: Running, messages: Iterable[tuple[Message, int | None]]) -> Running:
        """Add messages with their stored counts; a long history is gone through without a value for each step."""
        digest, last, suspect, anchor = running.digest, running.last, running.suspect, running.anchor
        odd, odd_before, tallies = running.odd, running.odd_before, [running.tally]
        for message, tokens in messages:
            # The text is hashed once. A message is known again by itself and its predecessor: "yes" is said too often.
            own = chain(b"", message)
            digest, pair, last = _joined(digest, own), _joined(last, own).hex(), own
            odd += self._oddities.get(pair, 0)
            if found := self._anchors.get(digest.hex()):
                anchor, suspect, odd_before = found, "", odd
            elif not suspect or _has_media(message):
                suspect = pair
            tallies.append(self._tally(message, tokens))
        return Running(
            key=running.key,
            digest=digest,
            tally=total(tallies),
            front=running.front,
            anchor=anchor,
            last=last,
            suspect=suspect,
            odd=odd,
            odd_before=odd_before,
        )

    def _tally(self, message: Message, tokens: int | None) -> TokenTally:
        if tokens is None:
            return self.unit.tally(message)
        messages, calls = self.unit.shape(message)
        return TokenTally(tokens, messages, calls, 0 if self.unit.tokenizer.exact else tokens)

    def predict(self, running: Running) -> Prediction:
        """Say what the provider will bill for a request as it stands."""
        return predict(self.calibration, running.request)

    def read(self, context: Context, known: Mapping[Message, int] = NOTHING_KNOWN) -> Reading:
        """Measure a context; `known` are stored counts, and only other messages are counted."""
        traced = self._anchors or self._oddities
        return self.reading(self._survey(context, known, traced=bool(traced)))

    def reading(self, survey: Survey) -> Reading:
        """Say what a context that was gone through costs."""
        prediction = self.predict(survey.running)
        return Reading(
            tokens=prediction.tokens,
            basis=prediction.basis,
            error_bound=prediction.bound,
            breakdown=self._breakdown(survey.sections, prediction),
        )

    def _breakdown(
        self, sections: Mapping[str, TokenTally], prediction: Prediction
    ) -> tuple[tuple[str, int], ...]:
        """Divide a prediction: to each section its own, to the frame what is left of the fixed part."""
        shares = {name: max(0, round(self.calibration.fit.apply(held))) for name, held in sections.items()}
        said = [name for name in HISTORY if shares[name]]
        largest = max(said, key=lambda name: shares[name], default=PINS)
        fixed = prediction.fixed if said or shares[PINS] else prediction.tokens
        divided = {
            **_balanced({name: shares[name] for name in FRONT}, fixed, FRAME),
            **_balanced({name: shares[name] for name in (PINS, *said)}, prediction.tokens - fixed, largest),
        }
        order = (*FRONT, PINS, *HISTORY, FRAME)
        return tuple((name, divided[name]) for name in order if divided.get(name))

    def learn(
        self, context: Context, billed: int, known: Mapping[Message, int] = NOTHING_KNOWN
    ) -> Calibration:
        """Learn from the input tokens a provider billed or counted for a context; give the new calibration."""
        return self.learn_from(self.survey(context, known), billed)

    def learn_from(self, survey: Survey, billed: int) -> Calibration:
        """Learn from the bill for a context that was gone through; a bill above the window is ignored."""
        if billed > self.card.window:
            return self.calibration
        learned = observe(self.calibration, survey.running.request, billed)
        if learned.misfit and not self.calibration.misfit:
            log.warning(
                "%s is billed as if it used another vocabulary than %s", self.card.name, self.unit.name
            )
        return learned

    def knows(self, sent: Context | Survey) -> bool:
        """Tell whether a bill for this system prompt and these tools has been seen."""
        running = sent.running if isinstance(sent, Survey) else self.start(sent.system, sent.tools)
        return self.calibration.fit.constant(running.key) is not None

    def survey(self, context: Context, known: Mapping[Message, int] = NOTHING_KNOWN) -> Survey:
        """Go through a context, message by message."""
        return self._survey(context, known, traced=True)

    def _survey(self, context: Context, known: Mapping[Message, int], *, traced: bool) -> Survey:
        """Go through a context. Digests find bills that are known; unless it is `traced`, none are computed."""
        running = self.start(context.system, context.tools)
        tools = self.unit.tools(context.tools)
        sections = {
            "system": running.held - tools - TokenTally(self.unit.frame.request),
            "tools": tools,
        }
        for name in (PINS, *HISTORY):
            before = running.held
            messages: tuple[Message, ...] = getattr(context, name)
            counted = [(message, known.get(message)) for message in messages]
            if traced:
                running = self._extend(running, counted)
            else:
                running = running._replace(tally=total((running.tally, *starmap(self._tally, counted))))
            sections[name] = running.held - before
        return Survey(running, sections)

    def with_unseen(self, survey: Survey, tokens: int, messages: int) -> Survey:
        """Add retained messages of which only the size is known; no bill is for a request that nobody went through."""
        more = TokenTally(tokens, messages, 0, 0 if self.unit.tokenizer.exact else tokens)
        running = survey.running
        running = running._replace(
            tally=running.tally + more, digest=_joined(running.digest, b"unseen"), anchor=None
        )
        return Survey(running, {**survey.sections, "retained": survey.sections["retained"] + more})

    def grow(self, survey: Survey, message: Message, tokens: int | None = None) -> Survey:
        """Go on with a survey that ends in retained messages: one more of them."""
        running = self.extend(survey.running, message, tokens)
        more = running.held - survey.running.held
        return Survey(running, {**survey.sections, "retained": survey.sections["retained"] + more})

    def taken_over(self, survey: Survey, before: Meter) -> Survey | None:
        """Take over what an earlier state of this meter went through; None when that must be done again."""
        if before.unit.name != self.unit.name or before._oddities != self._oddities:
            return None
        running = survey.running
        if running.anchor and self._anchors.get(running.anchor.digest) != running.anchor:
            return None
        anchor = self._anchors.get(running.digest.hex())
        if anchor is not None:
            running = running._replace(anchor=anchor, suspect="", odd_before=running.odd)
        return Survey(running, survey.sections)


def _has_media(message: Message) -> bool:
    """Tell whether a message holds something whose size is easily mistaken."""
    return any(type(part) in (Image, Attachment, Opaque) for part in message.parts)


def _joined(before: bytes, last: bytes) -> bytes:
    return blake2b(before + last, digest_size=16).digest()


def _digest(unit: str, tools: tuple[Tool, ...]) -> bytes:
    digest = blake2b(unit.encode(), digest_size=16)
    for tool in tools:
        for piece in (tool.name, tool.description, tool.schema):
            data = piece.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


def _balanced(sections: Mapping[str, int], total: int, rest: str) -> dict[str, int]:
    """Make sections add up to a total: `rest` gets what is missing; no section goes below zero."""
    shown = dict(sections)
    over = sum(shown.values()) - total
    shown[rest] = shown.get(rest, 0) + max(0, -over)
    for name in sorted(sections, key=lambda each: -sections[each]):
        taken = min(shown[name], max(0, over))
        shown[name], over = shown[name] - taken, over - taken
    return shown
