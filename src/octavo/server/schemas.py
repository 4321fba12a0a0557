"""The schemas of the API, as pydantic models: what clients send and what they get.

Requests are strict: an unknown field is refused, so that a misspelt one is noticed. The models that describe responses
also write them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, StringConstraints

from octavo.core.policy import PRESETS

MAX_TOKENS = 100_000_000
"""More than any window has; every database column can hold it."""
MAX_SIZE = 2**53 - 1
"""The largest whole number that every JSON parser reads exactly."""


def _no_switch(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("expected a number")
    return value


Number = BeforeValidator(_no_switch)
"""Refuses `true` and `false` where a number is expected."""
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
"""True or false; `1` and `"yes"` are refused."""
Address = Annotated[
    str,
    StringConstraints(
        max_length=2_000, pattern=r"^https?://[A-Za-z0-9.-]+(:[1-9][0-9]{0,4})?(/[A-Za-z0-9._~/-]*)?$"
    ),
]
Role = Literal["user", "assistant", "system", "tool"]


class Shape(BaseModel):
    """The base of all schemas."""

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
    """A part that only the provider's own format can express."""

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
    text: str = Field(description="The text of the message, without tool results and reasoning.")
    parts: list[PartOut]
    tokens: dict[str, int] = Field(description="Tokens by tokenizer, as far as they were counted.")


class MessageOut(NodeOut):
    """A message with everything that is stored about it."""

    model: str
    input_tokens: int | None
    output_tokens: int | None
    created: str
    sibling: int = Field(description="The number of this message among its siblings, from 1.")
    siblings: int


class MessagePage(Shape):
    messages: list[MessageOut] = Field(description="Oldest first.")
    before: str | None = Field(description="Pass it as `before` to get the previous page; null at the root.")


class MessageList(Shape):
    messages: list[MessageOut]
    more: bool = Field(description="Whether there are more messages in the requested direction.")


class MessageIn(Shape):
    content: Content
    role: Role = "user"
    parent: Id | None = Field(default=None, description="The message to add it below; without one, the tip.")
    edits: Id | None = Field(
        default=None, description="The message that this one is a new version of. It is stored beside it."
    )
    id: Id | None = Field(
        default=None, description="An id of your own, so that a repeated request stores the message once."
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
    complete: bool = Field(description="False if the tree has more nodes than the limit.")


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
        description="Whether it is in the bin. Only the list of deleted conversations shows it."
    )


class ConversationList(Shape):
    conversations: list[ConversationOut]
    more: bool


class SettingsIn(Shape):
    """Settings. Null removes a setting, so that the next level counts."""

    model: Annotated[str, StringConstraints(max_length=200)] | None = None
    policy: Literal["octavo", "onyx", "wave", "requirements", "gemini"] | None = None
    system: str | None = None
    auto: Switch | None = None
    prepare: Mark | None = None
    soft: Mark | None = None
    hard: Mark | None = None
    retained: Tokens | Share | None = None
    minimum: Tokens | None = None
    reply: Some | None = None
    prompt: Annotated[str, StringConstraints(max_length=20_000)] | None = None
    summariser: Annotated[str, StringConstraints(max_length=200)] | None = None
    instructions: Focus | None = None
    notifications: Switch | None = None


class SettingsOut(Shape):
    own: dict[str, Any] = Field(description="The settings that are set at this level.")
    effective: dict[str, Any] = Field(description="The settings that apply, from all levels.")
    inherited: dict[str, Any] = Field(
        description="The settings that would apply without this level, built-in values included."
    )


class ConversationIn(Shape):
    title: Title = ""
    settings: SettingsIn = SettingsIn()


class ConversationPatch(Shape):
    title: Title | None = None
    archived: Switch | None = None
    tip: Id | None = Field(default=None, description="The message whose branch is shown from now on.")


class CopyIn(Shape):
    title: Title | None = None
    message: Id | None = Field(
        default=None, description="Copy only the branch down to this message; without one, the whole tree."
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
        description="The message of the user. Without it, the model answers the tip, or `parent`.",
    )
    parent: Id | None = None
    edits: Id | None = Field(default=None, description="The message that `content` is a new version of.")
    regenerates: Id | None = Field(
        default=None, description="The answer to generate again. The new answer is stored beside it."
    )
    id: Id | None = Field(
        default=None,
        description="An id of your own for the turn and its answer. A repeated request continues the turn.",
    )
    tools: list[ToolIn] = Field(default_factory=list, max_length=500)
    temperature: Annotated[float, Field(ge=0, le=2), Number] | None = None
    stream: Switch = Field(
        default=True, description="True: respond with events. False: respond with the task at once."
    )


class CompressIn(Shape):
    focus: Focus = ""
    keep: Tokens | Share | None = Field(
        default=None, description="How much stays verbatim: tokens, or a share of the history; 0 is nothing."
    )
    up_to: Id | None = Field(default=None, description="The last message to cover.")
    stream: Switch = True


class RegenerateIn(Shape):
    focus: Focus = ""
    stream: Switch = True


class TaskOut(Shape):
    id: str
    kind: Literal["turn", "compression"]
    conversation: str
    status: Literal["running", "done", "failed", "cancelled"]
    events: int = Field(description="The id of the last event so far.")
    url: str = Field(description="The address of its events.")


