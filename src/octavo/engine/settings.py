"""All settings in one table, and how their levels are resolved.

Validation, `octavo settings`, the HTTP schema, the page's form and the documentation are derived from `SETTINGS`. The
nearest level wins: the conversation, then its model, then everywhere, then the engine's own values, then the policy's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from octavo.core.ask.template import FORMS
from octavo.core.budget import OFF, threshold
from octavo.core.message_json import Json
from octavo.core.policy import (
    PRESETS,
    KeepNothing,
    KeepShare,
    KeepTokens,
    Policy,
    adjust,
    budget_for,
    preset,
)
from octavo.engine.spending import MOST_REQUESTS, MOST_SHARE
from octavo.errors import BadInput
from octavo.store.values import Everywhere, ForConversation, ForModel, Scope

if TYPE_CHECKING:
    from octavo.engine.models import Models
    from octavo.meters.meter import Meter
    from octavo.store.store import Store

Kind = Literal[
    "text", "model", "choice", "prompt", "switch", "mark", "number", "tokens", "amount", "auto_tokens"
]
"""What a value is: an `amount` is a number of tokens, or a share below 1; a `mark` is a share up to 1, which is off;
`auto_tokens` is a number of tokens, `auto` or `off`."""
Level = Literal["everywhere", "model", "conversation"]
Group = Literal["Compression", "Summaries", "Answers"]

MODEL_FREE = "none"
"""The value of the setting `summariser` that asks no model."""
SAME = "same"
"""The value that asks the chat model itself."""
MAX_NAME = 200
MAX_INSTRUCTIONS = 10_000
MAX_PROMPT = 20_000
MAX_TOKENS = 100_000_000
"""No window is larger, and every database column holds it."""
UNKNOWN_MODEL = "gpt-4o"
"""Settings are checked against this model's card while no model is chosen."""
REMEMBERED = 10_000
"""Conversations of which the model is remembered: about a megabyte."""
_SWITCH = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting."""

    name: str
    kind: Kind
    group: Group
    label: str
    """What the page calls it."""
    meaning: str
    choices: tuple[str, ...] = ()
    """The values it may have, or those that are offered."""
    least: int = 0
    """The smallest whole number."""
    longest: int | None = None
    """The most characters of a text."""
    in_policy: bool = False
    """Whether every policy has a value for it."""
    default: Json = None
    """What holds where nothing is set; None: what the policy says, or nothing."""
    levels: tuple[Level, ...] = ("everywhere", "model", "conversation")
    advanced: bool = False
    """Whether hardly anybody needs it: the page shows it when asked."""

    def check(self, value: Json) -> None:
        """Refuse a value of the wrong type; None removes a setting and is always right."""
        if value is None:
            return
        number = isinstance(value, int | float) and not isinstance(value, bool)
        match self.kind:
            case "switch":
                right, expected = isinstance(value, bool), "true or false"
            case "mark":
                right, expected = number, "a number"
            case "number" | "tokens":
                whole = "a whole number" + (" of tokens" if self.kind == "tokens" else "")
                right, expected = number and isinstance(value, int), whole
            case "amount":
                right, expected = number, "a number of tokens or a share below 1"
            case "auto_tokens":
                right = (number and isinstance(value, int)) or value in self.choices
                expected = f"{' or '.join(self.choices)} or a number of tokens"
            case _:
                right, expected = isinstance(value, str), "text"
        if not right:
            raise BadInput(self.name, f"expected {expected}, got {value!r}")
        if self.name == "summary_share":
            threshold(value, self.name)
        if isinstance(value, int) and value < self.least:
            raise BadInput(self.name, f"expected {self.least} or more, got {value}")

    def parse(self, text: str) -> Json:
        """Read a value that was typed: `off`, `0.7`, `2000`, or text."""
        if self.kind == "switch":
            if text.lower() not in _SWITCH:
                raise BadInput(self.name, f"expected on or off, got {text!r}")
            return _SWITCH[text.lower()]
        if self.kind not in ("mark", "number", "tokens", "amount", "auto_tokens") or text in self.choices:
            return text
        try:
            return float(text) if self.kind == "mark" or "." in text else int(text)
        except ValueError:
            raise BadInput(self.name, f"expected a number, got {text!r}") from None


_TABLE = (
    Setting(
        name="model",
        kind="model",
        group="Answers",
        label="Model",
        meaning="The model that answers.",
        longest=MAX_NAME,
        levels=("everywhere", "conversation"),
    ),
    Setting(
        name="policy",
        kind="choice",
        group="Compression",
        label="Way of compressing",
        meaning="When to compress and how much stays; the settings below change parts of it.",
        choices=tuple(PRESETS),
        advanced=True,
    ),
    Setting(
        name="system",
        kind="text",
        group="Answers",
        label="System prompt",
        meaning="Sent before everything else.",
    ),
    Setting(
        name="auto",
        kind="switch",
        group="Compression",
        label="Compress automatically",
        meaning="Off: compressed only when a request would not fit.",
        in_policy=True,
    ),
    Setting(
        name="prepare",
        kind="mark",
        group="Compression",
        label="Prepare from",
        meaning="Share of the room at which a compression starts in the background; 1: never.",
        in_policy=True,
        advanced=True,
    ),
    Setting(
        name="soft",
        kind="mark",
        group="Compression",
        label="Compress from",
        meaning="Share of the room at which the conversation is compressed between turns; 1: never.",
        in_policy=True,
    ),
    Setting(
        name="hard",
        kind="mark",
        group="Compression",
        label="Never more than",
        meaning="Share of the room that no request exceeds; 1: only what cannot be sent is compressed first.",
        in_policy=True,
        advanced=True,
    ),
    Setting(
        name="retained",
        kind="amount",
        group="Compression",
        label="Kept word for word",
        meaning="How much of the newest messages stays as it is: tokens, or a share of the history below 1.",
        in_policy=True,
    ),
    Setting(
        name="minimum",
        kind="tokens",
        group="Compression",
        label="Leave alone below",
        meaning="Histories with fewer tokens are not compressed automatically.",
        in_policy=True,
        advanced=True,
    ),
    Setting(
        name="recall",
        kind="auto_tokens",
        group="Compression",
        label="Bring back what is asked for",
        meaning="Bring back what a question asks for from compressed messages: `auto`, `off`, or a number of tokens.",
        choices=("auto", "off"),
        in_policy=True,
    ),
    Setting(
        name="recall_tool",
        kind="switch",
        group="Compression",
        label="Let the model search",
        meaning="Offer the model a tool that searches compressed messages; its answer then arrives all at once.",
        default=False,
        advanced=True,
    ),
    Setting(
        name="reply",
        kind="tokens",
        group="Answers",
        label="Kept free for the reply",
        meaning="Tokens reserved for the answer; not set: as much as the model can write.",
        least=1,
    ),
    Setting(
        name="titles",
        kind="switch",
        group="Answers",
        label="Title by the model",
        meaning="Have the summariser, or else the model, write a short title after the first answer; "
        "off: the first words stay.",
        in_policy=True,
    ),
    Setting(
        name="alias",
        kind="model",
        group="Answers",
        label="Answered by",
        meaning="The model that answers in the gateway when this one is asked for.",
        longest=MAX_NAME,
        levels=("model",),
        advanced=True,
    ),
    Setting(
        name="prompt",
        kind="prompt",
        group="Summaries",
        label="Form of the summary",
        meaning="What the summariser is asked for: one of Octavo's prompts, or a text of your own.",
        choices=FORMS,
        longest=MAX_PROMPT,
        in_policy=True,
    ),
    Setting(
        name="summariser",
        kind="model",
        group="Summaries",
        label="Who writes",
        meaning="Who writes summaries: a model, `same` for the one that answers, `none` for exact lines only; "
        "not set: the provider's cheap model.",
        longest=MAX_NAME,
    ),
    Setting(
        name="summary_requests",
        kind="number",
        group="Summaries",
        label="Requests for a summary",
        meaning="How often a model is asked for one summary at most; then exact lines are used instead.",
        least=1,
        default=MOST_REQUESTS,
        advanced=True,
    ),
    Setting(
        name="summary_share",
        kind="mark",
        group="Summaries",
        label="Most spent on summaries",
        meaning="Share of the tokens of a conversation's requests that its summaries may take together; "
        "then exact lines are used instead.",
        default=MOST_SHARE,
        advanced=True,
    ),
    Setting(
        name="instructions",
        kind="text",
        group="Summaries",
        label="Always keep",
        meaning="What every summary must keep.",
        longest=MAX_INSTRUCTIONS,
    ),
    Setting(
        name="notifications",
        kind="switch",
        group="Summaries",
        label="Say when it was compressed",
        meaning="Show a short message when a conversation was compressed automatically.",
        default=True,
    ),
)
SETTINGS: Mapping[str, Setting] = MappingProxyType({setting.name: setting for setting in _TABLE})
"""By name, in the order they are listed."""


def find_setting(name: str) -> Setting:
    """Look a setting up by name."""
    if name not in SETTINGS:
        raise BadInput(name, f"unknown setting; one of {', '.join(SETTINGS)}")
    return SETTINGS[name]


def check_setting(name: str, value: Json) -> None:
    """Refuse a setting that does not exist, or a value of the wrong type."""
    find_setting(name).check(value)


def policy_of(settings: Mapping[str, Json], meter: Meter) -> Policy:
    """Give the policy that holds: a preset, the model's preferences, the user's settings."""
    name = settings.get("policy", "octavo")
    if not isinstance(name, str):
        raise BadInput("policy", f"expected the name of a policy, got {name!r}")
    chosen = {
        setting.name: settings[setting.name]
        for setting in _TABLE
        if setting.in_policy and settings.get(setting.name) is not None
    }
    return adjust(preset(name), meter.card, chosen)


def built_in(policy: Policy) -> dict[str, Json]:
    """Give what holds where nothing is set: the values of a policy, and the defaults."""
    match policy.retain:
        case KeepShare(share):
            kept: Json = share
        case KeepTokens(tokens):
            kept = tokens
        case KeepNothing():
            kept = 0
    values: dict[str, Json] = {
        "auto": policy.auto,
        "prepare": policy.marks.prepare or OFF,
        "soft": policy.marks.soft or OFF,
        "hard": policy.marks.hard or OFF,
        "retained": kept,
        "minimum": policy.minimum,
        "prompt": policy.prompt,
        "recall": policy.recall,
        "titles": policy.titles,
    }
    return values | {setting.name: setting.default for setting in _TABLE if setting.default is not None}


def whole(value: Json) -> int | None:
    """Read a setting that is a number of tokens."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


