"""What ends inside an attempt ends the attempt, and not its worker."""

import asyncio
import math

import pytest

from wayfare.evals.limit import limited
from wayfare.fleet.errors import EpisodeOverdueError, StrayCancellationError


async def test_an_attempt_that_does_not_end_is_ended_and_names_the_budget():
    with pytest.raises(EpisodeOverdueError, match=r"within 0.01 s.*'episode'"):
        async with limited(0.01):
            await asyncio.Event().wait()


async def test_without_a_budget_nothing_is_ended():
    async with limited(math.inf):
        await asyncio.sleep(0)


async def test_a_time_out_of_something_inside_is_told_as_what_it_is():
    with pytest.raises(TimeoutError, match="of the disk"):
        async with limited(60):
            raise TimeoutError("of the disk")


async def test_a_cancelled_future_that_nobody_asked_for_is_a_fault_of_the_attempt():
    stray = asyncio.get_running_loop().create_future()
    stray.cancel()
    with pytest.raises(StrayCancellationError):
        async with limited(60):
            await stray


async def test_a_worker_that_is_asked_to_end_ends():
    async def work():
        async with limited(60):
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
