"""Tells which provider a model belongs to, and opens that provider.

A model is `provider/model`, or a bare name whose beginning gives its provider away. What is missing (a key, a
package, a file) is said when a provider is opened, with what to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from octavo.errors import UnknownModel, UsageError
from octavo.protocols import Provider
from octavo.providers.anthropic import open_anthropic
from octavo.providers.azure import open_azure
from octavo.providers.embedded import open_embedded
from octavo.providers.google import open_google
from octavo.providers.model_files import find_model, installed_models
from octavo.providers.openai import open_openai
from octavo.providers.settings import ProviderAccount, ProviderSettings

PROVIDERS = ("openai", "anthropic", "google", "azure", "compatible", "ollama", "local")
BARE_NAMES: Mapping[str, str] = MappingProxyType(
    {
        r"(gpt-|chatgpt-|o\d)": "openai",
        r"claude-": "anthropic",
        r"gemini-": "google",
        r"local$": "local",
    }
)
"""How bare names begin; `local` alone is the default of the models that are installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAddress:
    """A model name, taken apart."""

    provider: str
    model: str
    """What the provider calls it: what belongs into a `Request`."""


def resolve(name: str) -> ModelAddress:
    """Tell which provider a model belongs to; raise `UnknownModel` with what would be understood."""
    provider, _, model = name.partition("/")
    if provider in PROVIDERS and model:
        return ModelAddress(provider=provider, model=model)
    for pattern, owner in BARE_NAMES.items():
        if re.match(pattern, name):
            return ModelAddress(provider=owner, model=name)
    raise UnknownModel(
        f"no provider is known for the model {name!r}; write PROVIDER/MODEL with one of {', '.join(PROVIDERS)}, or "
        "name its provider on a card of its own"
    )


def is_known(name: str) -> bool:
    """Tell whether a name gives its provider away."""
    try:
        resolve(name)
    except UnknownModel:
        return False
    return True


def open_provider(name: str, settings: ProviderSettings) -> Provider:
    """Open the provider of a model; raise `UsageError` saying what is missing and how to get it."""
    target, waits = resolve(name), settings.waits
    match target.provider:
        case "openai" if settings.openai.base_url:
            return open_openai(settings.openai, waits)
        case "openai":
            return open_openai(_keyed(settings.openai, "OpenAI", "OPENAI_API_KEY"), waits)
        case "anthropic":
            return open_anthropic(_keyed(settings.anthropic, "Anthropic", "ANTHROPIC_API_KEY"), waits)
        case "google":
            return open_google(_keyed(settings.google, "Google Gemini", "GEMINI_API_KEY"), waits)
        case "azure":
            return open_azure(_keyed(settings.azure, "Azure OpenAI", "AZURE_OPENAI_API_KEY"), waits)
        case "ollama":
            address = settings.ollama.base_url.rstrip("/") + "/v1"
            return open_openai(ProviderAccount(base_url=address), waits, name="ollama")
        case "compatible" if not settings.openai.base_url:
            raise UsageError(f"{name} needs the address of a server: set OPENAI_BASE_URL")
        case "compatible":
            return open_openai(settings.openai, waits, name="compatible")
        case _:
            return open_embedded(local_file(target.model, settings), settings.local, waits)


def _keyed(account: ProviderAccount, title: str, variable: str) -> ProviderAccount:
    if account.key is None:
        raise UsageError(f"{title} needs a key: set {variable}, or {variable}_FILE to a file that holds it")
    return account


def local_file(model: str, settings: ProviderSettings) -> Path:
    """Find the file of an embedded model: a path to a GGUF file, a name, or `local` for the one installed."""
    if model.endswith(".gguf"):
        return Path(model).expanduser()
    cache = settings.local.cache
    if model == "local":
        installed = installed_models(cache)
        if not installed:
            raise UsageError("no embedded model is installed; run: octavo local install")
        return installed[0].place(cache)
    wanted = find_model(model)
    if not wanted.is_installed(cache):
        raise UsageError(f"{wanted.title} is not installed; run: octavo local install {wanted.name}")
    return wanted.place(cache)
