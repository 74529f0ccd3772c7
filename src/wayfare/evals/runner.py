"""Run a fixed list of episodes on N workers, each exactly once, and commit each as it ends.

Knows nothing of how copies are started or of how results are summed up and shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nodeset.errors import NodeSetError
from wayfare.engine.errors import NodeFailure
from wayfare.engine.result import GraphResult
from wayfare.evals.commit import Committer
from wayfare.evals.digest import episode_digest
from wayfare.evals.drain import Drain
from wayfare.evals.episodes import EpisodePlan
from wayfare.evals.failure import describe_failure, describe_fault, is_spent
from wayfare.evals.limit import limited
from wayfare.evals.loop import LoopRunner
from wayfare.evals.observer import Observer
from wayfare.evals.recorder import Recorder, Tape
from wayfare.evals.schedule import Schedule
from wayfare.fleet.pool import WorkerHandle
from wayfare.graph.calls import InfrastructureError
from wayfare.store.errors import NoRoomError
from wayfare.store.records import (
    Attempt,
    EpisodeKey,
    EpisodeRecord,
    ErrorRecord,
    Firing,
    Outcome,
    PlannedEpisode,
)
from wayfare.store.room import Room
from wayfare.store.secret import Secrets
from wayfare.store.writer import RunWriter

RETRY_SECONDS = 0.05
"""How long the first repeated attempt is put off, each further one twice as long, up to a bound."""
RETRY_DOUBLINGS = 5


@dataclass(frozen=True, slots=True)
class RunRules:
    """What a run is asked to do beside its graph and its list of episodes."""

    seed: int = 0
    retries: int = 2
    step_budget: int | None = None
    """The budget that goes over the episode's own; None: the episode's, else `fallback_budget`."""
    fallback_budget: int | None = None
    """The graph's, else the environment's."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """How one attempt ended: by a result with its firings, or by an error."""

    result: GraphResult | None
    tape: Tape
    firings: Sequence[Firing] = ()
    error: ErrorRecord | None = None
    is_spent: bool = False
    """Whether what failed has been tried as often as it may be."""

    @property
    def outcome(self) -> Outcome:
        if self.result is None:
            return "error"
        return "truncated" if self.result.truncated else "completed"


class BatchEvalRunner:
    """Workers pull episodes; one is put on disk while its worker runs the next, no further one."""

    def __init__(
        self,
        plan: EpisodePlan,
        loop: LoopRunner,
        rules: RunRules,
        *,
        writer: RunWriter,
        recorder: Recorder,
        observer: Observer,
        clock: Callable[[], float],
        earlier: Mapping[EpisodeKey, Sequence[Attempt]],
        room: Room,
        secrets: Secrets,
    ) -> None:
        self._plan = plan
        self._loop = loop
        self._rules = rules
        self._committer = Committer(writer)
        self._recorder = recorder
        self._observer = observer
        self._clock = clock
        """Seconds since the run began."""
        self._earlier = earlier
        """Attempts at the episodes from before the run was resumed; they are kept, not counted."""
        self._room = room
        self._secrets = secrets
        self._schedule = Schedule(
            plan.planned,
            [self._budget(planned) for planned in plan.planned],
            keeps_order=plan.is_ordered_by_user,
        )
        self._unready: set[asyncio.Future[None]] = set()

    async def run(self, workers: Sequence[WorkerHandle], drain: Drain) -> None:
        """Run every episode of the list, or stop when `drain` is over.

        Raises what no retry can mend: a copy that can't be started again, a disk that refuses.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                lanes = [tasks.create_task(self._work(worker, drain, tasks)) for worker in workers]
                stopper = tasks.create_task(self._stop_when_asked(lanes, drain))
                await asyncio.wait(lanes)
                stopper.cancel()
        except BaseExceptionGroup as group:
            raise _first(group) from group

    async def _work(self, worker: WorkerHandle, drain: Drain, tasks: asyncio.TaskGroup) -> None:
        finishing: asyncio.Task[None] | None = None
        await self._wait_until_ready(worker)
        while self._schedule and not drain.is_asked:
            planned = self._schedule.take(worker.index)
            if not self._schedule:
                self._give_up_waiting()
            record, ended = await self._run_one_episode(worker, planned)
            if finishing is not None:
                await asyncio.wait([finishing])
            finishing = tasks.create_task(self._finish(record, ended))

    async def _wait_until_ready(self, worker: WorkerHandle) -> None:
        """Return when the worker's copies are ready, or when it has nothing to do any more."""
        ready = asyncio.ensure_future(worker.wait_until_ready())
        self._unready.add(ready)
        try:
            await asyncio.wait([ready])
        finally:
            self._unready.discard(ready)
            ready.cancel()
        if not ready.cancelled():
            ready.result()

    def _give_up_waiting(self) -> None:
        for ready in self._unready:
            ready.cancel()

    async def _stop_when_asked(self, lanes: Sequence[asyncio.Task[None]], drain: Drain) -> None:
        await drain.wait_until_asked()
        self._give_up_waiting()
        await drain.wait_until_over()
        for lane in lanes:
            lane.cancel()

    async def _finish(self, record: EpisodeRecord, ended: _Ended) -> None:
        try:
            await self._to_the_end(self._commit(record, ended))
        except NoRoomError:
            return  # the run was asked to end while the disk was full: the episode is not finished
        self._observer.episode_finished(record)

    async def _commit(self, record: EpisodeRecord, ended: _Ended) -> None:
        """Put the recording on disk before the record, so that what counts has its recording."""
        await ended.tape.keep(record)
        await self._committer.commit(record, ended.firings)

    async def _to_the_end(self, commit: Coroutine[Any, Any, None]) -> None:
        """Await a commit; cancelled meanwhile, still only end with it: its thread can't be stopped.

        By then nothing waits for room any more, since the run ends.
        """
        task = asyncio.ensure_future(commit)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            self._room.give_up()
            await asyncio.wait([task])
            raise

    async def _run_one_episode(
        self, worker: WorkerHandle, planned: PlannedEpisode
    ) -> tuple[EpisodeRecord, _Ended]:
        """Return the episode's record and how its last attempt ended.

        Faults of infrastructure are tried again on fresh copies, from the episode's beginning.
        """
        attempts = list(self._earlier.get(planned.key, ()))
        first = len(attempts) + 1
        while True:
            self._observer.episode_started(worker.index, planned.key, len(attempts) + 1)
            started = self._clock()
            ended = await self._attempt(worker, planned)
            attempts.append(
                Attempt(
                    number=len(attempts) + 1,
                    worker=worker.index,
                    started_seconds=started,
                    ended_seconds=self._clock(),
                    error=ended.error,
                )
            )
            if ended.error is None or ended.error.is_final or ended.is_spent:
                break
            repeated = len(attempts) - first
            if repeated >= self._rules.retries:
                break
            ended.tape.discard()
            self._observer.attempt_failed(worker.index, planned.key, ended.error)
            await asyncio.sleep(RETRY_SECONDS * 2 ** min(repeated, RETRY_DOUBLINGS))
        return self._record(planned, attempts, ended), ended

    async def _attempt(self, worker: WorkerHandle, planned: PlannedEpisode) -> _Ended:
        episode = self._plan.context(planned, self._rules.seed)
        tape = self._recorder.start(worker.index, planned, episode)
        try:
            async with limited(worker.episode_seconds):
                await worker.replace_dead_copies()
                await worker.open_episode(episode)
                result = await self._loop.run(episode, tape.wrap(worker), self._budget(planned))
                firings = await worker.close_episode()
        except (NodeFailure, NodeSetError) as failure:
            return _Ended(None, tape, error=self._secrets.mask_error(describe_failure(failure)))
        except InfrastructureError as fault:
            error = self._secrets.mask_error(describe_fault(fault))
            return _Ended(None, tape, error=error, is_spent=is_spent(fault))
        return _Ended(result, tape, [Firing(*firing) for firing in firings])

    def _budget(self, planned: PlannedEpisode) -> int | None:
        own = self._plan.step_budget(planned)
        choices = (self._rules.step_budget, own, self._rules.fallback_budget)
        return next((budget for budget in choices if budget is not None), None)

    def _record(
        self, planned: PlannedEpisode, attempts: Sequence[Attempt], ended: _Ended
    ) -> EpisodeRecord:
        last = attempts[-1]
        record = EpisodeRecord(
            key=planned.key,
            index=planned.index,
            group=planned.group,
            outcome=ended.outcome,
            attempts=tuple(attempts),
            worker=last.worker,
            steps=ended.result.steps if ended.result else 0,
            seconds=last.ended_seconds - last.started_seconds,
            step_budget=self._budget(planned),
            metrics=dict(ended.result.metrics) if ended.result else {},
            undefined=dict(ended.result.undefined) if ended.result else {},
            error=ended.error,
        )
        digest = episode_digest(
            record.key,
            outcome=record.outcome,
            firings=ended.firings,
            metrics=record.metrics,
            undefined=record.undefined,
            error=record.error,
        )
        return replace(record, digest=digest.hex())


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
