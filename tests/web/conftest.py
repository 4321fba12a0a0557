"""A real browser on the real server: every test gets both, a provider it commands, and a page that may not misbehave.

A page that logs an error, breaks, or asks another origin for anything fails its test.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from scripts.get_browser import get_browser
from tests.web.serving import Octavo
from tests.web.upstream import Upstream, running

ROOT = Path(__file__).parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 30_000
"""Milliseconds a condition may take to come true: a busy machine is no failure."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give all tests with a browser to one worker: a browser each would be too many."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("web"))


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    """Build the page, if it is older than its sources."""
    done = subprocess.run([sys.executable, str(ROOT / "web" / "build.py")], check=False)
    assert done.returncode == 0, "the web chat cannot be built"


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Playwright keeps an event loop running: it has to end with this package, or no other test can run one."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Start a Chromium: the machine's, or one that is fetched."""
    found = get_browser()
    if found is None:
        pytest.skip("NO BROWSER, THE WEB CHAT IS NOT TESTED: install chromium, or playwright's")
    started = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
    yield started
    started.close()


@pytest.fixture(scope="package")
def provider() -> Iterator[Upstream]:
    with running(Upstream()) as started:
        yield started


@pytest.fixture(scope="package")
def server(provider: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Octavo]:
    """One server for all tests: starting one takes longer than most of them."""
    started = Octavo(tmp_path_factory.mktemp("octavo"), provider.url)
    try:
        started.start()
        yield started
    finally:
        started.kill()


@pytest.fixture
def upstream(provider: Upstream) -> Upstream:
    provider.reset()
    return provider


@pytest.fixture
def octavo(server: Octavo, upstream: Upstream) -> Octavo:  # noqa: ARG001 - no answer of the last test is held back
    """The server, as if it were new; a test may stop it."""
    server.reset()
    return server


LOST = (
    "ERR_CONNECTION_",
    "ERR_SOCKET_NOT_CONNECTED",
    "ERR_EMPTY_RESPONSE",
    "ERR_INCOMPLETE_CHUNKED_ENCODING",
    "ERR_CONTENT_LENGTH_MISMATCH",
)
"""What Chromium calls a server that is gone: before a request, before the first byte of its answer, or after it."""


class Watch:
    """What pages did that they may not do; a test that breaks the connection on purpose forgives that."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.wrong: list[str] = []
        self.forgiven: tuple[str, ...] = ()

    def forgive(self, *words: str) -> None:
        """Expect errors that contain one of these words, such as `ERR_CONNECTION_REFUSED`."""
        self.forgiven += words

    def forgive_lost_connections(self) -> None:
        """Expect whatever a page may meet while its server is killed, which depends on what it was just asking."""
        self.forgive(*LOST)

    def follow(self, page: Page) -> None:
        page.on("console", lambda told: self._note(told.text) if told.type == "error" else None)
        page.on("pageerror", lambda error: self._note(f"broke: {error}"))
        page.on("request", lambda request: self._request(request.url))

    def _request(self, url: str) -> None:
        if not url.startswith(("data:", "blob:")) and urlsplit(url).netloc != urlsplit(self.origin).netloc:
            self._note(f"asked another origin: {url}")

    def _note(self, what: str) -> None:
        self.wrong.append(what)

    def check(self) -> None:
        left = [what for what in self.wrong if not any(word in what for word in self.forgiven)]
        assert not left, left


@pytest.fixture
def watch(octavo: Octavo) -> Iterator[Watch]:
    watch = Watch(octavo.url)
    yield watch
    watch.check()


@pytest.fixture
def context(browser: Browser, octavo: Octavo, watch: Watch) -> Iterator[BrowserContext]:
    """A window of its own for the test; further tabs of it come from `context.new_page()`."""
    made = browser.new_context(
        base_url=octavo.url, viewport={"width": 1280, "height": 800}, locale="en-GB", reduced_motion="reduce"
    )
    made.grant_permissions(["clipboard-read", "clipboard-write"])
    made.set_default_timeout(PATIENCE)
    made.on("page", watch.follow)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


Audit = Callable[[Page], None]


def check_barriers(page: Page) -> None:
    """Check a page for barriers, in light and in dark; every finding fails."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.evaluate(AXE.read_text("utf-8") + "; undefined")
        # Colours are those of the scheme only when it was painted.
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found: list[dict[str, Any]] = page.evaluate("async () => (await axe.run()).violations")
        told = [
            f"{one['id']}: {node['html']} {node['failureSummary']}" for one in found for node in one["nodes"]
        ]
        assert not told, f"{scheme}: " + "\n".join(told)


@pytest.fixture
def audit() -> Audit:
    return check_barriers
