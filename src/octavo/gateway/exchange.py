"""One request of a client and everything the gateway finds out about it, from its arrival to its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import httpx2

from octavo.core.context import Context
from octavo.core.json_values import Json, JsonObject
from octavo.core.policy import Compress, Decision, Keep, Prepare, Shrink
from octavo.core.tools import Tool
from octavo.core.wire import Wired
from octavo.engine.history import BranchMatch
from octavo.engine.overflow import OverflowRetry
from octavo.gateway.dialects.dialect import ClientRequest, Dialect
from octavo.gateway.dialects.known import DIALECTS
from octavo.gateway.fit import FittedContext, RequestSize, request_context
from octavo.gateway.forward import Destination, send, with_model_name
from octavo.gateway.gateway import Gateway
from octavo.gateway.translate.requests import left_out, plain_body, translated_body
from octavo.gateway.translate.translator import AnswerTranslator
from octavo.http.caller import Caller
from octavo.http.responses import to_json
from octavo.meters.meter import Meter

LONGEST_HEADER = 500
"""Characters of a header that lists names."""


def answer_translator(
    dialect: Dialect, request: ClientRequest, destination: Destination, id: str, tokens: int = 0
) -> AnswerTranslator | None:
    """Make what turns the provider's answer into the client's interface; None if they are the same."""
    if destination.format == dialect.name:
        return None
    return AnswerTranslator(
        client=dialect.name,
        provider=DIALECTS[destination.format],
        id=id,
        model=request.asked,
        request=request.body,
        tokens=tokens,
    )


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request, and the state of answering it."""

    gateway: Gateway
    id: str
    """The id under which the request is logged."""
    dialect: Dialect
    caller: Caller
    request: ClientRequest
    destination: Destination
    branch: BranchMatch
    meter: Meter
    settings: dict[str, Json]
    size: RequestSize
    decision: Decision
    """What the policy decides about the request as the client sent it."""
    retry: OverflowRetry
    fitted: FittedContext | None = None
    """What is sent in place of the request; None while the request is sent unchanged."""
    stable: int | None = None
    """How many messages the client will send again, if it rewrites those before its question, such as files it shows.

    A snapshot that covers more serves this request only. None: it appends, as most clients do.
    """
    rebound: bool = False
    """Whether the provider is asked to leave out thinking that is bound to something else."""

    @property
    def too_large(self) -> bool:
        """Whether the request is too large to be sent unchanged."""
        match self.decision:
            case Compress(urgency="hard") | Shrink():
                return True
            case Keep() | Prepare() | Compress():
                return False
            case other:
                assert_never(other)

    @property
    def dear(self) -> bool:
        """Whether the request can be sent unchanged, and costs less with a snapshot in place of its older part."""
        size = self.size
        priced = size.budget is not None and size.budget.priced and isinstance(self.decision, Compress)
        return priced and not self.too_large and not self.branch.new

    @property
    def translated(self) -> bool:
        """Whether the provider speaks another interface than the client."""
        return self.destination.format != self.dialect.name

    @property
    def provider_dialect(self) -> Dialect:
        """The interface that the provider speaks."""
        return DIALECTS[self.destination.format]

    def translator(self) -> AnswerTranslator:
        """Make what turns the provider's answer into the client's interface, where they differ."""
        made = answer_translator(self.dialect, self.request, self.destination, self.id, self.sent)
        assert made is not None
        return made

    @property
    def is_claude(self) -> bool:
        """Whether a client of Anthropic's interface talks to a provider of the same."""
        return self.dialect.name == "anthropic" and not self.translated

    @property
    def compressed(self) -> bool:
        return self.fitted is not None and self.fitted.compressed

    @property
    def offers_recall(self) -> bool:
        """Whether the model may search what the snapshot covers."""
        return self.request.options.recall and self.compressed

    @property
    def sent(self) -> int:
        """Tokens of what is sent to the provider."""
        return self.fitted.tokens if self.fitted else self.size.reading.tokens

    @property
    def context(self) -> Context:
        """What is sent to the provider, as a context."""
        return self.fitted.context if self.fitted else request_context(self.request)

    @property
    def headers(self) -> dict[str, str]:
        """The headers that tell the client what happened."""
        told = {
            "conversation": self.branch.conversation,
            "compressed": "true" if self.compressed else "false",
            "tokens-before": str(self.size.reading.tokens),
            "tokens-after": str(self.sent),
        }
        if self.request.asked != self.request.model:
            told["model"] = self.request.model
        if self.fitted and self.fitted.recalled:
            told["recalled"] = str(self.fitted.recalled)
        if self.translated:
            told["provider-format"] = self.destination.format
            if missing := left_out(self.request):
                told["left-out"] = ", ".join(missing)[:LONGEST_HEADER].encode("ascii", "replace").decode()
        return {f"x-octavo-{name}": value for name, value in told.items()}

    def report(self) -> JsonObject:
        """The same, for clients that want it in the body."""
        return {
            "conversation": self.branch.conversation,
            "compressed": self.compressed,
            "tokens_before": self.size.reading.tokens,
            "tokens_after": self.sent,
            "recalled": self.fitted.recalled if self.fitted else 0,
        }

    def plain_body(self) -> bytes:
        """The body that is sent if the request fits."""
        return plain_body(self.dialect, self.request, self.destination, self.meter.card)

    def fitted_body(self, wired: Wired, more_tools: tuple[Tool, ...]) -> bytes:
        """The body that is sent if other messages are sent in place of the request's."""
        if not self.translated:
            return to_json(self.dialect.rewrite(self.request, wired, more_tools))
        return to_json(
            translated_body(
                self.dialect.name, self.request, wired, self.destination, self.meter.card, more_tools
            )
        )

    async def send(self, body: bytes) -> httpx2.Response:
        """Send a body to the provider."""
        sent = body if self.translated else with_model_name(body, self.request.asked, self.destination)
        return await send(self.gateway, self.destination, sent, streamed=self.request.stream)
