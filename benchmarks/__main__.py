"""`python -m benchmarks [PART ...]` is `octavo bench`."""

from __future__ import annotations

import sys

from octavo.cli.main import main

if __name__ == "__main__":
    main(["bench", *sys.argv[1:]])
