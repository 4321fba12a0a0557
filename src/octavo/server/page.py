"""The web page at `/`: the built one of the package, or a short page that says where the API is.

Scripts and styles are named after what is in them, so a browser keeps them for good, and they are sent compressed.
"""

from __future__ import annotations

import asyncio
import gzip
import mimetypes
from functools import lru_cache
from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

WEB = Path(__file__).parent / "static"
FOR_GOOD = "public, max-age=31536000, immutable"
COMPRESSED = (".js", ".css", ".svg", ".json", ".map")
"""Endings of what gets smaller; fonts and pictures are compressed already."""
KEPT = 100
"""Compressed files in memory: more than a build has."""
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
        _add_assets(app, folder / "assets")
        app.frontend("/", directory=str(folder), fallback="index.html")
        return

    @app.get("/", include_in_schema=False)
    async def plain() -> Response:
        return HTMLResponse(PLAIN)


def _add_assets(app: FastAPI, folder: Path) -> None:
    @app.api_route("/assets/{name}", methods=["GET", "HEAD"], include_in_schema=False)
    async def asset(name: str, request: Request) -> Response:
        path = folder / name
        if not path.is_file():
            raise HTTPException(404)
        headers = {"cache-control": FOR_GOOD}
        if path.suffix in COMPRESSED:
            headers["vary"] = "accept-encoding"
            if "gzip" in request.headers.get("accept-encoding", ""):
                headers["content-encoding"] = "gzip"
        content = await asyncio.to_thread(_content, path, compressed="content-encoding" in headers)
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Response(content, media_type=kind, headers=headers)


@lru_cache(KEPT)
def _content(path: Path, *, compressed: bool) -> bytes:
    content = path.read_bytes()
    return gzip.compress(content, mtime=0) if compressed else content
