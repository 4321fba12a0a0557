"""Which providers can be used right now, and what to do about the others.

Looking around imports no library, loads no model, shows no key, and asks nobody but this machine.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from octavo.core.json_values import Json
from octavo.providers.embedded import lacking_features
from octavo.providers.model_files import DEFAULT, installed_models
from octavo.providers.sdk import is_installed, remedy
from octavo.providers.settings import Local, ProviderAccount, ProviderSettings

PROBE_SECONDS = 0.3
"""A server on this machine answers within milliseconds, and a person waits for the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """Whether a provider can be used now."""

    provider: str
    title: str
    example: str
    """A model name to try."""
    detail: str
    """What was found, or what is missing."""
    remedy: str = ""
    """What to do about it; empty when the provider is ready."""
    models: tuple[str, ...] = ()
    """The models it has, as far as that can be known without asking anybody elsewhere."""

    @property
    def ready(self) -> bool:
        return not self.remedy

    @property
    def usual(self) -> str:
        """The model to begin with; empty if only the owner of the provider knows its name."""
        if self.models:
            return self.models[0]
        return "" if self.provider in ("azure", "compatible") else self.example


def usual_model(found: Iterable[Availability]) -> str:
    """Choose a model of the first provider that can be used, for a user who chose none; empty if there is none."""
    return next((one.usual for one in found if one.ready and one.usual), "")


def availability(settings: ProviderSettings) -> tuple[Availability, ...]:
    """List every provider. Waits for a server on this machine, if only a moment: not for an event loop."""
    return (
        _service("openai", "OpenAI", "gpt-4o", settings.openai, "OPENAI_API_KEY"),
        _service("anthropic", "Anthropic", "claude-sonnet-4-5", settings.anthropic, "ANTHROPIC_API_KEY"),
        _service("google", "Google Gemini", "gemini-2.5-flash", settings.google, "GEMINI_API_KEY"),
        _azure(settings.azure),
        _compatible(settings.openai),
        _ollama(settings.ollama),
        _local(settings.local),
    )


def explain(found: Iterable[Availability]) -> str:
    """Write the list for people."""
    return "\n".join(
        f"{'ready' if one.ready else '-':<6} {one.title}: {one.detail}"
        + (f"; {one.remedy}" if one.remedy else "")
        for one in found
    )


def _service(
    provider: str, title: str, example: str, account: ProviderAccount, variable: str
) -> Availability:
    detail, to_do = _missing("openai" if provider == "azure" else provider)
    if account.key is None:
        detail, to_do = "no key", f"set {variable}, or {variable}_FILE to a file that holds it"
    elif not to_do:
        detail = f"key from {account.key.origin}"
    return Availability(provider=provider, title=title, example=example, detail=detail, remedy=to_do)


def _azure(account: ProviderAccount) -> Availability:
    if account.key is not None and not account.base_url:
        detail, to_do = "a key, but no address", "set AZURE_OPENAI_ENDPOINT"
        return Availability(
            provider="azure", title="Azure OpenAI", example="azure/DEPLOYMENT", detail=detail, remedy=to_do
        )
    return _service("azure", "Azure OpenAI", "azure/DEPLOYMENT", account, "AZURE_OPENAI_API_KEY")


def _compatible(account: ProviderAccount) -> Availability:
    detail, to_do = _missing("openai")
    if not account.base_url:
        detail, to_do = "no address", "set OPENAI_BASE_URL (vLLM, llama.cpp, LM Studio, a gateway)"
    elif not to_do:
        detail = f"a server at {_host(account.base_url)}"
    return Availability(
        provider="compatible",
        title="OpenAI-compatible server",
        example="compatible/MODEL",
        detail=detail,
        remedy=to_do,
    )


def _ollama(account: ProviderAccount) -> Availability:
    detail, to_do = _missing("openai")
    models = probe_ollama(account)
    if models is None:
        detail, to_do = f"nothing answers at {_host(account.base_url)}", "start it: ollama serve"
    elif not models:
        detail, to_do = "running, without a model", "get one: ollama pull llama3.2"
    elif not to_do:
        detail = f"{len(models)} models at {_host(account.base_url)}"
    names = tuple(f"ollama/{model}" for model in models or ())
    example = names[0] if names else "ollama/llama3.2"
    return Availability(
        provider="ollama", title="Ollama", example=example, detail=detail, remedy=to_do, models=names
    )


def _local(local: Local) -> Availability:
    models = installed_models(local.cache)
    detail, to_do = _missing("local")
    if lacking := lacking_features():
        detail, to_do = f"this processor lacks {', '.join(sorted(lacking))}", "use another provider"
    elif not to_do and not models:
        detail = "no model file is installed"
        to_do = f"fetch {DEFAULT.title} ({DEFAULT.size / 1e6:.0f} MB): octavo local install"
    elif not to_do:
        detail = f"{', '.join(model.title for model in models)}: small, for trying out"
    return Availability(
        provider="local",
        title="Embedded model",
        example=f"local/{(models or (DEFAULT,))[0].name}",
        detail=detail,
        remedy=to_do,
        models=tuple(f"local/{model.name}" for model in models),
    )


def _missing(extra: str) -> tuple[str, str]:
    """Name the package that an extra would bring, if it is not there, and how to get it."""
    modules = {"google": ("google.genai",), "local": ("xllamacpp", "openai")}.get(extra, (extra,))
    for module in modules:
        if not is_installed(module):
            return f"the package {module!r} is not installed", remedy(extra)
    return "", ""


def probe_ollama(account: ProviderAccount) -> tuple[str, ...] | None:
    """Ask Ollama for its models; None when nobody answers at once."""
    address = urlsplit(account.base_url)
    secure = address.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    try:
        connection = kind(address.netloc, timeout=PROBE_SECONDS)
        try:
            connection.request("GET", f"{address.path.rstrip('/')}/api/tags")
            answer: Json = json.loads(connection.getresponse().read())
        finally:
            connection.close()
    except (OSError, http.client.HTTPException, ValueError):
        return None
    models = answer.get("models") if isinstance(answer, dict) else None
    listed = models if isinstance(models, list) else []
    names = (model.get("name") for model in listed if isinstance(model, dict))
    return tuple(name for name in names if isinstance(name, str))


def _host(address: str) -> str:
    """Name a server without what an address may hold besides: a user, a password, a key."""
    parts = urlsplit(address)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
