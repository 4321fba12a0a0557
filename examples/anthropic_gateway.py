"""Anthropic's SDK through the gateway, streaming; count_tokens answers too.

Start `octavo serve` first. `OCTAVO_URL` is its address, `OCTAVO_KEY` a key if it wants one.
"""

from __future__ import annotations

import os
import sys

from anthropic import Anthropic

URL = os.environ.get("OCTAVO_URL", "http://127.0.0.1:8765")
MODEL = os.environ.get("MODEL", "claude-sonnet-4-5")
SYSTEM = "You keep a harbour's log. Answer in one line."


def main(turns: int) -> None:
    client = Anthropic(base_url=URL, api_key=os.environ.get("OCTAVO_KEY", "none"))
    history: list[dict[str, str]] = []
    for n in range(turns):
        report = f"Ship {n} lies at berth {n % 12}; its papers are in /archive/{2000 + n}.pdf. " * 12
        history.append({"role": "user", "content": report})
        counted = client.messages.count_tokens(model=MODEL, system=SYSTEM, messages=history)
        with client.messages.stream(model=MODEL, max_tokens=200, system=SYSTEM, messages=history) as stream:
            text = stream.get_final_text()
        history.append({"role": "assistant", "content": text})
        print(f"turn {n + 1}: {counted.input_tokens} tokens of history, answered: {text[:40]}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
