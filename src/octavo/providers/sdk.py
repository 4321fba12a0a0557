"""The services' own libraries, imported only when one is used.

A library that is not installed is the user's to install: the error names the extra that brings it.
"""

from __future__ import annotations

import importlib
import importlib.util
import threading
import warnings
from types import ModuleType

from octavo.core.json_values import JsonObject, parse
from octavo.errors import BadInput, UsageError

_imported: dict[str, ModuleType] = {}
_importing = threading.Lock()


def is_installed(module: str) -> bool:
    """Tell whether a library is there, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def demand(module: str, extra: str) -> ModuleType:
    """Import a library, or say how to get it."""
    if module in _imported:
        return _imported[module]
    if not is_installed(module):
        raise UsageError(f"the package {module!r} is not installed; {remedy(extra)}")
    # One at a time: `sys.modules` also holds what another thread has only begun to import.
    with _importing, warnings.catch_warnings():
        # Compiling google-genai for the first time warns about backslashes in its own documentation.
        warnings.filterwarnings("ignore", message="invalid escape sequence")
        return _imported.setdefault(module, importlib.import_module(module))


def remedy(extra: str) -> str:
    """Say how to get what an extra brings."""
    return f"run: pip install 'octavo[{extra}]'"


def read_options(options: str) -> JsonObject:
    """Read a request's further parameters; raise `BadInput` unless they are an object."""
    try:
        value = parse(options)
    except ValueError as error:
        raise BadInput("options", f"expected a JSON object: {error}") from None
    if not isinstance(value, dict):
        raise BadInput("options", f"expected a JSON object, got {type(value).__name__}")
    return value
