"""Turns values of the engine into the schemas of the API, and messages of clients into values."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar
from urllib.parse import unquote_to_bytes

from octavo.core.budget import Budget, ModelCard, Reading
from octavo.core.context import summary_text
from octavo.core.harden import Repair
from octavo.core.json_values import JsonObject
from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Node,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from octavo.core.policy import Compress
from octavo.core.recall.passages import Passage, Passages
from octavo.core.receipt import Receipt
from octavo.core.reply import Reply
from octavo.core.snapshot import Snapshot
from octavo.core.tools import Tool
from octavo.engine.answer_notes import NOTHING, AnswerNotes
from octavo.engine.costs import SavedSoFar
from octavo.engine.outcome import CompressionPlan, ContextUsage
from octavo.errors import BadInput
from octavo.http.responses import to_json
from octavo.providers.availability import Availability
from octavo.server.schemas.base import Role, Shape
from octavo.server.schemas.context import (
    BudgetOut,
    PlanOut,
    ReadingOut,
    RepairOut,
    SectionOut,
    UsageOut,
)
from octavo.server.schemas.conversations import ConversationOut
from octavo.server.schemas.jobs import JobOut
from octavo.server.schemas.keys import KeyOut
from octavo.server.schemas.messages import (
    AttachmentPart,
    ImagePart,
    MessageOut,
    NodeOut,
    OtherPart,
    PartIn,
    PartOut,
    ReasoningPart,
    ResultContentOut,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolResultPartOut,
    TreeNode,
)
from octavo.server.schemas.models import CardOut, ProviderOut
from octavo.server.schemas.pins import PinOut
from octavo.server.schemas.recall import PassageOut
from octavo.server.schemas.search import HitOut
from octavo.server.schemas.snapshots import (
    ChangedOut,
    ConflictOut,
    ExtractOut,
    FactCounts,
    FactOut,
    ReceiptOut,
    SnapshotFull,
    SnapshotOut,
    StandingOut,
    TallyOut,
)
from octavo.server.schemas.tasks import ReplyOut, ToolIn
from octavo.store.ids import made_at
from octavo.store.rows import time_text
from octavo.store.store import Store
from octavo.store.values import ApiKey, Conversation, Details, Hit, Job, PinPlace

PREVIEW = 120
"""Characters of a message that the tree shows."""
EMBEDDED = 32_000
"""The longest inline picture in a list, in characters: the same limit that the store uses for lists."""
SHOWN = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""Types that a browser may display; any other could contain a script."""


S = TypeVar("S", bound=Shape)


class Sourced(Protocol):
    """What came from a message."""

    @property
    def source(self) -> str: ...


def fill(schema: type[S], value: object, **others: object) -> S:
    """Fill a schema with what a value has under the same names, and with others."""
    same = {name: getattr(value, name) for name in schema.model_fields if name not in others}
    return schema(**same, **others)


def show_part(part: Part) -> PartOut:
    match part:
        case Text():
            return TextPart(type="text", text=part.text)
        case Reasoning():
            return ReasoningPart(type="reasoning", text=part.text)
        case ToolCall():
            return ToolCallPart(type="tool_call", id=part.id, name=part.name, input=part.input)
        case ToolResult():
            content = [show_piece(piece) for piece in part.content]
            return fill(ToolResultPartOut, part, type="tool_result", content=content)
        case _:
            return show_piece(part)


def show_piece(part: Text | Image | Attachment | Opaque) -> ResultContentOut:
    match part:
        case Text():
            return TextPart(type="text", text=part.text)
        case Image():
            return fill(ImagePart, part, type="image")
        case Attachment():
            return fill(AttachmentPart, part, type="attachment")
        case Opaque():
            return OtherPart(type="other", kind=part.kind)


def show_node(node: Node, *, whole: bool = False) -> NodeOut:
    """Show a message; large pictures are left out unless it is to be `whole`."""
    message = node.message
    parts = message.parts if whole else tuple(_without_picture(part) for part in message.parts)
    return fill(
        NodeOut,
        node,
        role=message.role,
        name=message.name,
        text=message.text,
        parts=[show_part(part) for part in parts],
        tokens=dict(node.counts),
    )


