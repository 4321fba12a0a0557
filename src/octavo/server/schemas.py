"""What goes over the wire of the API, as pydantic models: the only place that has any.

What comes in is strict: an unknown field is refused, so that a misspelt one is noticed. What goes out is described by
the same models that write it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, StringConstraints, create_model

from octavo.engine.settings import MAX_TOKENS, SETTINGS, Setting

MAX_SIZE = 2**53 - 1
"""The largest whole number that every reader of JSON keeps."""


def _no_switch(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("expected a number")
    return value


Number = BeforeValidator(_no_switch)
"""`true` is no 1."""
Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Title = Annotated[str, StringConstraints(max_length=500)]
Focus = Annotated[str, StringConstraints(max_length=10_000)]
Tokens = Annotated[int, Field(ge=0, le=MAX_TOKENS), Number]
Some = Annotated[int, Field(ge=1, le=MAX_TOKENS), Number]
Size = Annotated[int, Field(ge=0, le=MAX_SIZE), Number]
Share = Annotated[float, Field(gt=0, lt=1), Number]
Mark = Annotated[float, Field(gt=0, le=1, description="A share; 1 turns the mark off."), Number]
Switch = Annotated[bool, Strict()]
"""True or false: `1` and `"yes"` are neither."""
Address = Annotated[
    str,
    StringConstraints(
        max_length=2_000, pattern=r"^https?://[A-Za-z0-9.-]+(:[1-9][0-9]{0,4})?(/[A-Za-z0-9._~/-]*)?$"
    ),
]
Role = Literal["user", "assistant", "system", "tool"]


class Shape(BaseModel):
    """Anything on the wire."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())


class ErrorDetail(Shape):
    """What happened and what to do."""

    type: str
    message: str
    numbers: dict[str, int]
    hint: str
    request_id: str


class ErrorOut(Shape):
    """Every error."""

    error: ErrorDetail


# Messages


class TextPart(Shape):
    type: Literal["text"]
    text: str


class ImagePart(Shape):
    type: Literal["image"]
    source: str
    media_type: str = ""
    width: Size = 0
    height: Size = 0


class AttachmentPart(Shape):
    type: Literal["attachment"]
    name: str
    media_type: str = ""
    size: Size = 0
    source: str = ""


class ToolCallPart(Shape):
    type: Literal["tool_call"]
    id: str
    name: str
    input: str = Field(description="The arguments as JSON text, exactly as the model wrote them.")


class OtherPart(Shape):
    """A part only the format that wrote it understands."""

    type: Literal["other"]
    kind: str


class ReasoningPart(Shape):
    type: Literal["reasoning"]
    text: str


ResultContent = Annotated[TextPart | ImagePart | AttachmentPart, Field(discriminator="type")]
ResultContentOut = Annotated[TextPart | ImagePart | AttachmentPart | OtherPart, Field(discriminator="type")]


class ToolResultPart(Shape):
    type: Literal["tool_result"]
    call_id: str
    content: list[ResultContent]
    name: str = ""
    error: Switch = False


class ToolResultPartOut(Shape):
    type: Literal["tool_result"]
    call_id: str
    content: list[ResultContentOut]
    name: str
    error: bool


PartIn = Annotated[
    TextPart | ImagePart | AttachmentPart | ToolCallPart | ToolResultPart, Field(discriminator="type")
]
PartOut = Annotated[
    TextPart | ReasoningPart | ImagePart | AttachmentPart | ToolCallPart | ToolResultPartOut | OtherPart,
    Field(discriminator="type"),
]
Content = Annotated[str, StringConstraints(min_length=1)] | Annotated[list[PartIn], Field(min_length=1)]


class NodeOut(Shape):
    """A message and its place in the tree."""

    id: str
    parent: str | None
    depth: int
    role: Role
    status: str
    name: str
    text: str = Field(description="The words of the message itself, without tool results and reasoning.")
    parts: list[PartOut]
    tokens: dict[str, int] = Field(description="Tokens by unit of counting, as far as they were counted.")


class MessageOut(NodeOut):
    """A message with all that is known about it."""

    model: str
    input_tokens: int | None
    output_tokens: int | None
    created: str
    sibling: int = Field(description="Its number among its siblings, from 1.")
    siblings: int


class MessagePage(Shape):
    messages: list[MessageOut] = Field(description="Oldest first.")
    before: str | None = Field(description="Ask for the page before this one with it; null at the root.")


class MessageList(Shape):
    messages: list[MessageOut]
    more: bool = Field(description="Whether there are more of them in the direction that was asked for.")


