"""Writes the web chat's types from the description of the interface: `python -m scripts.web_types`.

Only shapes count: wording is left out, so that a better sentence in a docstring changes nothing here. The digest in
the first line lets a test notice without Node that the types are out of date.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import tempfile
from pathlib import Path
from typing import Any

from octavo.engine.settings import SETTINGS
from octavo.server.app import create_app
from octavo.server.config import ServerSettings

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "web" / "src" / "api" / "schema.ts"
SETTINGS_TARGET = ROOT / "web" / "src" / "api" / "settings.ts"
WORDING = ("description", "summary", "title", "examples")


def shapes(value: Any) -> Any:
    """Leave out the wording; a property that has such a name is described by an object and stays."""
    if isinstance(value, dict):
        kept = {
            k: v for k, v in value.items() if not (k in WORDING and isinstance(v, str | list)) and k != "info"
        }
        return {key: shapes(item) for key, item in sorted(kept.items())}
    return [shapes(item) for item in value] if isinstance(value, list) else value


def document() -> str:
    """Give the description of the interface, without its wording."""
    described = shapes(create_app(ServerSettings()).openapi())
    described["info"] = {"title": "Octavo", "version": "1"}
    return json.dumps(described, sort_keys=True)


def first_line(document: str) -> str:
    """Give the line that says what the types were made from."""
    digest = hashlib.sha256(document.encode()).hexdigest()
    return f"// Made by `python -m scripts.web_types` from the OpenAPI document {digest}; do not edit.\n"


def settings_module() -> str:
    """Give the table of settings as the page's form reads it."""
    rows = [
        {
            "name": one.name,
            "label": one.label,
            "meaning": one.meaning,
            "kind": one.kind,
            "group": one.group,
            "choices": list(one.choices),
            "levels": list(one.levels),
            "advanced": one.advanced,
        }
        for one in SETTINGS.values()
    ]
    table = json.dumps(rows, indent=2, ensure_ascii=False)
    return (
        "// Made by `python -m scripts.web_types` from the table of settings; do not edit.\n\n"
        f"export const SETTINGS = {table} as const;\n"
    )


def main() -> None:
    SETTINGS_TARGET.write_text(settings_module(), "utf-8")
    described = document()
    spec = importlib.util.spec_from_file_location("web_build", ROOT / "web" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    build.install()
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "openapi.json", Path(folder) / "schema.ts"
        source.write_text(described, "utf-8")
        build.run_npm("exec", "--", "openapi-typescript", str(source), "--output", str(made))
        TARGET.write_text(first_line(described) + made.read_text("utf-8"), "utf-8")


if __name__ == "__main__":
    main()
