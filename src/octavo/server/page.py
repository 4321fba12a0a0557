"""The web page at `/`: the built one that comes with the package, or a line that says where the interface is."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from starlette.responses import HTMLResponse, Response

WEB = Path(__file__).parent / "static"
PLAIN = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Octavo</title>
<h1>Octavo</h1>
<p>The web chat was not built into this installation (<code>make web</code> builds it). The interface is at
<code>/api/v1</code> and described by <a href="/openapi.json">/openapi.json</a>;
existing clients use <code>/v1</code> as their base URL.</p>
</html>
"""


def add_page(app: FastAPI, folder: Path = WEB) -> None:
    """Serve the page; unknown paths lead to it too, for people."""
    if (folder / "index.html").is_file():
        app.frontend("/", directory=str(folder), fallback="index.html")
        return

    @app.get("/", include_in_schema=False)
    async def plain() -> Response:
        return HTMLResponse(PLAIN)
