"""Baselines are fair, names are understood, and a foreign function that misbehaves is a finding."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from octavo.core.budget import Price
from octavo.core.messages import Message, user
from octavo.core.reply import Usage
from octavo.core.summary import Narrative, SummaryJob
from octavo.errors import BadInput
from octavo.evals.baselines import BASELINES, LEFT_OUT, MASKED, Scale
from octavo.evals.cases import built_in
from octavo.evals.compressor import CompressionJob
from octavo.evals.compressors import CompressorFactory, make_all, meter_of, release
from octavo.evals.measure.validity import overruns, problems
from octavo.testing import messages

pytestmark = pytest.mark.anyio
METER = meter_of("chars4")
SCALE = Scale(METER)
CASES = {case.name: case for case in built_in()}
RUN, CHAT = CASES["run 1"].messages, CASES["chat 1"].messages
WORKSHOP = CompressorFactory(meter=METER)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def size(said: tuple[Message, ...]) -> int:
    return sum(map(METER.count_message, said))


@pytest.mark.parametrize("name", [name for name in BASELINES if name not in ("none", "newest")])
@pytest.mark.parametrize("said", [RUN, CHAT], ids=["run", "chat"])
@pytest.mark.parametrize("share", [0.03, 0.1, 0.5, 2.0])
def test_a_baseline_keeps_to_its_budget_and_can_be_sent(
    name: str, said: tuple[Message, ...], share: float
) -> None:
    budget = int(size(said) * share)
    made = BASELINES[name](said, budget, SCALE)
    assert not overruns(size(made), budget)
    assert problems(made, said) == ()


def test_what_fits_is_left_alone_by_truncation() -> None:
    assert BASELINES["truncate"](CHAT, 10**6, SCALE) == CHAT
    assert BASELINES["none"](CHAT, 1, SCALE) == CHAT


def test_truncation_says_so_and_keeps_the_newest() -> None:
    made = BASELINES["truncate"](CHAT, size(CHAT) // 5, SCALE)
    assert made[1].text == LEFT_OUT
    assert made[-1] == CHAT[-1]


def test_newest_tears_calls_from_their_answers() -> None:
    torn = [problems(BASELINES["newest"](RUN, budget, SCALE), RUN) for budget in range(900, 1_400, 20)]
    assert any("answers the calls" in problem for found in torn for problem in found)


def test_masking_blanks_old_outputs_and_keeps_the_newest() -> None:
    made = BASELINES["mask"](RUN, size(RUN) // 4, SCALE)
    outputs = [message.results[0].text for message in made if message.role == "tool"]
    assert outputs[0] == MASKED
    assert outputs[-1] == RUN[-1].results[0].text


def test_masking_gives_a_large_first_message_up() -> None:
    said = messages("u: " + "long " * 400, "a: ok", "u: go", "a: gone")
    made = BASELINES["mask"](said, 120, SCALE)
    assert [message.text for message in made] == [LEFT_OUT, "ok", "go", "gone"]


def test_head_and_tail_keeps_both_ends() -> None:
    said = messages(
        "u: The beginning. " + "More words follow here. " * 30 + "x" * 900,
        *["a: middle " * 40, "u: next"] * 9,
    )
    made = BASELINES["head+tail"](said, 300, SCALE)
    assert "U: The beginning." in made[0].text
    assert made[-1] == said[-1]


def test_a_group_too_large_is_cut_in_its_texts_and_not_in_its_call() -> None:
    said = messages("u: hi", "a: I look.", 'c: read {"path": "a.py"}', "r: " + "line of text " * 200)
    made = BASELINES["truncate"](said, 150, SCALE)
    assert made[-1].results[0].text.startswith("line of text")
    assert problems(made, said) == ()
    huge = messages("u: hi", 'c: write {"text": "' + "word " * 500 + '"}', "r: ok")
    assert [message.text for message in BASELINES["truncate"](huge, 150, SCALE)] == [LEFT_OUT]


async def test_policies_are_named_with_and_without_a_share() -> None:
    plain, economical = make_all(WORKSHOP, ["octavo", "octavo@0.05", "octavo"])
    job = CompressionJob(messages=CHAT, budget=size(CHAT) // 5)
    usual, tight = await plain.compress(job), await economical.compress(job)
    assert size(usual.messages) <= job.budget
    assert len(tight.messages) < len(usual.messages)
    assert problems(usual.messages, CHAT) == ()


@pytest.mark.parametrize("policy", ["onyx", "wave", "requirements", "gemini"])
async def test_every_policy_keeps_to_the_budget(policy: str) -> None:
    (compressor,) = make_all(WORKSHOP, [policy])
    made = await compressor.compress(CompressionJob(messages=CHAT, budget=size(CHAT) // 4))
    assert made.wrong == ()
    assert size(made.messages) <= size(CHAT) // 4


async def test_what_cannot_fit_at_all_is_a_finding() -> None:
    (compressor,) = make_all(WORKSHOP, ["octavo"])
    made = await compressor.compress(CompressionJob(messages=CHAT, budget=1))
    assert made.messages == ()
    assert made.wrong


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("best", "unknown 'best'; one of octavo"),
        ("octavo@lots", "expected a share"),
        ("octavo@1.5", "expected a share"),
        ("no.such.module:f", "cannot import"),
        ("json:no_such", "has no function"),
    ],
)
def test_a_name_that_means_nothing_is_refused(name: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        WORKSHOP.make(name)


FOREIGN = """
import asyncio
from types import SimpleNamespace

