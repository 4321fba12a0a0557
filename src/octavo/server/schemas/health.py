"""Schemas of health and readiness."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from octavo.server.schemas.base import Shape


class HealthOut(Shape):
    status: Literal["ok"]
    version: str


class ReadyOut(Shape):
    status: Literal["ready"]
    database: str
    read_only: bool = Field(description="Whether the database is open for reading only.")