def _without_picture(part: Part) -> Part:
    large = isinstance(part, Image) and part.source.startswith("data:") and len(part.source) > EMBEDDED
    return replace(part, source="") if large and isinstance(part, Image) else part


def content_of(part: Part) -> tuple[bytes, str] | None:
    """Give the content and the media type of a part; None if it has no content of its own."""
    match part:
        case Text():
            return part.text.encode("utf-8", "replace"), "text/plain; charset=utf-8"
        case Image() if part.source.startswith("data:"):
            head, _, data = part.source.partition(",")
            return _decoded(data, base64=head.endswith(";base64")), _safe_type(head[5:].partition(";")[0])
        case _:
            return None


def _decoded(data: str, *, base64: bool) -> bytes:
    try:
        return b64decode(data) if base64 else unquote_to_bytes(data)
    except ValueError:
        return b""


def _safe_type(said: str) -> str:
    return said if said in SHOWN else "application/octet-stream"


def show_message(
    node: Node,
    details: Details,
    recalled: Passages = (),
    notes: AnswerNotes = NOTHING,
    *,
    whole: bool = False,
) -> MessageOut:
    passages = [show_passage(passage) for passage in recalled]
    told = {"recalled": passages, "left_out": list(notes.left_out), "cut": notes.cut}
    return fill(MessageOut, details, **dict(show_node(node, whole=whole)), **told)


def show_tree_node(node: Node) -> TreeNode:
    return fill(TreeNode, node, role=node.message.role, preview=node.message.text[:PREVIEW])


def read_message(content: str | list[PartIn], role: Role) -> Message:
    """Read a message that a client sends."""
    if isinstance(content, str):
        return Message(role=role, parts=(Text(text=content),))
    return Message(role=role, parts=tuple(_read_part(part) for part in content))


def _read_part(part: PartIn) -> Part:
    match part:
        case ToolCallPart():
            return ToolCall(id=part.id, name=part.name, input=part.input)
        case ToolResultPart():
            content = tuple(_read_piece(piece) for piece in part.content)
            return ToolResult(call_id=part.call_id, content=content, name=part.name, error=part.error)
        case _:
            return _read_piece(part)


def _read_piece(part: TextPart | ImagePart | AttachmentPart) -> Text | Image | Attachment:
    match part:
        case TextPart():
            return Text(text=part.text)
        case ImagePart():
            return Image(source=part.source, media_type=part.media_type, width=part.width, height=part.height)
        case AttachmentPart():
            return Attachment(name=part.name, media_type=part.media_type, size=part.size, source=part.source)


def read_tool(tool: ToolIn) -> Tool:
    return Tool(name=tool.name, description=tool.description, schema=to_json(tool.schema_).decode())


async def show_conversations(store: Store, found: Sequence[Conversation]) -> list[ConversationOut]:
    """Show conversations, each with its labels."""
    labels = await store.labels.of(*(one.id for one in found))
    return [show_conversation(one, labels[one.id]) for one in found]


def show_conversation(conversation: Conversation, labels: Sequence[str] = ()) -> ConversationOut:
    return fill(ConversationOut, conversation, labels=[*labels])


def show_reading(reading: Reading) -> ReadingOut:
    breakdown = [SectionOut(section=name, tokens=tokens) for name, tokens in reading.breakdown]
    return fill(ReadingOut, reading, breakdown=breakdown)


def show_budget(budget: Budget) -> BudgetOut:
    over = budget.overhead
    return fill(BudgetOut, budget, system=over.system, tools=over.tools, files=over.files, pins=over.pins)


def show_passage(passage: Passage) -> PassageOut:
    return fill(PassageOut, passage, whole=passage.opens and passage.closes)


