"""What conversations cost."""

from __future__ import annotations

from pydantic import Field

from octavo.server.schemas.base import Shape


class CostLineOut(Shape):
    name: str = Field(description="The conversation, the model, or the day.")
    requests: int
    sent: int = Field(description="Tokens that were sent.")
    cached: int = Field(description="Of these, tokens that came from the provider's cache.")
    answered: int = Field(description="Tokens of answers.")
    saved: int = Field(description="Tokens that were not sent because of compressions.")
    summaries: int = Field(description="Requests for summaries.")
    summary_tokens: int = Field(description="Tokens that these read and wrote.")
    dollars: float | None = Field(
        description="US dollars for requests and answers, by today's cards; null if no price is known."
    )
    summary_dollars: float | None = Field(description="US dollars for summaries.")


class CostList(Shape):
    lines: list[CostLineOut]
    total: CostLineOut
