"""The state of a tip: its gauge, the turn it is in, and what it becomes when a message is added."""

from __future__ import annotations

from dataclasses import replace

import pytest

from octavo.core.budget import Overhead, Reading
from octavo.core.messages import (
    Attachment,
    Image,
    Message,
    Node,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    system,
    user,
)
from octavo.core.price_rule import Habits
from octavo.core.protocol import OPENAI
from octavo.core.recall.passages import Passage
from octavo.core.recall.render import render
from octavo.engine.chat import Chat
from octavo.engine.outcome import Compressed
from octavo.engine.state import (
    FEW,
    FULL,
    MANY,
    NEAR,
    OUTPUT_CHARACTERS,
    OUTPUT_SHARE,
    TURNS_SEEN,
    TipState,
    _bounded,
    divided,
    grown,
    load_state,
    renewed,
)
from octavo.engine.state_cache import TipStateCache
from octavo.errors import BadBudget, ContextOverflow
from octavo.meters.meter import Meter
from tests.engine.conftest import METER, MODEL, MakeEngine

pytestmark = pytest.mark.anyio

UNIT = METER.unit.name


def call(id: str = "c1", name: str = "read") -> Message:
    return Message(role="assistant", parts=(ToolCall(id=id, name=name, input="{}"),))


def result(text: str, id: str = "c1") -> Message:
    return Message(role="tool", parts=(ToolResult(call_id=id, content=(Text(text=text),)),))


async def said(chat: Chat, *messages: Message) -> TipState:
    for message in messages:
        await chat.add(message)
    return await chat._state()


def next_to(state: TipState, message: Message, **changed: object) -> Node:
    """A message below the tip of a state, counted."""
    node = Node(
        id="next",
        parent=state.tip or None,
        depth=len(state.recipe.branch) + 1,
        message=message,
        counts={UNIT: METER.count_message(message)},
    )
    return replace(node, **changed)  # type: ignore[arg-type]


def turns(*numbers: int) -> list[Message]:
    """A question of one word, and an answer of so many."""
    return [message for words in numbers for message in (user("Why?"), assistant("word " * words))]


@pytest.mark.parametrize(
    ("share", "level"),
    [
        (NEAR - 0.01, "calm"),
        (NEAR, "soft"),
        (FULL - 0.01, "soft"),
        (FULL, "hard"),
    ],
)
async def test_the_gauge_warns_from_its_own_shares_on(make: MakeEngine, share: float, level: str) -> None:
    engine = await make(window=10_000)
    state = await said(await engine.create(), user("Hello."))
    # Marks out of the way, and a window that divides evenly.
    budget = replace(state.budget, reply=0, margin=0, soft=None, hard=10_000)
    usage = replace(state, budget=budget).gauge(Reading(tokens=round(share * 10_000)))
    assert (usage.level, usage.percent) == (level, 100 * share)
    assert usage.left == 10_000 - round(share * 10_000)


async def test_the_gauge_warns_above_the_marks_with_what_the_truth_may_lie_above(make: MakeEngine) -> None:
    """Seen failing with: a mark that warns when it is only reached."""
    engine = await make(window=10_000)
    state = await said(await engine.create(), user("Hello."))
    budget = replace(state.budget, reply=0, margin=0, retained=100, snapshot=100, soft=4_000, hard=5_000)
    state = replace(state, budget=budget)

    def level(tokens: int, bound: int = 0) -> str:
        return state.gauge(Reading(tokens=tokens, error_bound=bound)).level

    assert [level(4_000), level(4_001), level(5_000), level(5_001)] == ["calm", "soft", "soft", "hard"]
    assert [level(3_000, 1_000), level(3_000, 1_001), level(3_000, 2_001)] == ["calm", "soft", "hard"]
    assert state.gauge(Reading(tokens=3_000, error_bound=200)).next_in == 800


