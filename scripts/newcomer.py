"""Measures a newcomer's first minutes: `python -m scripts.newcomer [--real]`.

A server is started from nothing, as `make run` does, and a browser does what somebody does who sees it for the first
time. Told are the seconds until the page answers, until the compression of the sample is seen, and with `--real` until
the first compression of one's own is seen, by the embedded model, which is fetched before the clock starts.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from scripts.get_browser import get_browser
from scripts.scenes import TALK, log
from tests.web.conftest import ARGUMENTS

PATIENCE = 900
"""Seconds after which a step is given up: a small model on a busy machine takes its time."""
LINES = 60
"""Of the log that is pasted: about two thousand tokens, which somebody's first long text may well have."""
QUESTIONS = 3
"""Asked before the history is compressed."""


class Clock:
    """Tells how long each step took, since the one before and since the beginning."""

    def __init__(self) -> None:
        self._start = self._last = time.monotonic()

    def tell(self, what: str) -> None:
        now = time.monotonic()
        print(f"{now - self._last:7.1f} s  {now - self._start:7.1f} s in all  {what}", flush=True)
        self._last = now


@contextmanager
def served(data: Path) -> Iterator[str]:
    """Start the server with an empty database; gives its address."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OCTAVO_", "OPENAI_", "ANTHROPIC_"))}
    if cache := os.environ.get("OCTAVO_CACHE"):
        kept["OCTAVO_CACHE"] = cache
    process = subprocess.Popen(
        [sys.executable, "-m", "octavo", "serve", "--local", "--port", "0"],
        env={**kept, "OCTAVO_DATA": str(data)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield _address(process)
    finally:
        process.terminate()
        process.wait()
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            f"{spent.ru_utime + spent.ru_stime:7.1f} s of processor time for the server; the machine may be busy"
        )
        if process.stderr is not None:
            process.stderr.close()


def _address(process: subprocess.Popen[str]) -> str:
    said = ""
    for line in process.stderr or ():
        said += line
        if found := re.search(r"Octavo at (http://\S+)", line):
            return found[1]
    sys.exit(f"the server did not start:\n{said}")


def see_sample(page: Page, clock: Clock) -> None:
    page.get_by_role("button", name="Open a sample conversation").click()
    expect(page.get_by_role("region", name="Compressed messages")).to_be_visible()
    clock.tell("the compression of the sample is seen")


def compress_own(page: Page, clock: Clock) -> None:
    """Ask a few questions with a long text, and compress what was said."""
    said = [text for who, text in TALK if who == "user"][:QUESTIONS]
    page.goto("/")
    for number, text in enumerate(said, 1):
        page.get_by_label("Message", exact=True).fill(
            text.replace("{log}", "\n".join(log().splitlines()[:LINES]))
        )
        page.keyboard.press("Enter")
        expect(page.locator("article.assistant:not(.live)")).to_have_count(number)
        expect(page.get_by_role("button", name="Send")).to_be_visible()
        clock.tell(f"question {number} is answered")
    page.get_by_role("button", name="Compress conversation history", exact=True).click()
    page.get_by_role("button", name="Compress", exact=True).last.click()
    card = page.locator(".compression.card:not(.running)")
    expect(card).to_be_visible()
    clock.tell(f"the first compression is seen: {_line(card.locator('.compression-what').inner_text())}")
    expect(card.locator(".compression-what")).to_contain_text("by ")
    clock.tell(f"the model has retold it: {_line(card.locator('.compression-what').inner_text())}")


def _line(text: str) -> str:
    return " ".join(text.split())


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure a newcomer's first minutes.")
    asked.add_argument("--real", action="store_true", help="also compress with the embedded model")
    given = asked.parse_args()
    found = get_browser()
    if found is None:
        sys.exit("no browser: install chromium")
    if subprocess.run([sys.executable, "-m", "octavo", "local", "install"], check=False).returncode:
        sys.exit("the embedded model could not be fetched")
    expect.set_options(timeout=PATIENCE * 1_000)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        clock = Clock()
        with served(Path(place)) as url:
            page = browser.new_context(base_url=url, reduced_motion="reduce").new_page()
            page.set_default_timeout(PATIENCE * 1_000)
            page.goto("/")
            expect(page.get_by_label("Message", exact=True)).to_be_visible()
            clock.tell("the page answers")
            see_sample(page, clock)
            if given.real:
                compress_own(page, clock)
        browser.close()


if __name__ == "__main__":
    main()
