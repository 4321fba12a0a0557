"""Azure OpenAI: OpenAI's models under an address of one's own, where a model is named by its deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.errors import UsageError
from octavo.providers.openai import EXTRA, ChatCompletions, open_chat
from octavo.providers.sdk import demand
from octavo.providers.settings import ProviderAccount, WaitLimits

if TYPE_CHECKING:
    from openai import AsyncOpenAI


def open_azure(account: ProviderAccount, waits: WaitLimits) -> ChatCompletions:
    """Open the deployments at an endpoint."""
    if not account.base_url:
        raise UsageError("Azure OpenAI needs an address: set AZURE_OPENAI_ENDPOINT")

    def connect(**common: Any) -> AsyncOpenAI:
        client: AsyncOpenAI = demand("openai", EXTRA).AsyncAzureOpenAI(
            azure_endpoint=account.base_url, api_version=account.api_version, **common
        )
        return client

    return open_chat(connect, account, waits, name="azure", official=True)
