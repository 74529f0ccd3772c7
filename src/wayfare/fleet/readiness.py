"""Make copies ready side by side, and let each worker begin as soon as its own are.

Knows nothing of what workers do then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from nodeset.errors import NodeSetError
from wayfare.fleet.errors import BudgetExceededError, CopyFailedError, CopyStartError
from wayfare.fleet.member import Member, RunningCopy

MAX_FAILED_STARTS = 2
"""How often in a row a fresh copy may fail by itself before the run is given up."""


class Readiness:
    """The copies of a fleet on their way to being ready; `end` it."""

    def __init__(self, copies: Mapping[str, RunningCopy]) -> None:
        self._copies = copies
        self._readying: dict[str, asyncio.Task[None]] = {}

    def begin(self, *, but_first_of: str | None = None) -> None:
        """Begin to make every copy ready, all at once, but for those that have been begun with.

        `but_first_of`: the nodeset whose first copy has something to answer before.
        """
        for tag, running in self._copies.items():
            nodeset, first = running.member.instance, running.member.placement.copies[0].tag
            if tag not in self._readying and (nodeset, tag) != (but_first_of, first):
                self._readying[tag] = asyncio.create_task(initialize(running))

    async def wait_for(self, worker: int, *, may_be_killed: bool = False) -> None:
        """Return when all copies that the worker calls are ready.

        `may_be_killed`: one that a signal ended meanwhile is left for `Fleet.replace`. Raises
        CopyStartError, or the author's error.
        """
        for tag, running in self._copies.items():
            if worker in running.place.workers and tag in self._readying:
                try:
                    await asyncio.shield(self._readying[tag])
                except CopyStartError as error:
                    if not (may_be_killed and error.was_killed):
                        raise

    async def wait_for_one(self) -> None:
        """Return when the first worker can begin. Raises as `wait_for`."""
        workers = {worker for copy in self._copies.values() for worker in copy.place.workers}
        waits = [asyncio.create_task(self.wait_for(worker)) for worker in sorted(workers)]
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        for wait in done:
            wait.result()

    async def end(self) -> None:
        """Kill copies that are not ready yet: they hear no shutdown before they are."""
        for tag, readying in self._readying.items():
            if not readying.done():
                self._copies[tag].copy.kill()
                readying.cancel()
        await asyncio.gather(*self._readying.values(), return_exceptions=True)


async def initialize(running: RunningCopy) -> None:
    await ask_to_start(running, "initialize")


async def ask_to_start(running: RunningCopy, op: str) -> dict[str, Any]:
    """Return the reply; whatever befalls the copy is a mistake in the set-up until it is ready."""
    try:
        budget_seconds = running.budget_seconds("initialize")
        return await running.control.request(op, budget_seconds=budget_seconds)
    except CopyFailedError as error:
        raise CopyStartError(describe_start(running.member, error), error.death) from error
    except BudgetExceededError as error:
        running.copy.kill()
        raise CopyStartError(describe_start(running.member, error)) from error


def judge_failed_start(running: RunningCopy, error: CopyStartError | NodeSetError) -> Exception:
    """Return what to raise when a fresh copy did not become ready in the place of a dead one.

    Whoever was killed may be started again. A reason of its own is believed the second time: that
    it had become ready before speaks for a passing one.
    """
    start = error if isinstance(error, CopyStartError) else None
    if start is None or not start.was_killed:
        running.failed_starts += 1
    if running.failed_starts >= MAX_FAILED_STARTS:
        return start or CopyStartError(describe_start(running.member, error))
    return CopyFailedError(str(error), start.death if start else None)


def describe_start(member: Member, error: Exception) -> str:
    """Return why a copy did not start: the host's own word where it gave one."""
    death = error.death if isinstance(error, CopyFailedError) else None
    if death is None:
        reason = str(error)
    else:
        reason = death.refusal or death.describe()
    if reason.startswith(f"nodeset {member.declaration.name!r} ("):  # it says where by itself
        return reason
    return f"nodeset {member.instance!r} ({member.declaration.path}) did not start: {reason}"
