"""The table of settings, and what holds at each level."""

from __future__ import annotations

import pytest

from octavo.core.policy import PRESETS
from octavo.engine.settings import SETTINGS, built_in, find_setting
from octavo.errors import BadInput
from octavo.store.values import Everywhere, ForConversation, ForModel
from tests.engine.conftest import MakeEngine

pytestmark = pytest.mark.anyio


def test_every_policy_has_a_value_for_every_setting_that_is_part_of_it() -> None:
    for policy in PRESETS.values():
        values = built_in(policy)
        for setting in SETTINGS.values():
            assert (setting.name in values) == (setting.in_policy or setting.default is not None)
            setting.check(values.get(setting.name))


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("auto", "ON", True),
        ("soft", "1", 1.0),
        ("retained", "4000", 4000),
        ("retained", "0.25", 0.25),
        ("minimum", "0", 0),
        ("system", "0.5", "0.5"),
    ],
)
def test_a_typed_value_is_read_as_its_setting_wants_it(name: str, text: str, value: object) -> None:
    read = find_setting(name).parse(text)
    assert (read, type(read)) == (value, type(value))
    find_setting(name).check(read)


@pytest.mark.parametrize(
    ("name", "value"),
    [("auto", 1), ("soft", True), ("soft", "0.5"), ("minimum", 1.5), ("retained", "a lot"), ("system", 3)],
)
def test_a_value_of_the_wrong_type_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(BadInput, match=f"{name}.*expected"):
        find_setting(name).check(value)  # type: ignore[arg-type]


def test_an_unknown_setting_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="unknown setting; one of model, policy"):
        find_setting("sofd")


async def test_a_model_cannot_be_set_for_a_model(make: MakeEngine) -> None:
    engine = await make()
    with pytest.raises(BadInput, match="cannot be set for a model"):
        await engine.settings.change(ForModel("gpt-4o"), {"model": "gpt-4"})
    assert (await engine.settings.at(ForModel("gpt-4o")))["model"] == "gpt-4o"


async def test_several_conversations_are_resolved_as_each_alone(make: MakeEngine) -> None:
    engine = await make()
    plain, own, other = await engine.create(), await engine.create(soft=0.6), await engine.create()
    await engine.settings.change(ForConversation(other.id), {"model": "gpt-4", "auto": False})
    await engine.settings.change(ForModel("gpt-4"), {"soft": 0.5, "minimum": 7})
    await engine.settings.change(Everywhere(), {"minimum": 9})
    ids = [plain.id, own.id, other.id]
    assert await engine.settings.of_many(ids) == [await engine.settings.of(id) for id in ids]
    held = await engine.settings.of(other.id)
    assert (held["soft"], held["minimum"], held["auto"], held["model"]) == (0.5, 7, False, "gpt-4")
    assert (await engine.settings.inherited(ForConversation(other.id)))["minimum"] == 7
