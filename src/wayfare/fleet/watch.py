"""Watch what running copies are at, and kill those that hang, fall silent or grow without bounds.

Knows nothing of workers, of attempts or of what becomes of a copy that was killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wayfare.fleet.errors import CopyFailedError, Verdict
from wayfare.fleet.launcher import Copy, Progress, RunningCall
from wayfare.fleet.member import RunningCopy

POLL_SECONDS = 0.2
LATE_SECONDS = 2.0
"""A look that comes so late says that this process was held up, and perhaps the copies too."""
PING_SECONDS = 2.0
"""How often a copy that shows no progress is asked whether it is there."""
SILENCE_SECONDS = 10.0
"""How long a copy in which no call runs may take to answer, or to begin what it was sent."""
MEMORY_SECONDS = 1.0
RUNAWAY_FACTOR = 1.5
"""Beyond so many times its memory limit a copy is killed within its episode."""


@dataclass(slots=True)
class _Sight:
    """What was seen of one copy."""

    pid: int
    alive: float
    """When it was last known to do or to answer something."""
    moved: float
    """When something of what it was sent was last seen to begin or to end."""
    ended: int = 0
    oldest: tuple[int, ...] = ()
    """What has waited longest on each of its links."""
    overdue: tuple[int, str] | None = None
    """The call that was past its budget at the last look."""
    measured: float = 0.0
    pinged: float = 0.0
    ping: asyncio.Task[None] | None = None


class Watch:
    """Looks at the copies again and again; `run` it as a task, and cancel it to end.

    A call's length is that of the author's code alone: what waits in a copy's queue costs no
    budget. Time in which this process was held up counts for nothing.
    """

    def __init__(self, copies: Mapping[str, RunningCopy]) -> None:
        self._copies = copies
        self._sights: dict[str, _Sight] = {}
        self._resumed = time.monotonic()

    async def run(self) -> None:
        """Look until cancelled."""
        looked = time.monotonic()
        try:
            while True:
                await asyncio.sleep(POLL_SECONDS)
                now = time.monotonic()
                if now - looked > LATE_SECONDS:
                    self._forget(now)
                looked = now
                for running in self._copies.values():
                    if not running.is_gone:
                        await self._look_at(running, now)
        finally:
            self._forget(looked)

    def _forget(self, now: float) -> None:
        """Begin anew: what was seen before says nothing."""
        self._resumed = now
        for sight in self._sights.values():
            if sight.ping is not None:
                sight.ping.cancel()
        self._sights.clear()

    async def _look_at(self, running: RunningCopy, now: float) -> None:
        progress = await running.copy.progress()
        if progress is None:
            return
        sight = self._sights.get(running.tag)
        if sight is None or sight.pid != running.copy.pid:
            sight = self._sights[running.tag] = _Sight(running.copy.pid, alive=now, moved=now)
        _compare(sight, running, progress, now)
        running.ended, running.ended_seconds = progress.ended, progress.ended_seconds
        self._ping(running, sight, now)
        verdict = (
            self._judge_calls(running, sight, progress, now)
            or _judge_silence(sight, now)
            or await _judge_memory(running, sight, now)
        )
        if verdict is not None:
            running.doom(verdict)

    def _ping(self, running: RunningCopy, sight: _Sight, now: float) -> None:
        """Ask a copy in which nothing is seen to happen whether it is there."""
        is_asked = sight.ping is not None and not sight.ping.done()
        if not is_asked and now - max(sight.pinged, sight.alive) >= PING_SECONDS:
            sight.pinged = now
            sight.ping = asyncio.create_task(_ask(running, sight), name=f"ping {running.tag}")

    def _judge_calls(
        self, running: RunningCopy, sight: _Sight, progress: Progress, now: float
    ) -> Verdict | None:
        """Return a verdict on a call that is past its budget at this look and was at the last.

        Once alone it may be read while the copy writes it.
        """
        before, sight.overdue = sight.overdue, None
        for call in progress.running:
            budget = running.budget_seconds(call.budget)
            if min(call.seconds, now - self._resumed) > budget:
                sight.overdue = (call.call_id, call.name)
                if before == sight.overdue:
                    return Verdict("budget", _describe_overdue(call, budget))
        return None


async def end_stopped(copies: Sequence[Copy]) -> None:
    """Kill those that stay stopped, for copies on their way to being ready; until cancelled.

    Looks are counted, not seconds: what was not seen while this process stood still is no proof.
    """
    held: Counter[int] = Counter()
    while True:
        await asyncio.sleep(POLL_SECONDS)
        for copy in copies:
            progress = await copy.progress() if copy.death() is None else None
            is_stopped = progress is not None and progress.is_stopped
            held[copy.pid] = held[copy.pid] + 1 if is_stopped else 0
            if held[copy.pid] * POLL_SECONDS > SILENCE_SECONDS:
                text = f"it was stopped for {SILENCE_SECONDS:g} s before it was ready."
                copy.kill(Verdict("silence", text))


def _compare(sight: _Sight, running: RunningCopy, progress: Progress, now: float) -> None:
    """Note whether the copy has done something since the last look."""
    oldest = tuple(sorted(link.oldest_request or 0 for link in running.links))
    has_ended_some = progress.ended != sight.ended
    if has_ended_some or (progress.running and not progress.is_stopped):
        sight.alive = now
    if has_ended_some or progress.running or not any(oldest) or oldest != sight.oldest:
        sight.moved = now
    sight.ended, sight.oldest = progress.ended, oldest


def _judge_silence(sight: _Sight, now: float) -> Verdict | None:
    if now - sight.alive > SILENCE_SECONDS:
        return Verdict("silence", f"it did and answered nothing for {SILENCE_SECONDS:g} s.")
    if now - sight.moved > SILENCE_SECONDS:
        text = f"for {SILENCE_SECONDS:g} s it did not begin what it was sent."
        return Verdict("silence", text)
    return None


async def _judge_memory(running: RunningCopy, sight: _Sight, now: float) -> Verdict | None:
    limit = running.member.declaration.deployment.memory_limit
    if limit is None or now - sight.measured < MEMORY_SECONDS:
        return None
    sight.measured = now
    size = await running.copy.measure_memory()
    if size <= limit * RUNAWAY_FACTOR:
        return None
    return Verdict(
        "memory",
        f"it held {size} bytes of memory in the middle of an episode, more than {RUNAWAY_FACTOR:g} "
        f"times its memory_limit of {limit}.",
    )


async def _ask(running: RunningCopy, sight: _Sight) -> None:
    with contextlib.suppress(CopyFailedError):
        await running.control.request("health", budget_seconds=math.inf)
        sight.alive = time.monotonic()


def _describe_overdue(call: RunningCall, budget: float) -> str:
    rows = f" for {call.rows} calls" if call.rows > 1 else ""
    name = call.name.rpartition("__")[2]
    return (
        f"its {name!r}{rows} had run for {call.seconds:.1f} s and not returned; the budget "
        f"{call.budget!r} is {budget:g} s."
    )
