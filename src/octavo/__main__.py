"""The program `octavo`, also as `python -m octavo`. Ctrl-C ends it quietly, also while it is still being loaded."""

import sys

STOPPED = 130
"""Exit code of what Ctrl-C ended: 128, and the number of the signal."""


def main() -> None:
    """Load the command line, and run it."""
    try:
        from octavo.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(STOPPED)


if __name__ == "__main__":
    main()
