"""The guides of docs/integrations.md, one for each framework, as programs."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"
TITLES = {
    "langchain": "LangChain and LangGraph",
    "openai-agents": "OpenAI Agents",
    "pydantic-ai": "Pydantic AI",
    "litellm": "LiteLLM",
    "google-adk": "Google ADK",
    "llama-index": "LlamaIndex",
}
"""The headings of the guides, by the name of the extra."""


def guide(name: str) -> str:
    """Give the program of a guide."""
    page = PAGE.read_text("utf-8")
    section = page.partition(f"\n## {TITLES[name]}\n")[2].partition("\n## ")[0]
    program = section.partition("```python no-run\n")[2].partition("\n```")[0]
    assert program, f"there is no program for {name} in {PAGE.name}"
    return program