async def test_turns_that_are_left_follow_the_last_few(make: MakeEngine) -> None:
    """Seen failing with: the mean of all turns; the tokens of the last turn alone."""
    engine = await make(window=100_000)
    chat = await engine.create()
    long, short = [400, 900], [10 * n for n in range(1, TURNS_SEEN + 1)]
    state = await said(chat, *turns(*long, *short))
    sizes = [METER.count_message(message) for message in turns(*short)]
    usage = state.usage
    assert usage.turns == usage.next_in // (sum(sizes) // TURNS_SEEN)

    failed = replace(state.loaded.branch[-1], status="error")
    without = replace(state, loaded=replace(state.loaded, branch=(*state.loaded.branch[:-1], failed)))
    one_less = (sum(sizes) - sizes[-1]) // TURNS_SEEN
    assert without.usage.turns == usage.next_in // one_less


async def test_turns_that_are_covered_say_nothing_of_the_next(make: MakeEngine) -> None:
    engine = await make(window=100_000)
    chat = await engine.create()
    for n in range(20):
        await said(
            chat, user(f"Which port has service {n}?"), assistant(f"Service {n} has port {8_000 + n}. " * 5)
        )
    await said(chat, *turns(50))
    assert isinstance(await chat.compress(keep=60), Compressed)
    state = await chat._state()
    assert [node.depth for node in state.recipe.retained] == [41, 42]
    last = sum(METER.count_message(message) for message in turns(50))
    assert state.usage.turns == state.usage.next_in // last


async def test_a_turn_is_named_by_the_user_s_message_that_opened_it(make: MakeEngine) -> None:
    engine = await make()
    chat = await engine.create()
    await said(chat, *turns(1, 1))
    opened = await chat.add("And the log?")
    state = await said(chat, call(), result("42"))
    assert state.turn == opened.id
    failed = tuple(
        replace(node, status="error") if node.id == opened.id else node for node in state.recipe.branch
    )
    before = state.recipe.branch[2].id
    assert replace(state, loaded=replace(state.recipe, branch=failed), added=()).turn == before


async def test_the_first_turn_counts_from_its_first_message_on(make: MakeEngine) -> None:
    chat = await (await make()).create()
    state = await said(chat, *turns(40))
    question, answer = state.recipe.branch
    assert state.turn == question.id
    assert state.usage.turns == state.usage.next_in // (state.size(question) + state.size(answer))


async def test_a_turn_cut_inside_is_named_by_what_is_carried(make: MakeEngine) -> None:
    engine = await make(window=8_000)
    chat = await engine.create()
    opened = await chat.add("Read all of the files.")
    for n in range(40):
        text = f"File {n} says that service {n} has port {8_000 + n}. " * 10
        await said(chat, call(f"c{n}"), result(text, f"c{n}"))
    outcome = await chat.compress()
    assert isinstance(outcome, Compressed)
    state = await chat._state()
    assert state.recipe.carried
    assert state.recipe.branch[0].depth > 1
    assert state.turn == state.recipe.carried[0].id == opened.id
    bare = replace(outcome.snapshot, carried=None)
    assert state.served_by(outcome.snapshot).carried == state.recipe.carried
    assert not state.served_by(bare).carried


async def test_what_was_sent_along_before_a_snapshot_was_made_is_again_without_it(make: MakeEngine) -> None:
    """The question of a turn that two compressions cut inside; nothing where there was none before."""
    chat = await (await make(window=8_000)).create()
    opened = await chat.add("Read all of the files.")
    states: list[TipState] = []
    for start in (0, 40):
        for n in range(start, start + 40):
            text = f"File {n} says that service {n} has port {8_000 + n}. " * 10
            await said(chat, call(f"c{n}"), result(text, f"c{n}"))
        assert isinstance(await chat.compress(), Compressed)
        states.append(await chat._state())
    first, second = [state.recipe.snapshot for state in states]
    assert first is not None
    assert second is not None
    without = await chat._state(without=second)
    assert without.recipe.snapshot == first
    assert [node.id for node in without.recipe.carried] == [opened.id]
    assert without.recipe.branch[0].depth == first.cutoff_depth + 1
    bare = await chat._state(without=first)
    assert (bare.recipe.snapshot, bare.recipe.carried) == (None, ())
    assert bare.recipe.branch[0].id == opened.id


async def test_history_is_what_is_sent_besides_the_overhead(make: MakeEngine) -> None:
    engine = await make()
    chat = await engine.create()
    await chat.set(system="Answer in verse.")
    state = await said(chat, user("Hello there."))
    assert (
        state.history
        == state.reading.tokens - state.budget.overhead.total
        == METER.count_text("Hello there.") + 4
    )
    none = replace(state, reading=Reading(tokens=1))
    assert none.history == 0


