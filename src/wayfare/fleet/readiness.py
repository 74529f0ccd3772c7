"""Make copies ready side by side, and let each worker begin as soon as its own are.

Knows nothing of what workers do then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nodeset.errors import NodeSetError
from wayfare.fleet.errors import CopyFailedError, CopyStartError
from wayfare.fleet.member import Member, RunningCopy

MAX_FAILED_STARTS = 2
"""How often in a row a copy may fail to become ready by itself before the run is given up."""
MAX_KILLED_STARTS = 6
"""How often in a row a replicated copy may be killed before it is ready."""


class Readiness:
    """The copies of a fleet on their way to being ready; `end` it."""

    def __init__(
        self, copies: Mapping[str, RunningCopy], replace: Callable[[str], Awaitable[None]]
    ) -> None:
        self._copies = copies
        self._replace = replace
        self._readying: dict[str, asyncio.Task[None]] = {}

    def begin(self, *, but_first_of: str | None = None) -> None:
        """Begin to make every copy ready, all at once, but for those that have been begun with.

        `but_first_of`: the nodeset whose first copy has something to answer before.
        """
        for tag, running in self._copies.items():
            nodeset, first = running.member.instance, running.member.placement.copies[0].tag
            if tag not in self._readying and (nodeset, tag) != (but_first_of, first):
                self._readying[tag] = asyncio.create_task(self._make_ready(running))

    async def wait_for(self, worker: int) -> None:
        """Return when all copies that the worker calls are ready.

        Raises CopyStartError, or the author's error.
        """
        for tag, running in self._copies.items():
            if worker in running.place.workers and tag in self._readying:
                await asyncio.shield(self._readying[tag])

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

    async def _make_ready(self, running: RunningCopy) -> None:
        """Initialize a copy, or a fresh one if it is killed meanwhile, which is no mistake."""
        try:
            await initialize(running)
        except CopyStartError as error:
            if not error.was_killed:
                raise
            last = judge_failed_start(running, error)
        else:
            return
        while isinstance(last, CopyFailedError):
            try:
                await self._replace(running.tag)
            except CopyFailedError as error:
                last = error
            else:
                return
        raise last

    async def end(self) -> None:
        """Kill copies that are not ready yet: they hear no shutdown before they are."""
        for tag, readying in self._readying.items():
            if not readying.done():
                self._copies[tag].copy.kill()
                readying.cancel()
        await asyncio.gather(*self._readying.values(), return_exceptions=True)


async def initialize(running: RunningCopy) -> None:
    await ask_to_start(running, "initialize")


async def ask_to_start(running: RunningCopy, op: str, **fields: Any) -> dict[str, Any]:
    """Return the reply; whatever befalls the copy is a mistake in the set-up until it is ready."""
    try:
        budget_seconds = running.budget_seconds("initialize")
        return await running.control.request(op, budget_seconds=budget_seconds, **fields)
    except CopyFailedError as error:
        if error.death is None:  # it is past its budget, or can't be reached
            running.copy.kill()
        raise CopyStartError(describe_start(running.member, error), error.death) from error


def judge_failed_start(running: RunningCopy, error: CopyStartError | NodeSetError) -> Exception:
    """Return what to raise when a copy did not become ready in its place.

    A replicated one that was killed may be started again, since that costs its own worker alone. A
    reason of its own is believed the second time, and so is any of a shared copy, for which all
    workers wait: that it had become ready before speaks for a passing one.
    """
    start, fate = error if isinstance(error, CopyStartError) else None, running.fate
    fate.first_cause = fate.first_cause or str(error)
    if start is not None and start.was_killed and running.member.placement.on_death != "resend":
        fate.killed_starts += 1
    else:
        fate.failed_starts += 1
    if fate.failed_starts < MAX_FAILED_STARTS and fate.killed_starts < MAX_KILLED_STARTS:
        return CopyFailedError(str(error), start.death if start else None)
    again = fate.failed_starts + fate.killed_starts
    if fate.first_cause == str(error):
        return start or CopyStartError(describe_start(running.member, error))
    return CopyStartError(
        f"{describe_start(running.member, error)}\nIt was start {again} in a row that failed; the "
        f"first cause was: {fate.first_cause}",
        start.death if start else None,
    )


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