def show_usage(usage: ContextUsage) -> UsageOut:
    return fill(
        UsageOut,
        usage,
        reading=show_reading(usage.reading),
        budget=show_budget(usage.budget),
        percent=round(usage.percent, 2),
    )


def show_plan(plan: CompressionPlan) -> PlanOut:
    return fill(
        PlanOut,
        plan,
        reading=show_reading(plan.reading),
        budget=show_budget(plan.budget),
        costs=plan.payback.cost if plan.payback else None,
        saves=plan.payback.saved if plan.payback else None,
        pays_after=plan.payback.requests if plan.payback else None,
        small=isinstance(plan.decision, Compress) and plan.decision.small,
    )


def show_repair(repair: Repair) -> RepairOut:
    return fill(RepairOut, repair)


def show_reply(reply: Reply) -> ReplyOut:
    return ReplyOut(
        finish=reply.finish,
        model=reply.model,
        input_tokens=reply.usage.input,
        output_tokens=reply.usage.output,
        cached_tokens=reply.usage.cached,
        reasoning_tokens=reply.usage.reasoning,
    )


def show_snapshot(snapshot: Snapshot) -> SnapshotOut:
    return fill(SnapshotOut, snapshot, facts=_fact_counts(snapshot.receipt))


def _fact_counts(receipt: str) -> FactCounts | None:
    try:
        paper = Receipt.from_json(receipt) if receipt else Receipt()
    except BadInput:
        # Imported from a file that says anything: the snapshot itself is fine.
        paper = Receipt()
    tallies = paper.tallies
    if not tallies and not paper.taken_out_count:
        return None
    return FactCounts(
        count=sum(tally.count for tally in tallies),
        verbatim=sum(tally.verbatim_count for tally in tallies),
        told=sum(tally.told_count for tally in tallies),
        lost=sum(tally.lost_count for tally in tallies),
        taken_out=paper.taken_out_count,
    )


def show_snapshot_full(snapshot: Snapshot) -> SnapshotFull:
    return fill(
        SnapshotFull,
        snapshot,
        facts=_fact_counts(snapshot.receipt),
        extracts=[fill(ExtractOut, extract, message=extract.source) for extract in snapshot.extracts],
        text=summary_text(snapshot),
        receipt=bool(snapshot.receipt),
    )


def show_receipt(receipt: Receipt, so_far: SavedSoFar | None) -> ReceiptOut:
    standing = receipt.standing
    return fill(
        ReceiptOut,
        receipt,
        saved=so_far.saved if so_far else None,
        turns=so_far.turns if so_far else 0,
        money=so_far.in_words if so_far else "",
        facts=[fill(TallyOut, tally, lost=_sourced(FactOut, tally.lost)) for tally in receipt.tallies],
        conflicts=_sourced(ConflictOut, receipt.conflicts),
        standing=fill(
            StandingOut,
            standing,
            kept=_sourced(FactOut, standing.kept),
            lost=_sourced(FactOut, standing.lost),
            changed=_sourced(ChangedOut, standing.changed),
        ),
    )


def _sourced(schema: type[S], values: Iterable[Sourced]) -> list[S]:
    """Show what came from messages: what is a source inside is a message outside."""
    return [fill(schema, value, message=value.source) for value in values]


def show_job(job: Job) -> JobOut:
    return fill(JobOut, job, created=time_text(made_at(job.id)))


def show_pin(pin: PinPlace, text: str) -> PinOut:
    return PinOut(message=pin.node, start=pin.start, stop=pin.stop, text=text[pin.start : pin.stop])


def show_hit(hit: Hit) -> HitOut:
    return fill(HitOut, hit, message=hit.node)


def show_card(card: ModelCard, given: JsonObject | None) -> CardOut:
    price = card.price
    return fill(
        CardOut,
        card,
        price=None if price is None else [price.input, price.output, price.cached],
        own=given is not None,
        given=dict(given or {}),
    )


def show_provider(found: Availability) -> ProviderOut:
    return fill(ProviderOut, found)


def show_key(key: ApiKey) -> KeyOut:
    return fill(KeyOut, key)