class MessageIn(Shape):
    content: Content
    role: Role = "user"
    parent: Id | None = Field(default=None, description="Where it goes; without, below the tip.")
    edits: Id | None = Field(
        default=None, description="The message it is another version of, beside which it goes."
    )
    id: Id | None = Field(
        default=None, description="Your own id, so that a repeated request stores the message once."
    )


class TreeNode(Shape):
    id: str
    parent: str | None
    depth: int
    role: Role
    status: str
    preview: str


class TreeOut(Shape):
    nodes: list[TreeNode] = Field(description="Parents before children.")
    complete: bool = Field(description="False when the tree has more nodes than were asked for.")


class FileOut(Shape):
    message: str
    depth: int
    name: str
    media_type: str
    size: int


class FileList(Shape):
    files: list[FileOut]


# Conversations


class ConversationOut(Shape):
    id: str
    title: str
    tip: str | None
    messages: int
    created: str
    updated: str
    archived: bool
    deleted: bool = Field(
        description="Whether it waits to be deleted: it is in no list but that of the deleted."
    )


class ConversationList(Shape):
    conversations: list[ConversationOut]
    more: bool


def _setting_type(setting: Setting) -> Any:
    """Say what a setting may be on the wire."""
    match setting.kind:
        case "switch":
            return Switch
        case "mark":
            return Mark
        case "tokens":
            return Some if setting.least else Tokens
        case "amount":
            return Tokens | Share
        case "choice":
            return Literal[setting.choices]
        case _:
            return Annotated[str, StringConstraints(max_length=setting.longest)] if setting.longest else str


def _setting_field(setting: Setting) -> tuple[Any, Any]:
    return _setting_type(setting) | None, Field(default=None, description=setting.meaning)


if TYPE_CHECKING:

    class SettingsIn(Shape): ...

else:
    SettingsIn = create_model(
        "SettingsIn",
        __base__=Shape,
        __doc__="Settings; null removes one, so that the next level holds.",
        **{name: _setting_field(setting) for name, setting in SETTINGS.items()},
    )


class SettingsOut(Shape):
    own: dict[str, Any] = Field(description="What is set at this level.")
    effective: dict[str, Any] = Field(description="What holds, from all levels.")
    inherited: dict[str, Any] = Field(
        description="What would hold without what is set at this level; built-in values included."
    )


class ConversationIn(Shape):
    title: Title = ""
    settings: SettingsIn = SettingsIn()


class ConversationPatch(Shape):
    title: Title | None = None
    archived: Switch | None = None
    tip: Id | None = Field(default=None, description="Show the branch through this message.")


class CopyIn(Shape):
    title: Title | None = None
    message: Id | None = Field(
        default=None, description="Copy the branch to this message only; without, the whole tree."
    )


class ImportedOut(Shape):
    conversations: list[ConversationOut]


# Turns and compressions


class ToolIn(Shape):
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    description: str = ""
    schema_: dict[str, Any] = Field(
        default_factory=lambda: {"type": "object", "properties": {}},
        alias="schema",
        description="The JSON Schema of the input.",
    )


class TurnIn(Shape):
    content: Content | None = Field(
        default=None,
        description="What the user says; without it, the model goes on from the tip, or from `parent`.",
    )
    parent: Id | None = None
    edits: Id | None = Field(default=None, description="The message that `content` is another version of.")
    regenerates: Id | None = Field(default=None, description="The answer beside which another one is wanted.")
    id: Id | None = Field(
        default=None,
        description="Your own id of the turn, under which the answer is stored: a repeated request goes on with it.",
    )
    tools: list[ToolIn] = Field(default_factory=list, max_length=500)
    temperature: Annotated[float, Field(ge=0, le=2), Number] | None = None
    stream: Switch = Field(
        default=True, description="Answer with events; otherwise with the task's id at once."
    )


class CompressIn(Shape):
    focus: Focus = ""
    keep: Tokens | Share | None = Field(
        default=None, description="Tokens, or a share, to keep verbatim; 0: nothing."
    )
    up_to: Id | None = Field(default=None, description="Cover everything up to this message.")
    stream: Switch = True


class RegenerateIn(Shape):
    focus: Focus = ""
    stream: Switch = True


class TaskOut(Shape):
    id: str
    kind: Literal["turn", "compression"]
    conversation: str
    status: Literal["running", "done", "failed", "cancelled"]
    events: int = Field(description="The id of its last event so far.")
    url: str = Field(description="Where its events are.")


class ReplyOut(Shape):
    """How an answer ended and what was billed."""

    finish: Literal["stop", "length", "tool_calls", "refusal", "cancelled"]
    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int


