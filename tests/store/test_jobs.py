"""Compression jobs: one at a time for an anchor, taken over from the dead, finished by the owner only."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa

from octavo.core.messages import user
from octavo.core.snapshot import Snapshot
from octavo.errors import BadInput, NotFound, NotOnBranch
from octavo.store import Busy, Job, Refused, Stale, Store
from octavo.store.connection import Connection
from octavo.store.ids import new_id
from octavo.store.jobs import ENDED
from octavo.store.schema import job as table
from tests.store.scenes import fold, long_talk, stamped

pytestmark = pytest.mark.anyio

OVER = -1.0
"""A lease that has run out as soon as it is given."""


async def claim(store: Store, conversation: str, anchor: str, worker: str = "w", lease: float = 20) -> Job:
    found = await store.jobs.claim(conversation, anchor=anchor, worker=worker, seen=None, lease=lease)
    assert isinstance(found, Job)
    return found


async def test_a_job_is_claimed_renewed_and_finished_with_its_snapshot(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    job = await claim(store, made.id, branch[6].id)
    assert (job.status, job.attempt, job.snapshot) == ("running", 1, None)
    assert 10 < job.lease <= 20
    assert await store.jobs.renew(job, lease=30, progress="half way")
    seen = await store.jobs.get(job.id)
    assert (seen.progress, seen.lease > 20) == ("half way", True)
    new = fold(branch, 4, branch[6])
    stored = await store.jobs.finish(job, new)
    assert isinstance(stored, Snapshot)
    assert stored == stamped(new, stored)
    (done,) = await store.jobs.of_conversation(made.id)
    assert (done.status, done.snapshot) == ("done", stored.id)
    assert await store.jobs.finish(job, fold(branch, 4, branch[6])) == Refused(
        "the job was cancelled, or its lease ran out and another worker took it over"
    )
    assert len(await store.snapshots.of_conversation(made.id)) == 1


async def test_two_requests_for_one_compression_give_one_job(store: Store) -> None:
    """Cases 50, 78."""
    made, branch = await long_talk(store, 8)
    found = await asyncio.gather(
        *(store.jobs.claim(made.id, anchor=branch[6].id, worker=f"w{i}", seen=None) for i in range(6))
    )
    (mine,) = [one for one in found if isinstance(one, Job)]
    assert [one.job.id for one in found if isinstance(one, Busy)] == [mine.id] * 5


async def test_other_anchors_are_free(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    first = await claim(store, made.id, branch[6].id)
    assert (await claim(store, made.id, branch[4].id)).id != first.id


async def test_a_plan_made_before_the_last_compression_is_stale(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    job = await claim(store, made.id, branch[6].id)
    stored = await store.jobs.finish(job, fold(branch, 4, branch[6]))
    assert isinstance(stored, Snapshot)
    late = await store.jobs.claim(made.id, anchor=branch[6].id, worker="late", seen=None)
    assert late == Stale(stored.id)
    again = await store.jobs.claim(made.id, anchor=branch[6].id, worker="late", seen=stored.id)
    assert isinstance(again, Job)


async def test_the_snapshot_that_serves_the_tip_decides_not_the_one_above_the_anchor(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    low = await store.snapshots.add(made.id, fold(branch, 4, branch[7]))
    tip = branch[7].id
    assert await store.jobs.claim(made.id, anchor=branch[6].id, tip=tip, worker="w", seen=None) == Stale(
        low.id
    )
    assert isinstance(
        await store.jobs.claim(made.id, anchor=branch[6].id, tip=tip, worker="w", seen=low.id), Job
    )


async def test_a_dead_owner_is_taken_over_and_cannot_finish_any_more(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    dead = await claim(store, made.id, branch[6].id, "dead", lease=OVER)
    assert await store.jobs.abandoned() == (await store.jobs.get(dead.id),) or dead.lease < 0
    heir = await claim(store, made.id, branch[6].id, "heir")
    assert (heir.id, heir.attempt) == (dead.id, 2)
    assert not await store.jobs.renew(dead)
    assert not await store.jobs.fail(dead, "too late")
    assert isinstance(await store.jobs.finish(dead, fold(branch, 4, branch[6])), Refused)
    assert isinstance(await store.jobs.finish(heir, fold(branch, 4, branch[6])), Snapshot)
    assert len(await store.snapshots.of_conversation(made.id)) == 1
    assert await store.jobs.abandoned() == ()


async def test_a_worker_of_the_same_name_is_not_the_same_owner(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    before = await claim(store, made.id, branch[6].id, "w", lease=OVER)
    after = await claim(store, made.id, branch[6].id, "w")
    assert not await store.jobs.renew(before)
    assert await store.jobs.renew(after)


async def test_a_slow_owner_whose_lease_ran_out_may_finish_if_nobody_took_over(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    job = await claim(store, made.id, branch[6].id, lease=OVER)
    assert [one.id for one in await store.jobs.abandoned()] == [job.id]
    assert isinstance(await store.jobs.finish(job, fold(branch, 4, branch[6])), Snapshot)


async def test_a_cancelled_job_stops_its_worker(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    job = await claim(store, made.id, branch[6].id)
    assert await store.jobs.cancel(job.id)
    assert not await store.jobs.cancel(job.id)
    assert not await store.jobs.renew(job)
    assert isinstance(await store.jobs.finish(job, fold(branch, 4, branch[6])), Refused)
    assert await store.snapshots.of_conversation(made.id) == ()
    assert (await claim(store, made.id, branch[6].id)).id != job.id


async def test_the_jobs_of_a_conversation_are_listed_the_newest_first_as_they_stand(memory: Store) -> None:
    """What was done stays done although its lease is over."""
    made, branch = await long_talk(memory, 8)
    done = await claim(memory, made.id, branch[6].id)
    assert isinstance(await memory.jobs.finish(done, fold(branch, 4, branch[6])), Snapshot)
    serving = (await memory.snapshots.context(branch[7].id)).snapshot
    assert serving is not None
    left = await memory.jobs.claim(
        made.id, anchor=branch[7].id, worker="w", seen=serving.id, trigger="manual", lease=OVER
    )
    assert isinstance(left, Job)
    await memory._database.write(lambda c: c.execute(sa.update(table).values(lease_until=1)))
    found = await memory.jobs.of_conversation(made.id)
    assert [(job.id, job.status, job.trigger) for job in found] == [
        (left.id, "failed", "manual"),
        (done.id, "done", "auto"),
    ]
    assert (await memory.jobs.get(done.id)).status == "done"


async def test_a_failed_job_says_why(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    job = await claim(store, made.id, branch[6].id)
    assert await store.jobs.fail(job, "no answer in time")
    assert (await store.jobs.get(job.id)).error == "no answer in time"


async def test_messages_added_meanwhile_do_not_matter(store: Store) -> None:
    """Case 51."""
    made, branch = await long_talk(store, 8)
    job = await claim(store, made.id, branch[6].id)
    later = await store.messages.append(made.id, user("meanwhile"))
    stored = await store.jobs.finish(job, fold(branch, 4, branch[6]))
    assert isinstance(stored, Snapshot)
    found = await store.snapshots.context(later.id)
    assert (found.snapshot, found.retained) == (stored, (*branch[4:], later))


@pytest.mark.parametrize("at", [2, 5, 7])
async def test_a_deletion_meanwhile_refuses_the_result(store: Store, at: int) -> None:
    """Cases 52, 53: also of a message that was only shown, or that comes after the anchor."""
    made, branch = await long_talk(store, 8)
    job = await claim(store, made.id, branch[6].id)
    await store.messages.delete(branch[at].id)
    refused = await store.jobs.finish(job, fold(branch, 4, branch[6]))
    assert refused == Refused("messages were deleted while the conversation was compressed")
    assert (await store.jobs.get(job.id)).status == "failed"
    assert await store.snapshots.of_conversation(made.id) == ()


async def test_a_wrong_snapshot_closes_the_job(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    _, other = await long_talk(store, 8)
    job = await claim(store, made.id, branch[6].id)
    refused = await store.jobs.finish(job, fold(other, 4, other[6]))
    assert isinstance(refused, Refused)
    assert "another conversation" in refused.reason
    assert (await store.jobs.get(job.id)).status == "failed"


async def test_a_conversation_deleted_meanwhile_refuses_the_result(store: Store) -> None:
    """Case 52."""
    made, branch = await long_talk(store, 8)
    job = await claim(store, made.id, branch[6].id)
    await store.bin.delete(made.id)
    refused = await store.jobs.finish(job, fold(branch, 4, branch[6]))
    assert refused == Refused("the conversation was deleted while it was compressed")
    assert not await store.jobs.renew(job)


async def test_anchors_that_cannot_be_are_refused(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    other, elsewhere = await long_talk(store, 8)
    side = await store.messages.append(made.id, user("aside"), parent=branch[2].id)
    with pytest.raises(NotOnBranch, match="another conversation"):
        await store.jobs.claim(made.id, anchor=elsewhere[3].id, worker="w", seen=None)
    with pytest.raises(NotOnBranch, match="not on the branch"):
        await store.jobs.claim(made.id, anchor=side.id, tip=branch[7].id, worker="w", seen=None)
    with pytest.raises(NotFound):
        await store.jobs.claim(made.id, anchor=other.id, worker="w", seen=None)


async def set_clock_back(connection: Connection) -> None:
    """Leave the leases as they are when the clock is set back by an hour."""
    await connection.execute(sa.update(table).values(lease_until=table.c.lease_until + 3_600_000))


async def test_a_lease_further_ahead_than_any_can_last_has_run_out(store: Store) -> None:
    """The clock was set back by an hour while somebody worked: the others do not wait for an hour."""
    made, branch = await long_talk(store, 8)
    before = await claim(store, made.id, branch[6].id, "before")
    await store._database.write(set_clock_back)
    assert [one.id for one in await store.jobs.abandoned()] == [before.id]
    after = await claim(store, made.id, branch[6].id, "after")
    assert (after.id, after.attempt) == (before.id, 2)
    assert not await store.jobs.renew(before)
    assert isinstance(await store.jobs.finish(before, fold(branch, 4, branch[6])), Refused)
    assert await store.jobs.abandoned() == ()


async def test_whoever_works_renews_a_lease_that_the_clock_has_spoilt(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    mine = await claim(store, made.id, branch[6].id)
    await store._database.write(set_clock_back)
    assert await store.jobs.renew(mine)
    assert await store.jobs.abandoned() == ()
    assert isinstance(await store.jobs.finish(mine, fold(branch, 4, branch[6])), Snapshot)


async def test_a_lease_longer_than_any_is_refused(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    with pytest.raises(BadInput, match="at most 30 seconds"):
        await claim(store, made.id, branch[6].id, lease=31)
    job = await claim(store, made.id, branch[6].id)
    with pytest.raises(BadInput, match="at most 30 seconds"):
        await store.jobs.renew(job, lease=3_600)


async def test_a_job_whose_worker_died_is_closed_with_the_reason(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    other, lines = await long_talk(store, 8)
    dead = await claim(store, made.id, branch[6].id, "dead", lease=OVER)
    elsewhere = await claim(store, other.id, lines[6].id, "dead", lease=OVER)
    alive = await claim(store, made.id, branch[4].id, "alive")
    assert (await store.jobs.get(dead.id)).status == "failed", "it does not run, whether or not it was closed"
    (closed,) = await store.jobs.close_abandoned(made.id)
    assert closed.id == dead.id
    assert [one.id for one in await store.jobs.abandoned()] == [elsewhere.id]
    found = {one.id: one for one in await store.jobs.of_conversation(made.id)}
    assert (found[dead.id].status, found[dead.id].error) == ("failed", ENDED)
    assert found[alive.id].status == "running"
    assert [one.id for one in await store.jobs.close_abandoned()] == [elsewhere.id]
    assert await store.jobs.close_abandoned() == ()


async def test_only_a_job_that_is_still_abandoned_is_closed(store: Store) -> None:
    """Between seeing it and closing it, another worker takes it over, or its own comes back."""
    made, branch = await long_talk(store, 8)
    dead = await claim(store, made.id, branch[6].id, "dead", lease=OVER)
    heir = await claim(store, made.id, branch[6].id, "heir")
    slow = await claim(store, made.id, branch[4].id, "slow", lease=OVER)
    assert await store.jobs.renew(slow)
    for seen in (dead, slow):
        assert not await store.jobs.close_left(seen)
    assert isinstance(await store.jobs.finish(heir, fold(branch, 4, branch[6])), Snapshot)
    assert (await store.jobs.get(slow.id)).status == "running"


async def test_an_abandoned_job_goes_to_one_of_all_who_see_it(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    dead = await claim(store, made.id, branch[6].id, "dead", lease=OVER)
    found = await asyncio.gather(*(store.jobs.close_abandoned() for _ in range(6)))
    assert [[one.id for one in closed] for closed in found if closed] == [[dead.id]]


async def test_a_job_has_the_id_it_is_asked_for_by(store: Store) -> None:
    made, branch = await long_talk(store, 8)
    id = new_id()
    held = await store.jobs.claim(made.id, anchor=branch[6].id, worker="w", seen=None, id=id)
    assert isinstance(held, Job)
    assert (held.id, (await store.jobs.get(id)).worker) == (id, "w")
