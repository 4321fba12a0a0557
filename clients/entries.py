"""Every client that is run: a new one is an entry here, and a program in `programs/` if it is a library."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from clients.entry import Client
from octavo.providers.model_files import DEFAULT as SMALL_MODEL
from octavo.providers.settings import cache_folder

GPT, CLAUDE = "gpt-4-0613", "claude-3-haiku"
LITELLM = "litellm[mcp]"
"""Its completions with tools import `mcp`, which it installs with this extra only (1.106)."""

OPENAI = Client(
    name="openai",
    registry="pypi",
    packages=("openai",),
    dialect="chat",
    model=GPT,
    window=8_192,
    program="openai_chat.py",
)
RESPONSES = replace(
    OPENAI, name="openai-responses", dialect="responses", thinking=True, program="openai_responses.py"
)
ANTHROPIC = Client(
    name="anthropic",
    registry="pypi",
    packages=("anthropic",),
    dialect="anthropic",
    model=CLAUDE,
    window=12_000,
    program="anthropic_messages.py",
    thinking=True,
)
GEMINI = Client(
    name="google-genai",
    registry="pypi",
    packages=("google-genai",),
    dialect="gemini",
    model="gemini-2.5-flash",
    window=8_192,
    program="google_genai.py",
)
VERCEL = Client(
    name="vercel-chat",
    registry="npm",
    packages=("ai", "@ai-sdk/openai", "@ai-sdk/anthropic", "zod"),
    dialect="chat",
    model=GPT,
    window=8_192,
    program="vercel.mjs",
    env={"DIALECT": "chat"},
)

LIBRARIES = (
    OPENAI,
    RESPONSES,
    replace(RESPONSES, name="openai-responses-chained", env={"STYLE": "chained"}),
    ANTHROPIC,
    GEMINI,
    replace(
        OPENAI, name="langchain", packages=("langchain", "langchain-openai"), program="langchain_agent.py"
    ),
    replace(OPENAI, name="pydantic-ai", packages=("pydantic-ai-slim[openai]",), program="pydantic_agent.py"),
    replace(
        OPENAI,
        name="openai-agents",
        packages=("openai-agents",),
        program="agents_sdk.py",
        env={"OPENAI_AGENTS_DISABLE_TRACING": "1", "DIALECT": "chat"},
    ),
    replace(
        RESPONSES,
        name="openai-agents-responses",
        packages=("openai-agents",),
        program="agents_sdk.py",
        env={"OPENAI_AGENTS_DISABLE_TRACING": "1", "DIALECT": "responses"},
    ),
    replace(
        OPENAI,
        name="litellm",
        packages=(LITELLM,),
        program="litellm_chat.py",
        env={"LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    ),
    replace(OPENAI, name="strands", packages=("strands-agents[openai]",), program="strands_agent.py"),
    replace(
        OPENAI,
        name="haystack",
        packages=("haystack-ai",),
        program="haystack_agent.py",
        env={"HAYSTACK_TELEMETRY_ENABLED": "False"},
    ),
    replace(
        OPENAI,
        name="crewai",
        packages=("crewai",),
        program="crewai_agent.py",
        env={"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"},
    ),
    replace(OPENAI, name="agno", packages=("agno", "openai", "sqlalchemy"), program="agno_agent.py"),
    replace(
        OPENAI,
        name="smolagents",
        packages=("smolagents[openai]",),
        program="smolagents_agent.py",
        last_call=("final_answer", {"answer": "All valves are within their limits."}),
    ),
    replace(OPENAI, name="npm-openai", registry="npm", program="openai_chat.mjs"),
    replace(
        ANTHROPIC,
        name="npm-anthropic",
        registry="npm",
        packages=("@anthropic-ai/sdk",),
        program="anthropic_messages.mjs",
    ),
    VERCEL,
    replace(
        VERCEL,
        name="vercel-responses",
        dialect="responses",
        thinking=True,
        env={"DIALECT": "responses"},
    ),
    replace(
        VERCEL,
        name="vercel-anthropic",
        dialect="anthropic",
        model=CLAUDE,
        window=16_000,
        env={"DIALECT": "anthropic"},
    ),
)

TASK = "Read the logs of this folder one after the other and tell me which valve reads most."
ON = "Go on with the logs you have not read yet, and then with those that changed."


def aider_answer(number: int) -> str:
    """An answer with an edit in the format that aider asks for."""
    edit = f"<<<<<<< SEARCH\n=======\nNote {number}: all valves are within their limits.\n>>>>>>> REPLACE"
    why = "It is needed for the report. " * 30
    return f"I add a line for part {number}. {why}\n\nnote{number}.txt\n```\n{edit}\n```\n"


CODEX_SETTINGS = """
model = "{model}"
model_provider = "octavo"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.octavo]
name = "octavo"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"""
OPENCODE_SETTINGS = """{
  "$schema": "https://opencode.ai/config.json",
  "model": "octavo/{model}",
  "small_model": "octavo/{model}",
  "autoupdate": false,
  "share": "disabled",
  "provider": {
    "octavo": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "octavo",
      "options": { "baseURL": "{url}/v1", "apiKey": "{key}" },
      "models": { "{model}": { "limit": { "context": 1000000, "output": 2000 } } }
    }
  },
  "permission": { "*": "allow" }
}
"""

CLAUDE_CODE = Client(
    name="claude-code",
    registry="npm",
    packages=("@anthropic-ai/claude-code",),
    dialect="anthropic",
    model="claude-sonnet-4-5",
    window=48_000,
    commands=(
        ("{bin}/claude", "-p", TASK, "--model", "{model}", "--allowedTools", "Bash,Read"),
        ("{bin}/claude", "-p", ON, "--continue", "--model", "{model}", "--allowedTools", "Bash,Read"),
    ),
    env={
        "ANTHROPIC_BASE_URL": "{url}",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    },
    steps=100,
    thinking=True,
    reserve_counts=False,
)
CLAUDE_CODE_MCP = replace(
    CLAUDE_CODE,
    name="claude-code-mcp",
    commands=(
        ("{bin}/claude", "-p", TASK, "--model", "{model}", "--allowedTools", "Bash,Read,mcp__octavo__recall"),
    ),
    env={**CLAUDE_CODE.env, "ENABLE_TOOL_SEARCH": "false"},  # else it hides tools until a model searches them
    mcp="claude-code",
    thinking=False,  # the tools come after its first request, so what is bound to that would be refused
    steps=60,
    least=60,
    compressions=1,
)
CODEX = Client(
    name="codex",
    registry="npm",
    packages=("@openai/codex",),
    dialect="responses",
    model="gpt-5",
    window=32_000,
    commands=(
        ("{bin}/codex", "exec", "--skip-git-repo-check", TASK),
        ("{bin}/codex", "exec", "--skip-git-repo-check", "resume", "--last", ON),
    ),
    files={".codex/config.toml": CODEX_SETTINGS},
    steps=100,
    thinking=True,
    trees=None,
)
AGENTS = (
    CLAUDE_CODE,
    CLAUDE_CODE_MCP,
    Client(
        name="opencode",
        registry="npm",
        packages=("opencode-ai",),
        dialect="chat",
        model="gpt-4o",
        window=16_000,
        commands=(
            ("{bin}/opencode", "run", TASK),
            ("{bin}/opencode", "run", "--continue", ON),
        ),
        env={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        files={".config/opencode/opencode.json": OPENCODE_SETTINGS},
        steps=100,
        trees=None,
    ),
    Client(
        name="mini-swe-agent",
        registry="pypi",
        packages=("mini-swe-agent", LITELLM),
        dialect="chat",
        model="gpt-4o",
        window=8_192,
        commands=(("{bin}/mini", "-y", "--exit-immediately", "-l", "0", "-m", "openai/{model}", "-t", TASK),),
        env={
            "OPENAI_API_BASE": "{url}/v1",
            "MSWEA_CONFIGURED": "true",
            "MSWEA_COST_TRACKING": "ignore_errors",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
        steps=210,
        last_call=("bash", {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}),
    ),
    Client(
        name="aider",
        registry="pypi",
        packages=("aider-chat",),
        dialect="chat",
        model="gpt-4o",
        window=8_192,
        commands=(
            (
                "{bin}/aider",
                *("--model", "openai/{model}", "--yes-always", "--no-git", "--no-pretty", "--no-fancy-input"),
                *("--no-check-update", "--analytics-disable", "--no-show-release-notes", "--no-detect-urls"),
                *("--no-show-model-warnings", "--map-tokens", "0", "--max-chat-history-tokens", "1000000"),
            ),
        ),
        env={"OPENAI_API_BASE": "{url}/v1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        stdin="".join(f"Write the note about part {number} of the plant.\n" for number in range(60)),
        steps=0,
        says=aider_answer,
        least=60,
        trees=2,  # its first request begins with words that no later one has
    ),
    CODEX,
    replace(CLAUDE_CODE, name="claude-code-on-gpt", upstream="chat", model="gpt-4o", thinking=False),
    replace(CODEX, name="codex-on-claude", upstream="anthropic", model="claude-sonnet-4-5"),
)

EMBEDDED = f"local/{SMALL_MODEL.name}"
BRIEFLY = (
    "Read log1.txt and tell me which valve reads most.",
    "And in log2.txt?",
    "Which of the two is higher?",
)
SMALL: Any = {
    "upstream": "embedded",
    "model": EMBEDDED,
    "window": 8_192,
    "thinking": False,
    "least": len(BRIEFLY),
    "compressions": 0,
    "trees": None,
    "off": ""
    if SMALL_MODEL.is_installed(cache_folder(os.environ))
    else f"octavo local install {SMALL_MODEL.name} is needed",
}
"""A small model decides for itself what it does. What is shown: its requests fit, and no client sees an error."""
ON_EMBEDDED = (
    replace(
        CLAUDE_CODE,
        name="claude-code-embedded",
        commands=tuple(
            (
                *("{bin}/claude", "-p", said, *(("--continue",) if number else ()), "--model", "{model}"),
                *("--tools", "Bash", "--allowedTools", "Bash", "--max-turns", "4"),
                *("--system-prompt", "Be brief."),
            )
            for number, said in enumerate(BRIEFLY)
        ),
        env={**CLAUDE_CODE.env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "300"},
        **SMALL,
    ),
    replace(
        CODEX,
        name="codex-embedded",
        commands=tuple(
            ("{bin}/codex", "exec", "--skip-git-repo-check", *(("resume", "--last") if number else ()), said)
            for number, said in enumerate(BRIEFLY)
        ),
        **SMALL,
    ),
)

CLIENTS = (*LIBRARIES, *AGENTS, *ON_EMBEDDED)
