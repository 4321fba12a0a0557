"""A server as a process of its own, for tests that kill it.

`python -m tests.server.replica DB PORT UPSTREAM SUMMARISER`
"""

from __future__ import annotations

import sys
from dataclasses import replace

from octavo.server.config import Limits, ServerSettings
from octavo.server.run import serve
from tests.server.kit import accounts


def main() -> None:
    db, port, upstream, summariser = sys.argv[1:5]
    settings = ServerSettings(
        db=db,
        port=int(port),
        model="gpt-4-0613",
        summariser=summariser,
        providers=accounts(upstream),
        limits=replace(Limits(), grace_seconds=5.0),
    )
    serve(settings)


if __name__ == "__main__":
    main()
