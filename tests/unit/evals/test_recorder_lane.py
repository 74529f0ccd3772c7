"""A lane does jobs in order, lets the hasty wait and holds no more than it may."""

import asyncio
import threading

import pytest
from tests.deadline import HANG_SECONDS

from wayfare.evals.recorder_lane import Lane


class Gate:
    """Holds a lane up until it is opened."""

    def __init__(self):
        self.is_open = threading.Event()
        self.done = []

    def job(self, number):
        def run():
            assert self.is_open.wait(HANG_SECONDS)
            self.done.append(number)

        return run


async def lane_of(max_held_bytes=100):
    return Lane("test", max_held_bytes)


async def test_jobs_are_done_in_the_order_in_which_they_came():
    lane, gate = await lane_of(), Gate()
    gate.is_open.set()

    for number in range(50):
        await lane.put(gate.job(number), 10)

    assert await lane.call(lambda: list(gate.done)) == list(range(50))
    assert await lane.close()


async def test_who_brings_more_than_there_is_room_for_waits():
    lane, gate = await lane_of(), Gate()
    await lane.put(gate.job(0), 60)
    second = asyncio.create_task(lane.put(gate.job(1), 60))
    await asyncio.sleep(0)

    lane.put_now(gate.job(2))  # holds nothing: never waits
    assert not second.done()
    gate.is_open.set()
    await asyncio.wait_for(second, HANG_SECONDS)

    await lane.close()
    assert gate.done == [0, 2, 1]


async def test_a_job_larger_than_the_room_is_let_in_alone():
    lane, gate = await lane_of(), Gate()
    gate.is_open.set()

    for number in range(3):
        await asyncio.wait_for(lane.put(gate.job(number), 1000), HANG_SECONDS)

    await lane.close()
    assert gate.done == [0, 1, 2]


async def test_a_wait_that_is_cancelled_queues_nothing_and_keeps_no_room():
    lane, gate = await lane_of(), Gate()
    await lane.put(gate.job(0), 60)
    given_up = asyncio.create_task(lane.put(gate.job(1), 60))
    await asyncio.sleep(0)
    given_up.cancel()
    gate.is_open.set()

    await asyncio.wait_for(lane.put(gate.job(2), 100), HANG_SECONDS)

    await lane.close()
    assert gate.done == [0, 2]


async def test_what_a_job_raises_is_told_to_the_next_and_the_others_are_done():
    lane, gate = await lane_of(), Gate()
    gate.is_open.set()
    lane.put_now(lambda: 1 / 0)
    lane.put_now(gate.job(1))
    await lane.call(lambda: None)

    with pytest.raises(ZeroDivisionError):
        await lane.put(gate.job(2), 1)
    await lane.close()
    assert gate.done == [1]


async def test_a_call_raises_what_its_job_raised_and_leaves_the_lane_whole():
    lane = await lane_of()

    with pytest.raises(ZeroDivisionError):
        await lane.call(lambda: 1 / 0)
    lane.check()
    await lane.close()


async def test_a_lane_that_does_not_end_in_time_is_told_of():
    lane, gate = await lane_of(), Gate()
    lane.put_now(gate.job(0))

    assert not await lane.close(seconds=0.01)
    gate.is_open.set()
    assert await lane.close()
