"""Turns values of the engine into the schemas of the API, and messages of clients into values."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from dataclasses import replace
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
from octavo.engine.costs import SavedSoFar
from octavo.engine.outcome import CompressionPlan, ContextUsage
from octavo.errors import BadInput
from octavo.http.responses import to_json
from octavo.providers.availability import Availability
from octavo.server.schemas.base import Role
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


def show_part(part: Part) -> PartOut:
    match part:
        case Text():
            return TextPart(type="text", text=part.text)
        case Reasoning():
            return ReasoningPart(type="reasoning", text=part.text)
        case ToolCall():
            return ToolCallPart(type="tool_call", id=part.id, name=part.name, input=part.input)
        case ToolResult():
            return ToolResultPartOut(
                type="tool_result",
                call_id=part.call_id,
                content=[show_piece(piece) for piece in part.content],
                name=part.name,
                error=part.error,
            )
        case _:
            return show_piece(part)


def show_piece(part: Text | Image | Attachment | Opaque) -> ResultContentOut:
    match part:
        case Text():
            return TextPart(type="text", text=part.text)
        case Image():
            return ImagePart(
                type="image",
                source=part.source,
                media_type=part.media_type,
                width=part.width,
                height=part.height,
            )
        case Attachment():
            return AttachmentPart(
                type="attachment",
                name=part.name,
                media_type=part.media_type,
                size=part.size,
                source=part.source,
            )
        case Opaque():
            return OtherPart(type="other", kind=part.kind)


def show_node(node: Node, *, whole: bool = False) -> NodeOut:
    """Show a message; large pictures are left out unless it is to be `whole`."""
    message = node.message
    parts = message.parts if whole else tuple(_without_picture(part) for part in message.parts)
    return NodeOut(
        id=node.id,
        parent=node.parent,
        depth=node.depth,
        role=message.role,
        status=node.status,
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


def show_message(node: Node, details: Details, recalled: Passages = (), *, whole: bool = False) -> MessageOut:
    return MessageOut(
        **dict(show_node(node, whole=whole)),
        model=details.model,
        input_tokens=details.input_tokens,
        output_tokens=details.output_tokens,
        created=details.created,
        sibling=details.sibling,
        siblings=details.siblings,
        recalled=[show_passage(passage) for passage in recalled],
    )


def show_tree_node(node: Node) -> TreeNode:
    return TreeNode(
        id=node.id,
        parent=node.parent,
        depth=node.depth,
        role=node.message.role,
        status=node.status,
        preview=node.message.text[:PREVIEW],
    )


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
    return ConversationOut(
        id=conversation.id,
        title=conversation.title,
        tip=conversation.tip,
        messages=conversation.messages,
        created=conversation.created,
        updated=conversation.updated,
        archived=conversation.archived,
        labels=[*labels],
        deleted=conversation.deleted,
    )


def show_reading(reading: Reading) -> ReadingOut:
    return ReadingOut(
        tokens=reading.tokens,
        basis=reading.basis,
        error_bound=reading.error_bound,
        breakdown=[SectionOut(section=name, tokens=tokens) for name, tokens in reading.breakdown],
    )


def show_budget(budget: Budget) -> BudgetOut:
    return BudgetOut(
        window=budget.window,
        reply=budget.reply,
        margin=budget.margin,
        system=budget.overhead.system,
        tools=budget.overhead.tools,
        files=budget.overhead.files,
        pins=budget.overhead.pins,
        limit=budget.limit,
        available=budget.available,
        snapshot=budget.snapshot,
        retained=budget.retained,
        prepare=budget.prepare,
        soft=budget.soft,
        hard=budget.hard,
    )


def show_passage(passage: Passage) -> PassageOut:
    return PassageOut(
        source=passage.source,
        depth=passage.depth,
        text=passage.text,
        channel=passage.channel,
        speaker=passage.speaker,
        day=passage.day,
        whole=passage.opens and passage.closes,
    )


def show_usage(usage: ContextUsage) -> UsageOut:
    return UsageOut(
        reading=show_reading(usage.reading),
        budget=show_budget(usage.budget),
        model=usage.model,
        assumed=usage.assumed,
        percent=round(usage.percent, 2),
        left=usage.left,
        next_at=usage.next_at,
        next_in=usage.next_in,
        level=usage.level,
        recalled=usage.recalled,
        turns=usage.turns,
    )


def show_plan(plan: CompressionPlan) -> PlanOut:
    return PlanOut(
        reading=show_reading(plan.reading),
        budget=show_budget(plan.budget),
        messages=plan.messages,
        covered=plan.covered,
        retained=plan.retained,
        covered_tokens=plan.covered_tokens,
        retained_tokens=plan.retained_tokens,
        after_cap=plan.after_cap,
        reason=plan.reason,
        money=plan.money,
        costs=plan.payback.cost if plan.payback else None,
        saves=plan.payback.saved if plan.payback else None,
        pays_after=plan.payback.requests if plan.payback else None,
        small=isinstance(plan.decision, Compress) and plan.decision.small,
        writer=plan.writer,
        unwritten=plan.unwritten,
    )


def show_repair(repair: Repair) -> RepairOut:
    return RepairOut(fix=repair.fix, index=repair.index, detail=repair.detail)


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
    return SnapshotOut(
        id=snapshot.id,
        first=snapshot.first,
        cutoff=snapshot.cutoff,
        cutoff_depth=snapshot.cutoff_depth,
        anchor=snapshot.anchor,
        anchor_depth=snapshot.anchor_depth,
        kind=snapshot.kind,
        version=snapshot.version,
        state=snapshot.state,
        messages=snapshot.messages,
        tokens_before=snapshot.tokens_before,
        tokens_after=snapshot.tokens_after,
        model=snapshot.model,
        prompt=snapshot.prompt,
        instructions=snapshot.instructions,
        previous=snapshot.previous,
        created=snapshot.created,
        facts=_fact_counts(snapshot.receipt),
    )


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
    extracts = [
        ExtractOut(message=e.source, text=e.text, channel=e.channel, depth=e.depth, standing=e.standing)
        for e in snapshot.extracts
    ]
    return SnapshotFull(
        **dict(show_snapshot(snapshot)),
        summary=snapshot.summary,
        extracts=extracts,
        files=[*snapshot.files],
        text=summary_text(snapshot),
        receipt=bool(snapshot.receipt),
    )


def show_receipt(receipt: Receipt, so_far: SavedSoFar | None) -> ReceiptOut:
    return ReceiptOut(
        messages=receipt.messages,
        tokens_before=receipt.tokens_before,
        tokens_after=receipt.tokens_after,
        seconds=receipt.seconds,
        model=receipt.model,
        price=receipt.price,
        no_summary=receipt.no_summary,
        saved=so_far.saved if so_far else None,
        turns=so_far.turns if so_far else 0,
        money=so_far.in_words if so_far else "",
        taken_out=[*receipt.taken_out],
        taken_out_count=receipt.taken_out_count,
        summary_requests=receipt.summary_requests,
        summary_input=receipt.summary_input,
        summary_output=receipt.summary_output,
        facts=[
            TallyOut(
                kind=tally.kind,
                verbatim=[*tally.verbatim],
                told=[*tally.told],
                lost=[FactOut(text=fact.text, message=fact.source) for fact in tally.lost],
                verbatim_count=tally.verbatim_count,
                told_count=tally.told_count,
                lost_count=tally.lost_count,
            )
            for tally in receipt.tallies
        ],
        conflicts=[
            ConflictOut(key=c.key, kept=c.kept, newest=c.newest, message=c.source) for c in receipt.conflicts
        ],
        standing=StandingOut(
            kept=[FactOut(text=one.text, message=one.source) for one in receipt.standing.kept],
            lost=[FactOut(text=one.text, message=one.source) for one in receipt.standing.lost],
            changed=[
                ChangedOut(told=one.told, text=one.text, message=one.source)
                for one in receipt.standing.changed
            ],
            count=receipt.standing.count,
            kept_count=receipt.standing.kept_count,
            lost_count=receipt.standing.lost_count,
            replaced_count=receipt.standing.replaced_count,
        ),
    )


def show_job(job: Job) -> JobOut:
    return JobOut(
        id=job.id,
        status=job.status,
        trigger=job.trigger,
        attempt=job.attempt,
        progress=job.progress,
        error=job.error,
        snapshot=job.snapshot,
        created=time_text(made_at(job.id)),
    )


def show_pin(pin: PinPlace, text: str) -> PinOut:
    return PinOut(message=pin.node, start=pin.start, stop=pin.stop, text=text[pin.start : pin.stop])


def show_hit(hit: Hit) -> HitOut:
    return HitOut(
        conversation=hit.conversation,
        title=hit.title,
        message=hit.node,
        depth=hit.depth,
        role=hit.role,
        snippet=hit.snippet,
        marks=[*hit.marks],
    )


def show_card(card: ModelCard, given: JsonObject | None) -> CardOut:
    price = card.price
    return CardOut(
        name=card.name,
        provider=card.provider,
        window=card.window,
        max_output=card.max_output,
        tokenizer=card.tokenizer,
        vision=card.vision,
        price=None if price is None else [price.input, price.output, price.cached],
        cache_write=card.cache_write,
        cache_seconds=card.cache_seconds,
        price_step=card.price_step,
        summariser=card.summariser,
        soft=card.soft,
        retained=card.retained,
        assumed=card.assumed,
        own=given is not None,
        given=dict(given or {}),
    )


def show_provider(found: Availability) -> ProviderOut:
    return ProviderOut(
        provider=found.provider,
        title=found.title,
        ready=found.ready,
        example=found.example,
        detail=found.detail,
        remedy=found.remedy,
        models=[*found.models],
    )


def show_key(key: ApiKey) -> KeyOut:
    return KeyOut(
        id=key.id,
        name=key.name,
        owner=key.owner,
        prefix=key.prefix,
        scopes=[*key.scopes],
        created=key.created,
        used=key.used,
        revoked=key.revoked,
    )
