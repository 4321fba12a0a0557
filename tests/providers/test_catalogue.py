"""From a model's name to its provider; what is missing is said with what to do."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from octavo.errors import NotFound, UnknownModel, UsageError
from octavo.providers.catalogue import local_file, open_provider, resolve
from octavo.providers.model_files import BEST, DEFAULT, SMALLEST, ModelFile
from octavo.providers.settings import Local, ProviderAccount, ProviderSettings
from tests.providers.kit import KEY

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(tmp_path: Path) -> ProviderSettings:
    account = ProviderAccount(key=KEY)
    azure = ProviderAccount(key=KEY, base_url="https://example.openai.azure.com", api_version="2024-10-21")
    return ProviderSettings(
        openai=account, anthropic=account, google=account, azure=azure, local=Local(cache=tmp_path)
    )


def pretend_installed(model: ModelFile, cache: Path) -> Path:
    """Make a file of the right size, without its bytes."""
    place = model.place(cache)
    place.parent.mkdir(exist_ok=True)
    with place.open("wb") as file:
        file.truncate(model.size)
    return place


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("gpt-4o", "openai", "gpt-4o"),
        ("o3-mini", "openai", "o3-mini"),
        ("openai/gpt-4o", "openai", "gpt-4o"),
        ("claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5"),
        ("gemini-2.5-flash", "google", "gemini-2.5-flash"),
        ("azure/my-deployment", "azure", "my-deployment"),
        ("ollama/llama3.2:3b", "ollama", "llama3.2:3b"),
        ("compatible/openai/gpt-oss-20b", "compatible", "openai/gpt-oss-20b"),
        ("local/smollm2-135m", "local", "smollm2-135m"),
        ("local//models/x.gguf", "local", "/models/x.gguf"),
        ("local", "local", "local"),
    ],
)
def test_a_name_tells_its_provider(name: str, provider: str, model: str) -> None:
    target = resolve(name)
    assert (target.provider, target.model) == (provider, model)


@pytest.mark.parametrize("name", ["", "llama3", "meta/llama3", "openai/", "/", "locally"])
def test_a_name_that_tells_nothing_is_refused_with_what_would_be_understood(name: str) -> None:
    with pytest.raises(UnknownModel, match="PROVIDER/MODEL with one of openai, anthropic"):
        resolve(name)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o", "openai"),
        ("claude-sonnet-4-5", "anthropic"),
        ("gemini-2.5-flash", "google"),
        ("azure/deployment", "azure"),
        ("ollama/llama3.2", "ollama"),
    ],
)
async def test_a_provider_is_opened_by_the_name_of_its_model(
    settings: ProviderSettings, model: str, name: str
) -> None:
    provider = open_provider(model, settings)
    assert provider.name == name
    await provider.close()


async def test_a_compatible_server_needs_an_address_and_no_key(settings: ProviderSettings) -> None:
    with pytest.raises(UsageError, match="set OPENAI_BASE_URL"):
        open_provider("compatible/m", settings)
    for model in ("compatible/m", "openai/m"):
        provider = open_provider(
            model, replace(settings, openai=ProviderAccount(base_url="http://127.0.0.1:9/v1"))
        )
        await provider.close()


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("gpt-4o", "OPENAI_API_KEY"),
        ("claude-x", "ANTHROPIC_API_KEY"),
        ("gemini-x", "GEMINI_API_KEY"),
        ("azure/x", "AZURE_OPENAI_API_KEY"),
    ],
)
def test_without_a_key_the_variable_is_named(model: str, variable: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"set {variable}, or {variable}_FILE"):
        open_provider(model, ProviderSettings(local=Local(cache=tmp_path)))


BARE = """
import sys
from pathlib import Path
from octavo.errors import UsageError
from octavo.providers.catalogue import open_provider
from octavo.providers.secret import Secret
from octavo.providers.settings import Local, ProviderAccount, ProviderSettings

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("openai", "anthropic", "google.genai", "xllamacpp"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
account = ProviderAccount(key=Secret("k"), base_url="http://127.0.0.1:9")
settings = ProviderSettings(
    openai=account, azure=account, anthropic=account, google=account, local=Local(cache=Path(sys.argv[1]))
)
for model in ("gpt-4o", "azure/x", "claude-x", "gemini-x", "local"):
    try:
        open_provider(model, settings)
    except UsageError as error:
        print(error)
"""
"""A program on a machine where none of the extras was installed."""


def test_without_its_package_each_provider_names_the_extra(tmp_path: Path) -> None:
    pretend_installed(SMALLEST, tmp_path)
    command = [sys.executable, "-c", BARE, str(tmp_path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == [
        f"the package {package!r} is not installed; run: pip install 'octavo[{extra}]'"
        for package, extra in (
            ("openai", "openai"),
            ("openai", "openai"),
            ("anthropic", "anthropic"),
            ("google.genai", "google"),
            ("openai", "local"),
        )
    ]


def test_looking_around_imports_no_library(tmp_path: Path) -> None:
    script = (
        "import sys; from octavo.providers.availability import availability; "
        "from octavo.providers.settings import read_settings; "
        "availability(read_settings({'OCTAVO_CACHE': sys.argv[1], 'OLLAMA_HOST': '127.0.0.1:9'})); "
        "print(sorted({'openai', 'anthropic', 'google.genai', 'httpx2', 'xllamacpp', 'pydantic'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_many_threads_that_want_a_library_at_once_get_all_of_it() -> None:
    """Planted bug: what stands in `sys.modules` is taken, though another thread has only begun to import it."""
    script = (
        "from concurrent.futures import ThreadPoolExecutor as Pool; from octavo.providers.sdk import demand\n"
        "with Pool(8) as pool: print({*pool.map(lambda _: demand('openai', 'openai').Timeout.__name__, range(8))})"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert told.stdout == "{'Timeout'}\n", told.stderr


def test_an_embedded_model_is_found_by_name_by_path_or_by_being_there(settings: ProviderSettings) -> None:
    cache = settings.local.cache
    with pytest.raises(UsageError, match="run: octavo local install"):
        local_file("local", settings)
    smallest = pretend_installed(SMALLEST, cache)
    assert local_file("local", settings) == smallest
    assert local_file(SMALLEST.name, settings) == smallest
    default = pretend_installed(DEFAULT, cache)
    assert local_file("local", settings) == default
    assert local_file("/somewhere/x.gguf", settings) == Path("/somewhere/x.gguf")
    with pytest.raises(UsageError, match=f"run: octavo local install {BEST.name}"):
        local_file(BEST.name, settings)
    with pytest.raises(NotFound, match=re.escape("qwen2.5-coder-0.5b, smollm2-135m, qwen2.5-coder-1.5b")):
        local_file("gpt-5", settings)


def test_a_path_without_a_file_is_said_before_anything_is_loaded(settings: ProviderSettings) -> None:
    with pytest.raises(UsageError, match="no model file at"):
        open_provider("local/nowhere.gguf", settings)