class JobOut(Shape):
    """A compression that some replica works on, or has worked on."""

    id: str
    status: Literal["running", "done", "failed", "cancelled"]
    trigger: str = Field(
        description="Why it was begun: manual, soft (in the background) or hard (before sending)."
    )
    attempt: int = Field(description="How many workers have had it: 2 after one died.")
    progress: str
    error: str
    snapshot: str | None
    created: str


class JobList(Shape):
    jobs: list[JobOut] = Field(description="The newest first.")


class TasksOut(Shape):
    tasks: list[TaskOut]


# Meter, plan, context


class SectionOut(Shape):
    section: str
    tokens: int


class ReadingOut(Shape):
    tokens: int
    basis: Literal["exact", "calibrated", "estimated"] = Field(
        description="The model's own tokenizer; corrected by bills; or a guess."
    )
    error_bound: int = Field(
        description="How many more it may be: what the provider adds shows with its bills."
    )
    breakdown: list[SectionOut] = Field(description="Tokens by section; they add up to `tokens`.")


class BudgetOut(Shape):
    window: int
    reply: int
    margin: int
    system: int
    tools: int
    files: int
    pins: int
    limit: int
    available: int
    snapshot: int
    retained: int
    prepare: int | None
    soft: int | None
    hard: int


class UsageOut(Shape):
    reading: ReadingOut
    budget: BudgetOut
    model: str
    assumed: bool = Field(description="The model is unknown and its window assumed.")
    percent: float
    left: int
    next_at: int
    next_in: int
    level: Literal["calm", "soft", "hard"]


class CountOut(Shape):
    tokens: int = Field(description="By the provider's own count.")
    expected: ReadingOut = Field(description="What the meter said before.")
    model: str


class PlanOut(Shape):
    reading: ReadingOut
    budget: BudgetOut
    messages: int
    covered: int
    retained: int
    covered_tokens: int
    retained_tokens: int
    after_cap: int
    reason: str
    small: bool = Field(description="The conversation is below the minimum: warn.")


class RepairOut(Shape):
    fix: str
    index: int
    detail: str


class ContextOut(Shape):
    """What is sent, in the wire format of the model's provider."""

    format: Literal["openai", "anthropic", "gemini"]
    messages: list[dict[str, Any]]
    system: Any
    tools: list[dict[str, Any]]
    usage: UsageOut
    repairs: list[RepairOut]
    notes: list[str] = Field(description="What had to be cut beyond compressing.")
    fits: bool
    snapshot: str | None
    sent: list[str] = Field(description="Messages sent verbatim.")
    pinned: list[str]


class ContextIn(Shape):
    tip: Id | None = None
    tools: list[ToolIn] = Field(default_factory=list, max_length=500)


# Snapshots


class ExtractOut(Shape):
    message: str
    text: str
    channel: str
    depth: int


class SnapshotOut(Shape):
    id: str
    first: str
    cutoff: str
    cutoff_depth: int
    anchor: str
    anchor_depth: int
    kind: Literal["auto", "manual", "edited", "regenerated"]
    version: int
    state: Literal["active", "undone", "retired"]
    messages: int
    tokens_before: int
    tokens_after: int
    model: str
    prompt: str
    instructions: str
    previous: str | None
    created: str


class SnapshotMoved(SnapshotOut):
    in_use: SnapshotOut | None = Field(
        description="The snapshot in use on this branch now; null: the originals are sent."
    )


class SnapshotFull(SnapshotOut):
    summary: str
    extracts: list[ExtractOut]
    files: list[str]
    text: str = Field(description="What the model is shown.")
    receipt: bool = Field(description="Whether there is a receipt: a summary edited by hand has none.")


class SnapshotList(Shape):
    snapshots: list[SnapshotOut]
    serving: str | None = Field(description="The one that serves the tip.")
    left_behind: SnapshotOut | None = Field(
        description="A compression of another branch that covers messages of this one and is not true here."
    )


class SummaryIn(Shape):
    summary: Annotated[str, StringConstraints(min_length=1, max_length=1_000_000)]


class SummarySizeOut(Shape):
    tokens: int = Field(description="What the whole snapshot would have, its exact lines included.")
    room: int = Field(description="The most it may have.")


class DiffOut(Shape):
    diff: str


class RestoreIn(Shape):
    item: Annotated[str, StringConstraints(min_length=1, max_length=10_000)] = Field(
        description="The text of something the receipt lists as lost: what the model no longer sees."
    )


class FactOut(Shape):
    text: str
    message: str


