"""The API under `/api/v1`: one module for each kind of thing. A route checks, asks the engine and shows the result."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from octavo.server.schemas.base import ErrorOut

ERRORS: dict[int | str, dict[str, Any]] = {"default": {"model": ErrorOut, "description": "Every error."}}
API = "/api/v1"


def router(tag: str, prefix: str = "") -> APIRouter:
    """Make a router whose routes document their errors."""
    return APIRouter(prefix=API + prefix, tags=[tag], responses=ERRORS)