def last(messages, budget):
    return messages[:1] + messages[-2:]

def starts_a_loop(messages, budget):
    async def inner():
        return messages[-2:]
    return SimpleNamespace(messages=asyncio.run(inner()))

async def waits(messages, budget):
    return messages[-2:]

def nonsense(messages, budget):
    return [{"role": "oracle"}]

def nothing(messages, budget):
    return None
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "foreign_functions.py").write_text(FOREIGN)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


@pytest.mark.parametrize("name", ["last", "starts_a_loop", "waits"])
async def test_a_function_of_the_users_own_is_run(folder: Path, name: str) -> None:
    (compressor,) = CompressorFactory(meter=METER, folder=folder).make(f"foreign_functions:{name}")
    made = await compressor.compress(CompressionJob(messages=CHAT, budget=100))
    assert made.messages[-2:] == CHAT[-2:]
    assert made.wrong == ()


@pytest.mark.parametrize(
    ("name", "why"), [("nonsense", "cannot be read as messages"), ("nothing", "of type NoneType")]
)
async def test_an_answer_that_cannot_be_read_is_a_finding(folder: Path, name: str, why: str) -> None:
    (compressor,) = CompressorFactory(meter=METER, folder=folder).make(f"foreign_functions:{name}")
    made = await compressor.compress(CompressionJob(messages=CHAT, budget=100))
    assert made.messages == ()
    assert why in made.wrong[0]


class Teller:
    """A summariser that always says the same, for a fee."""

    async def summarise(self, job: SummaryJob, tell: object) -> Narrative:
        assert callable(tell)
        return Narrative(
            text=f"{len(job.covered)} messages about badges.", usage=Usage(input=1_000, output=100)
        )


async def test_a_summariser_adds_a_compressor_with_its_price() -> None:
    workshop = CompressorFactory(
        meter=METER, summariser=Teller(), summariser_name="teller", price=Price(input=2.0, output=10.0)
    )
    plain, told = workshop.make("octavo")
    assert (plain.name, told.name) == ("octavo", "octavo + teller")
    job = CompressionJob(messages=CHAT, budget=size(CHAT) // 5)
    made = await told.compress(job)
    assert "messages about badges." in made.messages[1].text
    assert made.price == pytest.approx(0.003)
    assert (await plain.compress(job)).price == 0.0


async def test_the_store_keeps_pins_and_branches_apart() -> None:
    case = CASES["chat 1"]
    branches = [CASES[f"tree 1, branch {n}"] for n in (1, 2)]
    (compressor,) = make_all(WORKSHOP, ["stored"])
    assert compressor.remembers
    try:
        job = CompressionJob(
            messages=case.messages, budget=size(case.messages) // 4, pins=case.pins, thread="a"
        )
        made = await compressor.compress(job)
        text = "\n".join(message.text for message in made.messages)
        assert all(pin in text for pin in case.pins)
        assert size(made.messages) < size(case.messages) // 3
        assert problems(made.messages, case.messages) == ()
        for branch in branches:
            budget = size(branch.messages) // 3
            made = await compressor.compress(
                CompressionJob(messages=branch.messages, budget=budget, thread="b")
            )
            said = " ".join(message.text for message in made.messages).lower().split()
            assert not branch.elsewhere.intersection(said)
            assert made.messages[-1] == branch.messages[-1]
        refused = await compressor.compress(CompressionJob(messages=case.messages, budget=60, thread="c"))
        assert "tokens are left" in refused.wrong[0]
    finally:
        await release([compressor])


async def test_the_store_is_asked_after_it_compressed() -> None:
    """The snapshot is the same whatever is asked; what belongs to the question stands before it, within the budget."""
    case = CASES["chat 1"]
    budget = size(case.messages) // 4
    (compressor,) = make_all(WORKSHOP, ["stored"])
    try:
        made = {}
        for asked in case.questions[:3]:
            job = CompressionJob(
                messages=(*case.messages, user(asked.text)), budget=budget, thread="a", asked=True
            )
            made[asked.text] = (await compressor.compress(job)).messages
            assert not overruns(size(made[asked.text]), budget)
            assert made[asked.text][-1].text.endswith(asked.text)
        assert len({sent[:-1] for sent in made.values()}) == 1
        assert any(sent[-1].text != question for question, sent in made.items())
    finally:
        await release([compressor])
