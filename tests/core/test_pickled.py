"""Values that go from one process to another."""

from __future__ import annotations

import copy
import pickle

from hypothesis import given

from octavo.core.messages import Message, Wire, place
from octavo.core.snapshot import Extract
from tests.core.strategies import BROKEN


@given(BROKEN)
def test_whatever_was_said_arrives_as_it_was_sent(said: list[Message]) -> None:
    nodes = place(said)
    assert pickle.loads(pickle.dumps(nodes, protocol=pickle.HIGHEST_PROTOCOL)) == nodes


def test_each_field_arrives_in_its_own_place() -> None:
    sent = Extract(source="m1", channel="user", text="port 8123")
    arrived = pickle.loads(pickle.dumps(sent))
    assert (arrived, arrived.source, arrived.text) == (sent, "m1", "port 8123")


def test_a_copy_is_equal_and_as_frozen_as_what_was_copied() -> None:
    copied = copy.deepcopy(Wire("openai", '{"a": 1}'))
    assert copied == Wire("openai", '{"a": 1}')
    assert hash(copied) == hash(Wire("openai", '{"a": 1}'))