class TallyOut(Shape):
    kind: str
    verbatim: list[str]
    told: list[str]
    lost: list[FactOut]
    verbatim_count: int
    told_count: int
    lost_count: int


class ConflictOut(Shape):
    key: str
    kept: str
    newest: str
    message: str


class ReceiptOut(Shape):
    messages: int
    tokens_before: int
    tokens_after: int
    seconds: float
    model: str = Field(description="Who wrote the summary; empty when nobody did.")
    price: float | None = Field(
        description="US dollars that the summary cost; null when there is none, or nobody knows."
    )
    no_summary: str = Field(
        description="Why no summary was written; empty when one was, or for old receipts."
    )
    facts: list[TallyOut]
    conflicts: list[ConflictOut]


# Pins, search


class PinIn(Shape):
    message: Id
    selection: str = Field(
        default="", description="A part of the message's text; without it, the whole message."
    )


class PinOut(Shape):
    message: str
    start: int = Field(description="Counted in Unicode code points; 0 and 0 for the whole message.")
    stop: int
    text: str = Field(description="The selection; empty for the whole message.")


class PinList(Shape):
    pins: list[PinOut]


class HitOut(Shape):
    conversation: str
    title: str
    message: str
    depth: int
    role: Role
    snippet: str
    marks: list[tuple[int, int]] = Field(
        description="Where the words are in the snippet, counted in Unicode code points."
    )


class HitList(Shape):
    hits: list[HitOut]


# Models, keys, the server itself


class CardIn(Shape):
    like: Name | None = Field(default=None, description="The model whose card it starts from.")
    provider: Annotated[str, StringConstraints(max_length=200)] | None = None
    window: Some | None = None
    max_output: Some | None = None
    tokenizer: Annotated[str, StringConstraints(max_length=200)] | None = None
    frame: Annotated[str, StringConstraints(max_length=200)] | None = None
    image_rule: Annotated[str, StringConstraints(max_length=200)] | None = None
    vision: Switch | None = None
    price: (
        Annotated[list[Annotated[float, Field(ge=0, le=1e9), Number]], Field(min_length=2, max_length=3)]
        | None
    ) = Field(default=None, description="Dollars per million tokens: input, output, and cached input.")
    summariser: Annotated[str, StringConstraints(max_length=200)] | None = None
    soft: Mark | None = None
    retained: Tokens | None = None


class CardOut(Shape):
    name: str
    provider: str
    window: int
    max_output: int
    tokenizer: str
    vision: bool
    price: list[float | None] | None
    summariser: str
    soft: float | None = Field(
        description="Where the default policy compresses between turns; null: where it always does."
    )
    retained: int | None = Field(
        description="Tokens that it keeps word for word then; null: as it always does."
    )
    assumed: bool
    own: bool = Field(description="Defined here, and not by the table that comes with Octavo.")
    given: dict[str, Any] = Field(description="The fields as they were defined here.")


class ProviderOut(Shape):
    provider: str
    title: str
    ready: bool
    example: str
    detail: str
    remedy: str
    models: list[str]


class ModelsOut(Shape):
    models: list[CardOut]
    providers: list[ProviderOut]
    default: str = Field(description="The model of a conversation that has none of its own; may be empty.")
    usual: str = Field(
        description="A model that can be used now, for somebody who did not choose; may be empty."
    )


class UpstreamIn(Shape):
    base_url: Address
    account: Literal["", "openai", "anthropic", "google", "azure"] = Field(
        default="", description="Whose key of the server is sent there; without, the client's own."
    )


class UpstreamOut(Shape):
    model: str
    base_url: str
    account: str


class UpstreamList(Shape):
    upstreams: list[UpstreamOut]


class KeyIn(Shape):
    name: Name
    owner: Annotated[str, StringConstraints(max_length=200)] = Field(
        default="", description="Whose conversations it opens; keys of one owner share them."
    )
    scopes: Annotated[list[Literal["read", "write", "admin"]], Field(min_length=1, max_length=3)] = [
        "read",
        "write",
    ]


class KeyOut(Shape):
    id: str
    name: str
    owner: str
    prefix: str
    scopes: list[str]
    created: str
    used: str | None
    revoked: bool


class KeyMade(KeyOut):
    secret: str = Field(description="Shown here and never again.")


class KeyList(Shape):
    keys: list[KeyOut]


class CallerOut(Shape):
    owner: str
    scopes: list[str]
    key_required: bool


class HealthOut(Shape):
    status: Literal["ok"]
    version: str


class ReadyOut(Shape):
    status: Literal["ready"]
    database: str
    read_only: bool = Field(
        description="Whether what is stored is only shown: nothing can be said or changed."
    )
