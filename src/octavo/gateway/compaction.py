"""Compactions that Octavo makes, for clients of Responses whose provider makes none.

Such a compaction is a reference: it names the stored message up to which it stands for the conversation. Read again, it
is that branch with its snapshot, so nothing is lost by it, and the tree goes on where it was. It is worth nothing to
another owner.
"""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import replace

from starlette.datastructures import Headers
from starlette.responses import Response

from octavo.core.json_values import JsonObject
from octavo.core.reply import Usage
from octavo.engine.compression import CompressionRequest
from octavo.engine.state import TipState
from octavo.errors import NotFound
from octavo.gateway.continued import continue_branch, remember_response
from octavo.gateway.dialects.dialect import ClientRequest
from octavo.gateway.dialects.responses import OWN, RESPONSES, TRIGGER, items_of, kind_of
from octavo.gateway.fit import load_vocabulary, request_context, settings_for
from octavo.gateway.gateway import Gateway
from octavo.gateway.identify import identify
from octavo.gateway.save import SavedRequest, save_request
from octavo.gateway.translate.answers import Answer, response_object, responses_usage
from octavo.gateway.translate.translator import NOTHING
from octavo.http.caller import Caller
from octavo.http.responses import EVENTS, STREAM_HEADERS, json_response, to_json
from octavo.store.ids import new_id


def asks_for_compaction(request: ClientRequest) -> bool:
    """Tell whether a request asks for a compaction in place of an answer."""
    items = items_of(request.body)
    return request.tracked and bool(items) and kind_of(items[-1]) == TRIGGER


def without_trigger(request: ClientRequest, headers: Headers) -> ClientRequest:
    """Read the request again without the item that asks for a compaction."""
    kept = [item for item in items_of(request.body) if kind_of(item) != TRIGGER]
    read = RESPONSES.read(to_json({**request.body, "input": kept}), headers)
    return replace(read, model=request.model)


async def answer_trigger(
    gateway: Gateway, caller: Caller, request: ClientRequest, headers: Headers
) -> Response:
    """Answer a request that ends in a trigger: the only item of the answer is a compaction."""
    item, before, after, saved = await _compact(gateway, caller, without_trigger(request, headers))
    usage = Usage(input=before, output=after)
    answer = Answer(
        id=new_id(),
        model=request.asked,
        message=NOTHING,
        finish="stop",
        usage=usage,
        request=request.body,
    )
    response = response_object(answer, [item])
    await remember_response(
        gateway,
        caller.owner,
        str(response["id"]),
        conversation=saved.branch.conversation,
        model=request.model,
        node=saved.tip,
        ours=True,
    )
    if not request.stream:
        return json_response(response)
    begun = response_object(answer, [], running=True)
    steps: list[tuple[str, JsonObject]] = [
        ("response.created", {"response": begun}),
        ("response.in_progress", {"response": begun}),
        ("response.output_item.added", {"output_index": 0, "item": item}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": response}),
    ]
    body = b"".join(
        b"event: %s\ndata: %s\n\n"
        % (kind.encode(), to_json({"type": kind, "sequence_number": number, **fields}))
        for number, (kind, fields) in enumerate(steps)
    )
    return Response(body, headers={**STREAM_HEADERS, "content-type": EVENTS})


async def answer_compact(gateway: Gateway, caller: Caller, request: ClientRequest) -> Response:
    """Answer `/responses/compact`."""
    item, before, after, _ = await _compact(gateway, caller, request)
    return json_response(
        {
            "id": f"resp_{new_id()}",
            "object": "response.compaction",
            "created_at": int(time.time()),
            "output": [item],
            "usage": responses_usage(Usage(input=before, output=after)),
        }
    )


async def _compact(
    gateway: Gateway, caller: Caller, request: ClientRequest
) -> tuple[JsonObject, int, int, SavedRequest]:
    """Store a request and compress its branch; give the compaction, the tokens before and after, and where it is."""
    request = await continue_branch(gateway, caller.owner, request)
    if not request.tracked:
        raise NotFound("the previous response is not known here, so there is nothing to compact")
    meter = await load_vocabulary(await gateway.engine.models.meter(request.model))
    branch = await identify(gateway, caller.owner, request)
    branch = await identify(gateway, caller.owner, request, branch)
    settings = await settings_for(gateway, request, branch)
    saved = await save_request(gateway, caller.owner, request, branch, RESPONSES.name, meter)
    engine, conversation = gateway.engine, saved.branch.conversation

    async def load() -> TipState:
        return await engine.state_of(conversation, saved.tip, tools=request.tools, override=settings)

    # What is prepared in the background would make this one give way.
    await engine.wait_until_idle(conversation)
    state = await load()
    wanted = CompressionRequest(urgency="manual", kind="manual", focus=request.options.focus)
    async with aclosing(engine.run_compression(state, wanted)) as steps:
        async for step in steps:
            gateway.host.announce(conversation, step)
    item: JsonObject = {"id": f"cmp_{saved.tip}", "type": "compaction", "encrypted_content": OWN + saved.tip}
    before = meter.read(request_context(request)).tokens
    return item, before, (await load()).reading.tokens, saved