async def test_what_cannot_simply_be_added_takes_a_new_look(make: MakeEngine) -> None:
    """Seen failing with: any one of the reasons left out."""
    engine = await make()
    chat = await engine.create()
    state = await said(chat, user("Read the file."), call())
    more = grown(state, next_to(state, result("42")))
    assert more is not None
    assert more.tip == "next"
    assert more.context.retained[-1] == result("42")
    assert more.habits == state.habits.after(METER.count_message(result("42")), answers=False)
    answered = grown(state, next_to(state, assistant("Yes.")))
    assert answered is not None
    assert answered.habits == state.habits.after(METER.count_message(assistant("Yes.")), answers=True)

    assert grown(state, next_to(state, user("Hello."), parent="elsewhere")) is None
    assert grown(state, next_to(state, system("Be brief."))) is None
    assert grown(state, next_to(state, assistant("Hm."), status="error")) is None
    assert grown(state, next_to(state, user("Hello."), counts={"other": 3})) is None
    assert grown(replace(state, shortened=True), next_to(state, user("Hello."))) is None
    pending = replace(state, loaded=replace(state.loaded, pending=(user("And?"),)))
    assert grown(pending, next_to(state, user("Hello."))) is None
    most = state.budget.available // OUTPUT_SHARE
    assert grown(state, next_to(state, result("42"), counts={UNIT: most})) is not None
    assert grown(state, next_to(state, result("42"), counts={UNIT: most + 1})) is None
    assert grown(state, next_to(state, user("long"), counts={UNIT: most + 1})) is not None


async def test_a_file_beside_covered_files_takes_a_new_look(make: MakeEngine) -> None:
    engine = await make()
    chat = await engine.create()
    file = Attachment(name="plan.txt", size=18)
    shared = Message(role="user", parts=(Text(text="Look."), file))
    await said(chat, shared, *turns(40, 40, 40))
    before = await chat._state()
    assert grown(before, next_to(before, shared)) is not None
    assert isinstance(await chat.compress(keep=0.2), Compressed)
    state = await chat._state()
    assert state.recipe.snapshot is not None
    assert state.recipe.snapshot.files
    assert grown(state, next_to(state, user("Thanks."))) is not None
    assert grown(state, next_to(state, shared)) is None


async def test_a_state_is_put_together_again_after_a_few_messages(make: MakeEngine) -> None:
    engine = await make()
    first = await said(await engine.create(), user("note"))
    state: TipState | None = first
    added: list[int] = []
    for n in range(2, FEW + 4):
        assert state is not None
        state = grown(state, next_to(state, assistant(f"note {n}"), id=f"m{n}"))
        assert state is not None
        added.append(len(state.added))
        assert [node.id for node in state.recipe.branch][1:] == [f"m{at}" for at in range(2, n + 1)]
        assert len(state.context.retained) == n
    assert added == [*range(1, FEW + 1), 1, 2]


async def test_a_long_output_is_shown_by_head_and_tail_unless_it_is_pinned_or_was_asked_for(
    make: MakeEngine,
) -> None:
    """Seen failing with: pins that are cut; what a memory tool found that is cut in the turn that asked for it."""
    engine = await make(window=8_000)
    long = " ".join(f"line-{n}" for n in range(1_500))

    async def shown(*messages: Message, pin: int | None = None) -> tuple[TipState, str]:
        chat = await engine.create()
        await said(chat, *messages)
        if pin is not None:
            await chat.pins.add((await chat.branch())[pin].id)
        state = await chat._state()
        return state, "".join(
            piece.text
            for message in state.context.messages
            for part in message.parts
            if isinstance(part, ToolResult)
            for piece in part.content
            if isinstance(piece, Text)
        )

    state, text = await shown(user("Read it."), call(), result(long))
    assert state.shortened
    most = state.budget.available // OUTPUT_SHARE
    assert most * OUTPUT_CHARACTERS * 0.9 < len(text) <= most * OUTPUT_CHARACTERS + 100
    assert text.startswith("line-0 ")
    assert text.endswith("line-1499")
    assert state.counts == {node.message: METER.count_message(node.message) for node in state.recipe.branch}
    engine_state, text = await shown(user("Search."), call(name="mcp__octavo__recall"), result(long))
    assert not engine_state.shortened
    assert text == long
    pinned, text = await shown(user("Read it."), call(), result(long), pin=2)
    assert not pinned.shortened
    assert text == long


