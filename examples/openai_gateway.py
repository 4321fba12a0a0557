"""OpenAI's SDK through the gateway: the client sends its whole history each time, and it always fits.

Start `octavo serve` first. `OCTAVO_URL` is its address, `OCTAVO_KEY` a key if it wants one.
"""

from __future__ import annotations

import os
import sys

from openai import OpenAI

URL = os.environ.get("OCTAVO_URL", "http://127.0.0.1:8765")
MODEL = os.environ.get("MODEL", "gpt-4o")


def main(turns: int) -> None:
    client = OpenAI(base_url=f"{URL}/v1", api_key=os.environ.get("OCTAVO_KEY", "none"))
    history = [{"role": "system", "content": "You keep a harbour's log. Answer in one line."}]
    for n in range(turns):
        report = f"Ship {n} lies at berth {n % 12}; its papers are in /archive/{2000 + n}.pdf. " * 12
        history.append({"role": "user", "content": report})
        answer = client.chat.completions.with_raw_response.create(model=MODEL, messages=history)
        reply = answer.parse().choices[0].message
        history.append({"role": "assistant", "content": reply.content or ""})
        before, after = (answer.headers[f"x-octavo-tokens-{when}"] for when in ("before", "after"))
        folded = " (folded)" if answer.headers["x-octavo-compressed"] == "true" else ""
        print(f"turn {n + 1}: the client sent {before} tokens, the model got {after}{folded}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
