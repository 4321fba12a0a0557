"""Real models for tests: fetched once per machine into the user's cache, or skipped, loudly."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from octavo.errors import OctavoError
from octavo.providers.embedded import lacking_features
from octavo.providers.fetch import install_model
from octavo.providers.model_files import ModelFile
from octavo.providers.sdk import is_installed
from octavo.providers.settings import cache_folder

CACHE = cache_folder(os.environ)
FETCH_LARGE = "OCTAVO_TEST_FETCH"
"""Set, also the larger models are fetched for tests; otherwise they are used where they are already."""
SMALL = 100_000_000
"""Bytes: what a test run may fetch without being asked."""


def real_model(model: ModelFile) -> Path:
    """Give a model's file; skip the test if it cannot be had here."""
    if not is_installed("xllamacpp"):
        pytest.skip("NOT TESTED with a real model: the package 'xllamacpp' is not installed")
    if lacking := lacking_features():
        pytest.skip(f"NOT TESTED with a real model: this processor lacks {', '.join(lacking)}")
    if not model.is_installed(CACHE) and model.size > SMALL and FETCH_LARGE not in os.environ:
        pytest.skip(f"NOT TESTED with {model.title}: not on this machine; set {FETCH_LARGE}=1 to fetch it")
    try:
        return install_model(model, cache=CACHE)
    except OctavoError as error:
        pytest.skip(f"NOT TESTED with {model.title}: {error}")