_AT: Mapping[Level, str] = MappingProxyType(
    {"everywhere": "everywhere", "model": "for a model", "conversation": "for a conversation"}
)


def _level(scope: Scope) -> Level:
    match scope:
        case Everywhere():
            return "everywhere"
        case ForModel():
            return "model"
        case ForConversation():
            return "conversation"


class SettingLevels:
    """Reads and changes settings at their levels."""

    def __init__(self, store: Store, models: Models, defaults: Mapping[str, Json]) -> None:
        """`defaults` are the engine's own values: they hold where no level says anything."""
        self._store, self._models, self._defaults = store, models, dict(defaults)
        self._guesses: dict[str | None, str] = {}

    async def of(self, conversation: str | None = None) -> dict[str, Json]:
        """Resolve the settings of a conversation, or those of a new one.

        The cards that people defined are read with them, so that one defined anywhere holds from the next turn on.
        """
        # One statement, since the model is nearly always the one it was before.
        guess = self._guesses.get(conversation) or str(self._defaults["model"] or "")
        scopes: list[Scope] = [Everywhere(), ForModel(guess)]
        if conversation is not None:
            scopes.append(ForConversation(conversation))
        cards, (everywhere, of_model, *own) = await self._store.settings.with_note(
            self._models.CARDS, *scopes
        )
        self._models.take(cards)
        here = own[0] if own else {}
        model = self._model(everywhere, here)
        if model != guess:
            self._remember(conversation, model)
            of_model = await self._store.settings.of_scope(ForModel(model)) if model else {}
        return self._resolve(everywhere, of_model, here)

    async def of_many(self, conversations: Sequence[str]) -> list[dict[str, Json]]:
        """Resolve the settings of several conversations in as many statements as one takes."""
        scopes = [ForConversation(id) for id in conversations]
        everywhere, *own = await self._store.settings.of_scopes(Everywhere(), *scopes)
        models = [ForModel(self._model(everywhere, here)) for here in own]
        of_models = await self._store.settings.of_scopes(*models)
        return [
            self._resolve(everywhere, of_model, here) for of_model, here in zip(of_models, own, strict=True)
        ]

    async def at(self, scope: Scope) -> dict[str, Json]:
        """Give what holds at a level: for everything, for a model, or in a conversation."""
        if isinstance(scope, ForModel):
            of_model = await self._store.settings.of_scope(scope)
            return {**await self.of(), **of_model, "model": scope.model}
        return await self.of(scope.id if isinstance(scope, ForConversation) else None)

    async def inherited(self, scope: Scope) -> dict[str, Json]:
        """Give what would hold at a level without what is set there."""
        everywhere, own = await self._store.settings.of_scopes(Everywhere(), scope)
        below = {**self._defaults} if isinstance(scope, Everywhere) else {**self._defaults, **everywhere}
        model = str(own.get("model") or below.get("model") or "")
        if isinstance(scope, ForConversation):
            below |= {**await self._store.settings.of_scope(ForModel(model)), "model": below.get("model")}
        chosen = scope.model if isinstance(scope, ForModel) else model
        meter = await self._models.meter(chosen or UNKNOWN_MODEL)
        policy = policy_of({**below, "policy": own.get("policy") or below.get("policy") or "octavo"}, meter)
        return {**built_in(policy), **{key: value for key, value in below.items() if value is not None}}

    async def aliases(self) -> dict[str, str]:
        """Give the model that answers in place of another, by the name of the other."""
        found = await self._store.settings.of_models("alias")
        return {model: value for model, value in found.items() if isinstance(value, str) and value}

    async def change(self, scope: Scope, settings: Mapping[str, Json]) -> None:
        """Change settings at one level; what does not make sense is refused before anything is changed."""
        await self.check(scope, settings)
        for key, value in settings.items():
            if value is None:
                await self._store.settings.remove(scope, key)
            else:
                await self._store.settings.put(scope, key, value)

    async def check(self, scope: Scope, settings: Mapping[str, Json]) -> None:
        """Refuse settings that do not exist, have the wrong type, or contradict those that hold already."""
        for key, value in settings.items():
            check_setting(key, value)
            if (level := _level(scope)) not in SETTINGS[key].levels:
                where = " or ".join(_AT[level] for level in SETTINGS[key].levels)
                raise BadInput(key, f"cannot be set {_AT[level]}: set it {where}")
        conversation = scope.id if isinstance(scope, ForConversation) else None
        trial = {**await self.of(conversation), **settings}
        model = scope.model if isinstance(scope, ForModel) else str(trial.get("model") or UNKNOWN_MODEL)
        meter = await self._models.meter(model)
        policy = policy_of({key: value for key, value in trial.items() if value is not None}, meter)
        budget_for(policy, meter.card, reply=whole(trial.get("reply")))

    def _model(self, everywhere: Mapping[str, Json], here: Mapping[str, Json]) -> str:
        return str(here.get("model") or everywhere.get("model") or self._defaults["model"] or "")

    def _resolve(
        self, everywhere: Mapping[str, Json], of_model: Mapping[str, Json], here: Mapping[str, Json]
    ) -> dict[str, Json]:
        """Put the levels on top of one another; a model has no say in which model answers."""
        model = self._model(everywhere, here)
        return {**self._defaults, **everywhere, **of_model, **here, "model": model}

    def _remember(self, conversation: str | None, model: str) -> None:
        """Remember which model a conversation has; a wrong memory costs one more statement."""
        self._guesses[conversation] = model
        while len(self._guesses) > REMEMBERED:
            del self._guesses[next(iter(self._guesses))]
