"""The web page at `/`: the built one of the package, or a short page that says where the API is."""

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
    """Serve the page at `/` and at all paths that nothing else serves."""
    if (folder / "index.html").is_file():
        app.frontend("/", directory=str(folder), fallback="index.html")
        return

    @app.get("/", include_in_schema=False)
    async def plain() -> Response:
        return HTMLResponse(PLAIN)
