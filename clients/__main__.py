"""`python -m clients`: run real clients through the gateway, one after the other, and print a table.

One that fails stops no other; the exit code is 1 if any did.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from clients.entries import CLIENTS
from clients.entry import Client
from clients.install import InstallFailed
from clients.run import Result, run_client

COLUMNS = (
    "client",
    "version",
    "interface",
    "window",
    "requests",
    "compressions",
    "errors",
    "refused, mended",
    "trees",
    "unchanged prefix",
    "client's own",
    "mean fill",
    "",
)


def row(result: Result) -> tuple[str, ...]:
    """One line of the table."""
    return (
        result.client,
        result.version,
        result.dialect,
        f"{result.window:,}",
        str(result.requests),
        str(result.compressions),
        str(result.errors),
        str(result.refused),
        str(result.trees),
        f"{result.unchanged:.3f}",
        f"{result.own:.3f}",
        f"{result.fill:.0%}",
        "FAILED" if result.problems else "ok",
    )


def table(results: list[Result]) -> str:
    """All results, in Markdown."""
    lines = [COLUMNS, *map(row, results)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = tuple("-" * width for width in widths)
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in (lines[0], rule, *lines[1:])
    )


async def run_one(client: Client, *, fresh: bool, keep: Path | None) -> Result:
    """Run a client; whatever happens to it is its result."""
    print(f"{client.name}: {client.spoken}, window {client.window:,} ...", flush=True)
    begun = time.monotonic()
    try:
        result = await run_client(client, fresh=fresh, keep=keep)
    except InstallFailed as failed:
        result = Result(client=client.name, dialect=client.spoken, problems=[f"not installed: {failed}"])
    except Exception as failed:  # noqa: BLE001  one client must not stop the others
        result = Result(client=client.name, dialect=client.spoken, problems=[f"{failed!r}"])
    took = time.monotonic() - begun
    print(
        f"  {result.version}: {result.requests} requests, {result.compressions} compressions, {took:.0f} s",
        flush=True,
    )
    for note in result.notes:
        print(f"  note: {note}", flush=True)
    for problem in result.problems:
        print(f"  PROBLEM: {problem}", flush=True)
    return result


def main() -> int:
    """Run what the command line names."""
    names = [client.name for client in CLIENTS]
    parser = argparse.ArgumentParser(prog="python -m clients", description=__doc__)
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--fresh", action="store_true", help="install the newest versions again")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write all requests and outputs there")
    asked = parser.parse_args()
    results = []
    for client in CLIENTS:
        if client.name not in asked.only if asked.only else client.off:
            if not asked.only:
                print(f"{client.name}: not run: {client.off}", flush=True)
            continue
        results.append(asyncio.run(run_one(client, fresh=asked.fresh, keep=asked.keep)))
    print("\n" + table(results))
    return any(result.problems for result in results)


if __name__ == "__main__":
    sys.exit(main())