async def test_an_output_that_takes_just_its_share_is_shown_whole(make: MakeEngine) -> None:
    state = await said(
        await (await make(window=8_000)).create(), user("Read it."), call(), result("It is so. " * 90)
    )
    size, budget = state.size(state.recipe.branch[-1]), state.budget
    for more, whole in ((0, True), (-1, False)):
        spare = budget.available - OUTPUT_SHARE * size - more
        tight = replace(budget, margin=budget.margin + spare)
        assert tight.available == OUTPUT_SHARE * size + more
        assert (_bounded(state.recipe, state.meter, tight) is state.recipe) is whole


async def test_half_of_the_way_is_gone_at_half_of_the_mark(make: MakeEngine) -> None:
    state = await said(await (await make()).create(), user("Hello."))
    state = replace(state, budget=replace(state.budget, prepare=None, soft=3_000, hard=3_500))
    mark = state.budget.trigger
    halves = [
        replace(state, reading=Reading(tokens=tokens)).half_way for tokens in (mark // 2 - 1, mark // 2)
    ]
    assert halves == [False, True]


async def test_the_model_may_search_what_is_covered_if_that_is_set(make: MakeEngine) -> None:
    chat = await (await make(window=128_000)).create()
    await said(chat, *turns(90, 90, 90))
    found = []
    for covered in (False, True):
        if covered:
            assert isinstance(await chat.compress(keep=0.2), Compressed)
        for value in (True, False):
            await chat.set(recall_tool=value)
            found.append((await chat._state()).searches)
    assert found == [False, False, True, False]


async def test_a_model_that_sees_nothing_is_sent_no_picture(make: MakeEngine) -> None:
    """Neither is one of a provider that takes none."""
    picture = Image(source="data:image/png;base64,aGk=", media_type="image/png")
    shown = Message(role="user", parts=(Text(text="What is this?"), picture))
    state = await said(await (await make()).create(), shown)
    card = state.meter.card
    assert card.vision
    blind = replace(state, meter=Meter(replace(card, vision=False)))
    found = [
        any(
            isinstance(part, Image)
            for message in one.sent(one.context, rules).messages
            for part in message.parts
        )
        for one in (state, blind)
        for rules in (OPENAI, replace(OPENAI, vision=False))
    ]
    assert found == [True, False, False, False]


async def test_habits_are_those_of_all_messages_whether_they_were_added_or_loaded(make: MakeEngine) -> None:
    """Also of covered ones: every second of them was an answer."""
    engine = await make(window=128_000)
    chat = await engine.create()
    state = await said(chat, *turns(30, 60, 90))
    sizes = [*map(METER.count_message, turns(30, 60, 90))]
    usual = Habits(
        requests=3,
        tokens=sum(sizes),
        largest=max(map(sum, zip(sizes[::2], sizes[1::2], strict=True))),
        uncovered=3,
    )
    assert state.habits == usual
    engine.states = TipStateCache(engine.store, engine.models)
    assert (await chat._state()).habits == usual
    outcome = await chat.compress(up_to=state.recipe.branch[3].id)
    assert isinstance(outcome, Compressed)
    covered = (await chat._state()).habits
    assert (covered.requests, covered.tokens, covered.open) == (3, sum(sizes), 0)
    assert covered.uncovered == 1


async def test_a_message_that_was_deleted_is_pinned_no_longer(make: MakeEngine) -> None:
    chat = await (await make()).create()
    await said(chat, user("Never restart it."), assistant("Fine."), user("Why?"))
    pinned, other, _ = await chat.branch()
    for node in (pinned, other):
        await chat.pins.add(node.id)
    await chat.delete_message(pinned.id)
    assert [pin.node.id for pin in (await chat._state()).recipe.pins] == [other.id]


async def test_what_was_recalled_comes_back_as_far_as_its_source_is_covered(make: MakeEngine) -> None:
    """Up to the last message that is, and unless recall is off."""
    engine = await make(window=128_000)
    chat = await engine.create(recall="auto")
    state = await said(chat, *turns(90, 90, 90))
    branch = state.recipe.branch
    assert isinstance(await chat.compress(up_to=branch[3].id), Compressed)
    found = tuple(
        Passage(source=node.id, depth=node.depth, channel="user", text=f"It lies at berth {node.depth}.")
        for node in branch[2:5]
    )
    await engine.store.passages.add(chat.id, branch[4].id, found)
    engine.states = TipStateCache(engine.store, engine.models)
    state = await chat._state()
    assert state.recipe.recalled == {branch[4].id: found[:2]}
    assert state.recalled == state.meter.count_text(render(found[:2])) > 0
    await chat.set(recall="off")
    assert (await chat._state()).recipe.recalled == {}


async def test_counts_are_made_once_and_are_the_same_in_a_thread(make: MakeEngine) -> None:
    engine = await make(window=128_000)
    chat = await engine.create()
    nodes = await engine.store.messages.append_many(chat.id, [user(f"note {n}") for n in range(MANY + 1)])
    assert UNIT not in nodes[0].counts
    state = await chat._state()
    assert {node.counts[UNIT] for node in state.recipe.branch} == {METER.count_message(user("note 1"))}
    stored = await engine.store.tree.branch(nodes[-1].id, tokenizer=UNIT)
    assert all(UNIT in node.counts for node in stored)


async def test_a_window_is_divided_anew_with_more_room_for_the_reply(make: MakeEngine) -> None:
    engine = await make(window=10_000)
    chat = await engine.create()
    await chat.set(reply=1_000)
    state = await said(chat, user("Hello."))
    assert state.budget.reply == 1_000
    assert divided(state, state.meter, Overhead()).reply == 1_000
    assert divided(state, state.meter, Overhead(), spare=500).reply == 1_500
    assert divided(state, state.meter, Overhead(system=700)).overhead.system == 700
    with pytest.raises(BadBudget):
        divided(state, state.meter, Overhead(system=9_000))


async def test_a_state_goes_on_with_what_a_bill_has_taught(make: MakeEngine) -> None:
    """Seen failing with: a budget that is kept although the bill has raised the overhead."""
    engine = await make(window=16_000)
    chat = await engine.create()
    await chat.set(policy="onyx", system="Answer in verse.")
    state = await said(chat, *turns(50, 50))
    assert not state.policy.follows_prices
    assert renewed(state, state.meter) is state
    longer = grown(state, next_to(state, user("Why?")))
    assert longer is not None
    assert longer.budget is state.budget

    await engine.models.learn_bill(MODEL, state.survey, state.reading.tokens + 300)
    taught = await engine.models.meter(MODEL)
    assert taught is not state.meter
    again = renewed(state, taught)
    assert again is not None
    assert again.meter is taught
    assert again.reading.tokens == state.reading.tokens + 300
    assert again.budget.overhead.system == state.budget.overhead.system + 300
    assert renewed(replace(state, shortened=True), taught) is None


async def test_what_does_not_fit_in_any_way_tells_all_sums(make: MakeEngine) -> None:
    engine = await make(window=4_096)
    chat = await engine.create()
    state = await said(chat, user("word " * 6_000))
    with pytest.raises(ContextOverflow) as caught:
        state.shrunk()
    assert {"window", "reply"} <= caught.value.terms.keys()


async def test_the_state_of_an_empty_conversation_has_no_tip(make: MakeEngine) -> None:
    engine = await make()
    chat = await engine.create()
    for prompt, expected in (("", ()), ("  ", ()), ("Be brief.", (system("Be brief."),))):
        state = await load_state(
            engine.store,
            engine.models,
            conversation=chat.id,
            tip=None,
            model=MODEL,
            settings={"system": prompt},
            pending=(user("Hello."),),
        )
        assert (state.tip, state.serving, state.recipe.system) == ("", None, expected)
        assert state.context.messages[-1] == user("Hello.")
        assert (state.turn, state.usage.turns) == ("", None)
        assert state.budget.overhead.system == METER.unit.frame.request + sum(
            map(METER.count_message, expected)
        )
    assert (state.budget.overhead.tools, state.budget.overhead.pins) == (0, 0)
