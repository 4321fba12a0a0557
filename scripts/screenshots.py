"""Makes pictures of every page and dialog: `python -m scripts.screenshots [FOLDER] [--only SCENE …]`.

The real server, a provider that says what it is told, and a compressed conversation; each scene on a wide, a middle
and a narrow screen, in light and in dark, and looked through for barriers. `--docs` makes only those that the README
shows, and puts them there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from scripts.get_browser import get_browser
from scripts.scenes import KEPT, SAID, SCENES, Place, answer, told
from tests.web.conftest import ARGUMENTS, PATIENCE, check_barriers
from tests.web.serving import Octavo
from tests.web.upstream import Upstream, running

OTHERS = (
    "Reading list for the autumn",
    "Why does the label printer skip?",
    "Letter to the landlord",
    "Opening hours over the holidays",
)
DOCS = Path(__file__).parent.parent / "docs" / "pictures"
SHOWN = ("compression", "meter")
"""Scenes whose pictures the README shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What the page is looked at on."""

    width: int
    height: int
    sharp: float = 1.0
    """Pixels of a picture for one of the page."""


SCREENS = (Screen(width=1440, height=900), Screen(width=1024, height=768), Screen(width=390, height=780))
"""A desk, a tablet or a half of a screen, a telephone."""
PRINTED = Screen(width=1200, height=780, sharp=1.5)
"""For the README: sharp on most screens, and still small."""


def seed(octavo: Octavo) -> str:
    """Store the conversations, compress one, and have its last question answered; gives its id."""
    for title in OTHERS:
        octavo.conversation("u: Hello", title=title)
    id = told(octavo)
    octavo.patch(
        f"conversations/{id}/settings", {"system": "You help a bookseller. Be brief and exact.", "soft": 0.75}
    )
    octavo.post_stream(f"conversations/{id}/compressions", {"keep": KEPT})
    assert octavo.get(f"conversations/{id}/snapshots")["serving"], "the conversation could not be compressed"
    octavo.post_stream(f"conversations/{id}/turns", {"content": SAID["question"]})
    return id


@dataclass(frozen=True, slots=True, kw_only=True)
class Studio:
    """Where pictures are taken."""

    browser: Browser
    octavo: Octavo
    upstream: Upstream
    id: str

    @contextmanager
    def scene(self, name: str, screen: Screen) -> Iterator[Page]:
        """Set a scene on a page of its own; what it stored is deleted afterwards."""
        kept = {one["id"] for one in self.octavo.get("conversations")["conversations"]}
        self.upstream.reset()
        self.upstream.say = answer
        context = self.browser.new_context(
            base_url=self.octavo.url,
            viewport={"width": screen.width, "height": screen.height},
            device_scale_factor=screen.sharp,
            locale="en-GB",
            reduced_motion="reduce",
        )
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        try:
            SCENES[name](Place(page=page, octavo=self.octavo, upstream=self.upstream, id=self.id))
            yield page
        finally:
            context.close()
            for one in self.octavo.get("conversations")["conversations"]:
                if one["id"] not in kept:
                    self.octavo.delete(f"conversations/{one['id']}")


def take(studio: Studio, names: list[str], folder: Path) -> list[str]:
    """Take every picture: each scene on every screen, in light and in dark; gives what axe finds fault with."""
    faults: list[str] = []
    for name in names:
        for screen in SCREENS:
            with studio.scene(name, screen) as page:
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme=scheme)
                    file = folder / f"{name}-{screen.width}-{scheme}.png"
                    page.screenshot(path=file, animations="disabled", caret="hide")
                try:
                    check_barriers(page)
                except AssertionError as error:
                    faults.append(f"{name}, {screen.width} pixels wide, {error}")
        print(name, flush=True)
    return faults


def take_shown(studio: Studio) -> None:
    """Renew the pictures of the README."""
    for name in SHOWN:
        with studio.scene(name, PRINTED) as page:
            page.screenshot(path=DOCS / f"{name}.png", animations="disabled", caret="hide")


@contextmanager
def studio() -> Iterator[Studio]:
    """Start a provider, a server with its conversations, and a browser."""
    found = get_browser()
    if found is None:
        sys.exit("no browser: install chromium")
    expect.set_options(timeout=PATIENCE)
    with (
        tempfile.TemporaryDirectory() as place,
        running(Upstream()) as upstream,
        sync_playwright() as playwright,
    ):
        upstream.say = answer
        octavo = Octavo(Path(place), upstream.url, OCTAVO_SUMMARISER="same")
        try:
            octavo.start()
            browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
            yield Studio(browser=browser, octavo=octavo, upstream=upstream, id=seed(octavo))
            browser.close()
        finally:
            octavo.kill()


def main() -> None:
    asked = argparse.ArgumentParser(description="Make pictures of every page and dialog.")
    asked.add_argument("folder", nargs="?", type=Path, default=Path("screenshots"), help="where they go")
    asked.add_argument("--only", nargs="+", choices=list(SCENES), default=list(SCENES), metavar="SCENE")
    asked.add_argument("--docs", action="store_true", help="renew the pictures of the README instead")
    given = asked.parse_args()
    with studio() as made:
        if given.docs:
            take_shown(made)
        else:
            given.folder.mkdir(parents=True, exist_ok=True)
            if faults := take(made, given.only, given.folder):
                sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
