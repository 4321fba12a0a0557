"""The guide to the API is run: every command, in order, in one shell, against a real server.

What a command prints must be what the block after it shows. In JSON a shown field has to be there with a value of its
kind, and words have to be the same; in text every shown line has to come, in order. An ellipsis stands for anything.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.server.fake import Provider
from tests.server.kit import listening
from tests.server.test_replicas import replica
from tests.test_docs import Block, blocks

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        shutil.which("curl") is None or shutil.which("bash") is None, reason="needs curl and bash"
    ),
]

GUIDE = Path(__file__).parents[2] / "docs" / "http.md"
HOME = "http://127.0.0.1:8765"
MARK = "----- the next block -----"


def lies(shown: Any, got: Any, where: str = "") -> list[str]:
    """Tell what is shown and not so."""
    match shown, got:
        case dict(), dict():
            missing = [f"{where}.{key} is missing" for key in shown if key not in got]
            return missing + [
                lie for key in shown if key in got for lie in lies(shown[key], got[key], f"{where}.{key}")
            ]
        case list(), list():
            if shown and not got:
                return [f"{where} is empty"]
            return [
                lie for one, other in zip(shown, got, strict=False) for lie in lies(one, other, f"{where}[]")
            ]
        case str(), str():
            pattern = ".*".join(re.escape(piece) for piece in shown.split("…"))
            return [] if re.fullmatch(pattern, got, re.DOTALL) else [f"{where}: {got!r}, not {shown!r}"]
        case bool(), bool():
            return [] if shown == got else [f"{where}: {got}"]
        case ((int() | float()), (int() | float())) if isinstance(shown, bool) == isinstance(got, bool):
            return []
        case None, None:
            return []
    return [f"{where}: {got!r}, not {shown!r}"]


def missing_line(shown: str, got: str) -> str | None:
    """Give the first line that is shown and does not come, after those before it."""
    rest = got
    for line in shown.splitlines():
        pattern = "[^\n]*".join(re.escape(piece) for piece in line.rstrip("…").split("…"))
        found = re.search(rf"^{pattern}" + ("" if line.endswith("…") else r"\s*$"), rest, re.MULTILINE)
        if found is None:
            return line
        rest = rest[found.end() :]
    return None


def check(shown: Block, got: str) -> None:
    if shown.info == "json":
        assert lies(json.loads(shown.text), json.loads(got)) == [], f"docs/http.md, line {shown.first}"
    elif shown.info == "text":
        assert missing_line(shown.text, got) is None, f"docs/http.md, line {shown.first}\n{got[:3_000]}"


def test_a_guide_that_lies_is_caught() -> None:
    assert lies({"a": 1, "b": "x…"}, {"a": 7, "b": "xyz", "c": None}) == []
    assert lies({"a": 1}, {"a": "1"}) != []
    assert lies({"a": "yes"}, {"a": "no"}) != []
    assert lies({"a": [1]}, {"a": []}) != []
    assert lies({"a": True}, {"a": 1}) != []
    assert missing_line("event: a\nevent: b…", "event: a\n\nevent: bc\n") is None
    assert missing_line("event: b\nevent: a", "event: a\n\nevent: b\n") == "event: a"


async def test_every_command_of_the_guide_does_what_the_guide_says(tmp_path: Path) -> None:
    found = [block for block in blocks(GUIDE.read_text("utf-8")) if block.info in ("sh", "json", "text")]
    commands = [block for block in found if block.info == "sh"]
    assert len(commands) > 10
    async with listening(Provider().app) as upstream, replica(str(tmp_path / "o.db"), upstream) as server:
        script = "set -euo pipefail\n" + "".join(f"{block.text}\necho\necho '{MARK}'\n" for block in commands)
        shell = await asyncio.create_subprocess_exec(
            "bash",
            "-c",
            script.replace(HOME, server.url),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said = (await shell.communicate())[0].decode()
    assert shell.returncode == 0, said[-3_000:]
    outputs = dict(zip([block.first for block in commands], said.replace("\r", "").split(MARK), strict=False))
    for command, after in zip(found, [*found[1:], None], strict=True):
        if command.info == "sh" and after is not None and after.info != "sh":
            check(after, outputs[command.first])
