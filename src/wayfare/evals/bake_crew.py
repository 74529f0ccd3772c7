"""Have workers do jobs in scenes, each to its end, whatever befalls their copies.

Knows nothing of what the jobs are.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from nodeset.context import EpisodeContext
from nodeset.errors import NodeSetError
from wayfare.evals.drain import Drain
from wayfare.evals.errors import RunFailedError
from wayfare.evals.schedule import Schedule
from wayfare.fleet.errors import FleetSetupError
from wayfare.fleet.fleet import HASTY_CLOSE_SECONDS, Fleet
from wayfare.fleet.launcher import Launcher
from wayfare.fleet.member import Member
from wayfare.fleet.pool import EnvWorkerPool, WorkerHandle
from wayfare.fleet.shutdown import tell_shutdown_faults
from wayfare.graph.calls import InfrastructureError
from wayfare.store.records import EpisodeKey, PlannedEpisode

RETRY_SECONDS = 0.05
"""How long the first repeated try is put off, each further one twice as long, up to a bound."""
RETRY_DOUBLINGS = 5


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do in a scene once one of its episodes has begun, with some of its rows."""

    scene: int
    episode: EpisodeContext
    rows: tuple[int, ...] = ()


Work = Callable[[WorkerHandle, Job], Awaitable[None]]


class Crew:
    """Workers that pull jobs from one queue; each stays in its scene while there are jobs in it."""

    def __init__(
        self, fleet: Fleet, workers: Sequence[WorkerHandle], drain: Drain, *, retries: int
    ) -> None:
        self.fleet = fleet
        self._workers = workers
        self._drain = drain
        self._retries = retries

    async def do(self, jobs: Sequence[Job], work: Work) -> None:
        """Do every job, or stop when asked to; a job that a copy's death cut short begins again.

        Raises RunFailedError for what the author's code raised and for what no retry mends.
        """
        schedule = Schedule([_plan(job, number) for number, job in enumerate(jobs)])
        try:
            async with asyncio.TaskGroup() as tasks:
                lanes = [
                    tasks.create_task(self._work(worker, schedule, jobs=jobs, work=work))
                    for worker in self._workers
                ]
                stopper = tasks.create_task(self._stop_when_over(lanes))
                await asyncio.wait(lanes)
                stopper.cancel()
        except BaseExceptionGroup as group:
            raise _first(group) from group

    async def _work(
        self, worker: WorkerHandle, schedule: Schedule, *, jobs: Sequence[Job], work: Work
    ) -> None:
        while schedule and not self._drain.is_asked:
            await self._do_one(worker, jobs[schedule.take(worker.index).index], work)

    async def _do_one(self, worker: WorkerHandle, job: Job, work: Work) -> None:
        tries = 0
        while not self._drain.is_asked:
            try:
                await worker.replace_dead_copies()
                await worker.open_episode(job.episode)
                await work(worker, job)
                await worker.close_episode()
                return
            except InfrastructureError as fault:
                if tries == self._retries:
                    raise RunFailedError(_describe(job, fault)) from fault
            except (NodeSetError, FleetSetupError) as error:
                raise RunFailedError(_describe(job, error)) from error
            await asyncio.sleep(RETRY_SECONDS * 2 ** min(tries, RETRY_DOUBLINGS))
            tries += 1

    async def _stop_when_over(self, lanes: Sequence[asyncio.Task[None]]) -> None:
        await self._drain.wait_until_over()
        for lane in lanes:
            lane.cancel()


@asynccontextmanager
async def start_crew(
    member: Member,
    launcher: Launcher,
    drain: Drain,
    *,
    retries: int,
    notify: Callable[[str], None],
) -> AsyncIterator[Crew]:
    """Give workers with fresh copies of one nodeset, which end with the context.

    `notify` is told of those that do not end as they should. Raises FleetSetupError, and
    RunInterruptedError when asked to end meanwhile.
    """
    starting = Fleet.start([member], len(member.placement.copies), launcher)
    async with (
        await drain.unless_asked(starting) as fleet,
        EnvWorkerPool(fleet, member.instance, retries=retries) as pool,
    ):
        yield Crew(fleet, pool.workers, drain, retries=retries)
        if drain.is_asked:
            await fleet.close(HASTY_CLOSE_SECONDS)
    tell_shutdown_faults(fleet.shutdown_faults, notify)


def _plan(job: Job, number: int) -> PlannedEpisode:
    key = EpisodeKey("", "", "", str(job.scene), str(number), 0)
    return PlannedEpisode(key=key, index=number, group="")


def _describe(job: Job, error: Exception) -> str:
    rows = f", rows {job.rows[0]} to {job.rows[-1]}" if job.rows else ""
    episode = job.episode
    return (
        f"scene {episode.scene_id!r} (episode {episode.index}{rows}) can't be rendered: {error}\n"
        "What is finished is kept; the same command goes on."
    )


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
