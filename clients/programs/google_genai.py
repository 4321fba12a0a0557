"""Google's Python library: every other turn is streamed, signatures of thoughts are sent back."""

import os
from typing import Any

from google import genai
from google.genai import types
from plan import GATEWAY, MODEL, SYSTEM, converse, log

client = genai.Client(api_key=os.environ["GEMINI_API_KEY"], http_options=types.HttpOptions(base_url=GATEWAY))
NUMBER: Any = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
TOOL = types.FunctionDeclaration(name="read_log", description="Read a log.", parameters_json_schema=NUMBER)
CONFIG = types.GenerateContentConfig(
    system_instruction=SYSTEM,
    tools=[types.Tool(function_declarations=[TOOL])],
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    max_output_tokens=400,
)


def answer(contents: list[Any], *, stream: bool) -> types.Content:
    asked: Any = {"model": MODEL, "contents": contents, "config": CONFIG}
    if not stream:
        return client.models.generate_content(**asked).candidates[0].content
    pieces = [piece.candidates[0].content for piece in client.models.generate_content_stream(**asked)]
    return types.Content(role="model", parts=[part for piece in pieces for part in piece.parts or []])


def ask(history: list[Any], question: str) -> list[Any]:
    history.append(types.UserContent(question))
    while True:
        content = answer(history, stream=len(question) % 2 == 0)
        history.append(content)
        calls = [part.function_call for part in content.parts if part.function_call]
        if not calls:
            return history
        history.append(
            types.UserContent(
                [
                    types.Part.from_function_response(
                        name=call.name, response={"log": log(call.args["number"])}
                    )
                    for call in calls
                ]
            )
        )


converse(ask)
