"""Extracts: verbatim lines that later turns will need, chosen from covered messages by code.

`extract` chooses, `render` writes what was chosen, `parse` reads it back. Everything is a function of its arguments:
the same messages give the same extracts on every machine. Extracts are always chosen from the originals, so
compressing again does not erode them.
"""

from octavo.core.extract.fit import extract
from octavo.core.extract.render import parse, render
from octavo.core.extract.units import Analysis, Unit, analyse, analyse_all
from octavo.core.snapshot import Extract, Extracts

__all__ = ["Analysis", "Extract", "Extracts", "Unit", "analyse", "analyse_all", "extract", "parse", "render"]