class ReplyOut(Shape):
    """How an answer ended, and what the provider billed."""

    finish: Literal["stop", "length", "tool_calls", "refusal", "cancelled"]
    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int


class JobOut(Shape):
    """A compression, whichever replica runs it or has run it."""

    id: str
    status: Literal["running", "done", "failed", "cancelled"]
    trigger: str = Field(
        description="Why it was started: manual, soft (in the background) or hard (before sending)."
    )
    attempt: int = Field(description="How many workers have run it: 2 after one has died.")
    progress: str
    error: str
    snapshot: str | None
    created: str


class JobList(Shape):
    jobs: list[JobOut] = Field(description="The newest job is first.")


class TasksOut(Shape):
    tasks: list[TaskOut]


# Meter, plan, context


class SectionOut(Shape):
    section: str
    tokens: int


class ReadingOut(Shape):
    tokens: int
    basis: Literal["exact", "calibrated", "estimated"] = Field(
        description="exact: by the model's tokenizer; calibrated: corrected by bills; estimated: without a tokenizer."
    )
    error_bound: int = Field(
        description="How many more tokens it may be. The provider adds some, which its bills show."
    )
    breakdown: list[SectionOut] = Field(description="Tokens by section. They add up to `tokens`.")


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
    assumed: bool = Field(description="Whether the model is unknown, so that its window is assumed.")
    percent: float
    left: int
    next_at: int
    next_in: int
    level: Literal["calm", "soft", "hard"]


class CountOut(Shape):
    tokens: int = Field(description="The provider's own count.")
    expected: ReadingOut = Field(description="What our meter counted before.")
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
    small: bool = Field(
        description="Whether the conversation is smaller than the minimum, so that a warning is due."
    )


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
    notes: list[str] = Field(description="What had to be shortened or left out besides compressing.")
    fits: bool
    snapshot: str | None
    sent: list[str] = Field(description="Messages that are sent verbatim.")
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
        description="The snapshot in use on this branch; null if the originals are sent."
    )


class SnapshotFull(SnapshotOut):
    summary: str
    extracts: list[ExtractOut]
    files: list[str]
    text: str = Field(description="The text that the model sees.")
    receipt: bool = Field(
        description="Whether there is a receipt. A summary that was edited by hand has none."
    )


class SnapshotList(Shape):
    snapshots: list[SnapshotOut]
    serving: str | None = Field(description="The snapshot that serves the tip.")
    left_behind: SnapshotOut | None = Field(
        description="A snapshot of another branch that covers messages of this branch, but is not valid here."
    )


class SummaryIn(Shape):
    summary: Annotated[str, StringConstraints(min_length=1, max_length=1_000_000)]


class SummarySizeOut(Shape):
    tokens: int = Field(description="Tokens of the whole snapshot with this summary, extracts included.")
    room: int = Field(description="The most tokens that a snapshot may have.")


class DiffOut(Shape):
    diff: str


class RestoreIn(Shape):
    item: Annotated[str, StringConstraints(min_length=1, max_length=10_000)] = Field(
        description="The text of an item that the receipt lists as lost."
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
    model: str = Field(description="The model that wrote the summary; empty if there is none.")
    price: float | None = Field(
        description="What the summary cost in US dollars; null if there is no summary, or no price."
    )
    no_summary: str = Field(
        description="Why there is no summary; empty if there is one, and in receipts of old versions."
    )
    facts: list[TallyOut]
    conflicts: list[ConflictOut]


# Pins, search


class PinIn(Shape):
    message: Id
    selection: str = Field(
        default="", description="The part of the text to pin; empty for the whole message."
    )


class PinOut(Shape):
    message: str
    start: int = Field(
        description="Counted in Unicode code points. Start and end are 0 for the whole message."
    )
    stop: int
    text: str = Field(description="The pinned text; empty for the whole message.")


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
        description="The positions of the words in the snippet, in Unicode code points."
    )


class HitList(Shape):
    hits: list[HitOut]


# Models, keys, the server itself


class CardIn(Shape):
    like: Name | None = Field(default=None, description="The model whose card provides all other fields.")
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
    ) = Field(default=None, description="US dollars per million tokens: input, output, and cached input.")
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
        description="The soft mark of the default policy for this model; null for the usual one."
    )
    retained: int | None = Field(
        description="Tokens that the default policy keeps verbatim for this model; null for the usual share."
    )
    assumed: bool
    own: bool = Field(description="Whether a user defined this card. The others come with Octavo.")
    given: dict[str, Any] = Field(description="The fields that a user defined.")


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
    default: str = Field(description="The model of conversations that set none; may be empty.")
    usual: str = Field(description="A model that can be used now, as a suggestion; may be empty.")


class UpstreamIn(Shape):
    base_url: Address
    account: Literal["", "openai", "anthropic", "google", "azure"] = Field(
        default="",
        description="The provider whose key of the server is sent there; without one, the client's own key is.",
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
        default="", description="The owner of the conversations. Keys of one owner share them."
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
    secret: str = Field(description="The key itself. It is never shown again.")


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
    read_only: bool = Field(description="Whether the database is open for reading only.")


assert set(PRESETS) == {"octavo", "onyx", "wave", "requirements", "gemini"}, (
    "SettingsIn.policy lists the presets"
)
