"""Build the package and try the wheel as a user does: in an empty environment, from another folder.

`make wheel` runs it. With a tag it also sees that the tag, the package and the changelog name the same version.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PORT = "18765"
STARTS = 60
"""Seconds a server may take to answer for the first time."""


def run(*command: str | Path, cwd: Path, stdin: str = "") -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, input=stdin, text=True, stdout=subprocess.PIPE, check=True
    )
    return done.stdout


def build() -> Path:
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "uv", "--quiet", "build", "--out-dir", DIST, ROOT, cwd=ROOT)
    (wheel,) = DIST.glob("*.whl")
    return wheel


def check_version(tag: str) -> None:
    version = tag.removeprefix("v")
    if not re.search(
        rf'^version = "{re.escape(version)}"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE
    ):
        sys.exit(f"the tag is {tag}, and pyproject.toml names another version")
    if f"## [{version}]" not in (ROOT / "CHANGELOG.md").read_text():
        sys.exit(f"the changelog has no section for {version}")


def try_wheel(wheel: Path) -> None:
    """Install it into an empty environment, compress a history, and ask a running server for its page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        run(programs / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
        print(run(programs / "octavo", "--version", cwd=folder).strip())
        said = [{"role": "user", "content": f"Remember: host h{n} has the port {n * 7}."} for n in range(200)]
        made = run(
            programs / "octavo", "compress", "-", "--budget", "500", cwd=folder, stdin=json.dumps(said)
        )
        print(f"compressed 200 messages to {len(json.loads(made))}")
        command = [programs / "octavo", "serve", "--db", folder / "octavo.db", "--port", PORT]
        with subprocess.Popen(list(map(str, command)), cwd=folder) as server:
            try:
                print(f"the page has {len(ask()):,} bytes")
            finally:
                server.terminate()


def ask() -> bytes:
    until = time.monotonic() + STARTS
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/") as answer:
                return bytes(answer.read())
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1]:
        check_version(sys.argv[1])
    try_wheel(build())
