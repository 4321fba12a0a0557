"""Pages and dialogs that no other test looks through for barriers, on a wide and on a narrow screen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from scripts.scenes import SCENES, Place, answer
from scripts.screenshots import seed
from tests.web.conftest import Audit, Watch
from tests.web.serving import Octavo
from tests.web.upstream import Upstream

WIDE, NARROW = 1440, 390
LOOKED_AT = (
    ("attached", NARROW),
    ("branches", NARROW),
    ("cut-off", WIDE),
    ("deleted", WIDE),
    ("edited", NARROW),
    ("find", NARROW),
    ("imported", WIDE),
    ("left-behind", NARROW),
    ("long-paste", NARROW),
    ("menu", WIDE),
    ("missing-models", NARROW),
    ("offline", WIDE),
    ("receipt", NARROW),
    ("sample-lines", NARROW),
    ("settings-unfolded", NARROW),
    ("tools", WIDE),
    ("undone", NARROW),
)


@pytest.fixture(scope="module")
def server(provider: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Octavo]:
    """A server whose chat model also summarizes."""
    started = Octavo(tmp_path_factory.mktemp("scenes"), provider.url, OCTAVO_SUMMARISER="same")
    try:
        started.start()
        yield started
    finally:
        started.kill()


@pytest.mark.parametrize(("name", "width"), LOOKED_AT)
def test_a_scene_has_no_barriers(
    page: Page, octavo: Octavo, upstream: Upstream, audit: Audit, watch: Watch, name: str, width: int
) -> None:
    watch.forgive("ERR_INTERNET_DISCONNECTED", "404", "410")
    upstream.say = answer
    id = seed(octavo)
    page.set_viewport_size({"width": width, "height": 800})
    SCENES[name](Place(page=page, octavo=octavo, upstream=upstream, id=id))
    audit(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
