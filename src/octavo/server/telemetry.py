"""Metrics for operators: requests, tokens and compressions; never a word of a conversation.

With the extra `otel`, OpenTelemetry collects them and `/metrics` shows them. Without it, nothing is collected.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from octavo.engine.attempt import Attempt
from octavo.engine.outcome import Answered, Event

INSTALLED = find_spec("opentelemetry.sdk") is not None and find_spec("prometheus_client") is not None
CONTEXT_SIZES = [1_000 * 2**n for n in range(11)]
"""Bucket bounds for the size of contexts, in tokens: from a short conversation to the largest windows."""
HINT = "install it: pip install 'octavo[otel]'"


@dataclass(slots=True)
class Telemetry:
    """The instruments; none without the extra."""

    registry: Any = None
    _instruments: dict[str, Any] = field(default_factory=dict)
    _provider: Any = None

    def request(self, method: str, status: int, seconds: float) -> None:
        """Record a request."""
        if self._instruments:
            self._instruments["requests"].record(seconds, {"method": method, "status": str(status)})

    def record_event(self, _: str, event: Event) -> None:
        """Record an event of the engine."""
        if not self._instruments:
            return
        match event:
            case Answered():
                usage, model = event.reply.usage, event.reply.model
                for kind, tokens in (("input", usage.input), ("output", usage.output)):
                    self._instruments["tokens"].add(
                        tokens, {"gen_ai.token.type": kind, "gen_ai.request.model": model}
                    )

    def attempted(self, attempt: Attempt) -> None:
        """Record an attempt to compress."""
        if not self._instruments:
            return
        told = {"outcome": attempt.ending, "trigger": attempt.trigger}
        self._instruments["compressions"].add(1, told)
        self._instruments["compressing"].record(attempt.seconds, told)
        for when, tokens in (("before", attempt.before), ("after", attempt.after)):
            self._instruments["context"].record(tokens, {**told, "when": when})
        if attempt.ending == "compressed":
            self._instruments["saved"].add(max(0, attempt.before - attempt.after))
        if attempt.unwritten is not None:
            missing = {"reason": attempt.unwritten.kind, "gen_ai.request.model": attempt.unwritten.model}
            self._instruments["unwritten"].add(1, missing)

    def relayed(self, *, compressed: bool) -> None:
        """Record an answered request of the gateway."""
        if self._instruments:
            self._instruments["relayed"].add(1, {"compressed": str(compressed).lower()})

    def page(self) -> tuple[bytes, str] | None:
        """Render everything for Prometheus; None without the extra."""
        if self.registry is None:
            return None
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        return generate_latest(self.registry), CONTENT_TYPE_LATEST

    def close(self) -> None:
        if self._provider is not None:
            self._provider.shutdown()


def open_telemetry(*, installed: bool = INSTALLED) -> Telemetry:
    """Make the instruments, in a registry of their own, so that several servers can run in one process."""
    if not installed:
        return Telemetry()
    from opentelemetry.exporter.prometheus import PrometheusMetricReader
    from opentelemetry.sdk.metrics import MeterProvider
    from prometheus_client import CollectorRegistry

    registry = CollectorRegistry()
    provider = MeterProvider([PrometheusMetricReader(registry=registry)], shutdown_on_exit=False)
    meter = provider.get_meter("octavo")
    instruments = {
        "requests": meter.create_histogram("octavo.http.duration", "s", "Duration of requests"),
        "tokens": meter.create_counter("gen_ai.client.token.usage", "{token}", "Tokens as billed"),
        "compressions": meter.create_counter(
            "octavo.compressions", "1", "Attempts to compress by how they ended"
        ),
        "compressing": meter.create_histogram(
            "octavo.compression.duration", "s", "Duration of attempts to compress"
        ),
        "context": meter.create_histogram(
            "octavo.compression.context",
            "{token}",
            "The context before and after attempts",
            explicit_bucket_boundaries_advisory=CONTEXT_SIZES,
        ),
        "unwritten": meter.create_counter("octavo.summaries.failed", "1", "Summaries that were not written"),
        "relayed": meter.create_counter("octavo.gateway.requests", "1", "Requests of the gateway"),
        "saved": meter.create_counter(
            "octavo.tokens.saved", "{token}", "Tokens that compressions took out of a context"
        ),
    }
    return Telemetry(registry, instruments, provider)
