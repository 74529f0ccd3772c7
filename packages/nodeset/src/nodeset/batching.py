"""Decide when the waiting calls of batched tools become a batch, and serve it.

Knows nothing of threads or sockets: its owner holds the lock, the clock and the thread.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

import msgpack

from nodeset.batch import BatchRunner, BatchStats, Forward
from nodeset.caller import Call, Caller
from nodeset.contract import BaseCanvasNode
from nodeset.digest import digest_value

Key = Tuple[str, bytes]
"""The function's name and the hash of its configuration."""

_MAX_IDLE_QUEUES = 256


@dataclass(frozen=True)
class BatchSettings:
    """How long a batch is waited for, in seconds.

    `gap_seconds` is the pause without a new row after which nobody is waited for; it follows the
    spacing of the rows between `gap_seconds` and `max_gap_seconds`.
    """

    flush_timeout_seconds: float = 0.050
    gap_seconds: float = 0.001
    max_gap_seconds: float = 0.005


DEFAULT_SETTINGS = BatchSettings()


def hash_config(config: Mapping[str, Any]) -> bytes:
    """Return a hash of `config` that does not depend on the order of its keys."""
    try:
        packed = msgpack.packb(config)
    except (TypeError, ValueError, OverflowError):
        return digest_value(dict(config))
    return _hash_packed(packed)


@lru_cache(maxsize=1024)
def _hash_packed(packed: bytes) -> bytes:
    """Return the hash of a packed configuration: packing is a tenth of the cost of hashing."""
    return digest_value(msgpack.unpackb(packed, strict_map_key=False))


class _BatchQueue:
    """The calls that wait for one function with one configuration.

    `members` are the callers whose open episode has called here: those among them that wait
    nowhere else are due. The times that come in and go out are the owner's clock's.
    """

    def __init__(self, tool: str, limit: int, settings: BatchSettings) -> None:
        self.tool = tool
        self.members: Set[Caller] = set()
        self.calls: List[Call] = []
        self._limit = limit
        self._settings = settings
        self._last_arrival = float("-inf")
        self._served_at = float("-inf")
        self._spacing = 0.0

    @property
    def gap_seconds(self) -> float:
        """The pause after which nobody is waited for: three usual spacings, within bounds."""
        settings = self._settings
        return min(max(3 * self._spacing, settings.gap_seconds), settings.max_gap_seconds)

    def add(self, calls: Sequence[Call], now: float) -> None:
        """Queue calls that were made ready together."""
        self._observe(now - self._last_arrival)
        self._last_arrival = now
        for call in calls:
            call.arrived_at = now
            if call.caller.has_open_episode:
                self.members.add(call.caller)
        self.calls.extend(calls)

    def _observe(self, spacing: float) -> None:
        """Follow the spacing of arrivals that belong to one wave, not the pause between waves."""
        if spacing <= 2 * self._settings.max_gap_seconds:
            self._spacing += (spacing - self._spacing) / 4

    def flush_reason(
        self, now: float, free_since: float, is_closing: bool = False
    ) -> Optional[str]:
        """Return why the waiting calls are served now, or None while they wait.

        `free_since` is the moment since which the handler has been free.
        """
        if not self.calls:
            return None
        if is_closing:
            return "closing"
        if all(member.waiting for member in self.members):
            return "all_waiting"
        if self._limit and len(self.calls) >= self._limit:
            return "max_batch"
        if now >= self._timeout_at():
            return "timeout"
        if now >= self._gap_ends_at(free_since):
            return "gap"
        return None

    def next_wakeup(self, free_since: float) -> Optional[float]:
        """Return when `flush_reason` changes if nothing arrives; None if nothing waits."""
        if not self.calls:
            return None
        return min(self._timeout_at(), self._gap_ends_at(free_since))

    def _timeout_at(self) -> float:
        """Return when the first call has waited long enough.

        A batch that ran longer than the timeout would otherwise keep its callers and those that
        came meanwhile apart for good: the former get one gap to come back.
        """
        first = self.calls[0].arrived_at + self._settings.flush_timeout_seconds
        return max(first, self._served_at + self.gap_seconds)

    def _gap_ends_at(self, free_since: float) -> float:
        return max(self._last_arrival, free_since) + self.gap_seconds

    def take(self, reason: str) -> List[Call]:
        """Remove and return the calls that are served now."""
        count = self._limit if reason == "max_batch" else len(self.calls)
        taken, self.calls = self.calls[:count], self.calls[count:]
        return taken

    def discard(self, call: Call) -> bool:
        """Remove a call that nobody waits for any more; say whether it was here."""
        if call not in self.calls:
            return False
        self.calls.remove(call)
        return True

    def note_served(self, now: float) -> None:
        """Remember when a batch of this queue ended."""
        self._served_at = now


@dataclass(frozen=True)
class Flush:
    """Calls of one function and configuration that are served together, and why now."""

    queue: _BatchQueue
    reason: str
    calls: List[Call]


class BatchedInferenceServer:
    """Coalesces the calls of a copy's batched tools.

    All methods but `serve` need the owner's lock; `serve` runs author code through `forward` and
    must be called by the thread that such code belongs to. `row_limit` bounds every batch
    (1: batches of one); 0 leaves it to the tools.
    """

    def __init__(
        self,
        tools: Mapping[str, BaseCanvasNode],
        forward: Forward,
        clock: Callable[[], float],
        *,
        row_limit: int = 0,
        settings: BatchSettings = DEFAULT_SETTINGS,
    ) -> None:
        self._tools = tools
        self._clock = clock
        self._row_limit = row_limit
        self._settings = settings
        self._free_since = float("-inf")
        self._queues: OrderedDict[Key, _BatchQueue] = OrderedDict()
        self._runners = {
            name: BatchRunner(tool, forward, clock, BatchStats(), row_limit)
            for name, tool in tools.items()
            if tool.batched
        }

    def submit(self, calls: Sequence[Call]) -> None:
        """Queue calls that one caller made ready together; `caller.waiting` counts them already."""
        groups: Dict[Key, List[Call]] = {}
        for call in calls:
            groups.setdefault((call.tool, hash_config(call.config)), []).append(call)
        now = self._clock()
        for key, group in groups.items():
            self._queue(key).add(group, now)

    def close_episode(self, caller: Caller) -> None:
        """Wait for `caller` at no key any more, until its next episode calls there."""
        for queue in self._queues.values():
            queue.members.discard(caller)

    def discard(self, call: Call) -> bool:
        """Drop a waiting call; say whether it was still waiting."""
        return any(queue.discard(call) for queue in self._queues.values())

    def is_due(self) -> bool:
        """Say whether `take_flush` would return a batch now."""
        return self._oldest(is_closing=False) is not None

    def take_flush(self, *, is_closing: bool = False, before: float = math.inf) -> Optional[Flush]:
        """Take the batch that is due and has waited longest, if one was begun before `before`."""
        ready = self._oldest(is_closing)
        if ready is None or ready[0].calls[0].arrived_at >= before:
            return None
        queue, reason = ready
        return Flush(queue, reason, queue.take(reason))

    def next_wakeup(self) -> Optional[float]:
        """Return when a batch becomes due if nothing arrives; None if nothing waits."""
        moments = [queue.next_wakeup(self._free_since) for queue in self._queues.values()]
        return min((moment for moment in moments if moment is not None), default=None)

    def serve(self, flush: Flush) -> None:
        """Run the handler over the calls of `flush` and answer every one of them."""
        runner = self._runners[flush.queue.tool]
        runner.stats.flushes[flush.reason] = runner.stats.flushes.get(flush.reason, 0) + 1
        runner.serve(flush.calls)
        flush.queue.note_served(self._clock())

    def note_free(self) -> None:
        """Remember that the thread that runs author code has become free."""
        self._free_since = self._clock()

    def describe(self) -> Dict[str, Dict[str, Any]]:
        """Return the counters of every batched tool."""
        return {name: runner.stats.describe() for name, runner in self._runners.items()}

    def _oldest(self, is_closing: bool) -> Optional[Tuple[_BatchQueue, str]]:
        now = self._clock()
        oldest: Optional[Tuple[_BatchQueue, str]] = None
        for queue in self._queues.values():
            reason = queue.flush_reason(now, self._free_since, is_closing)
            if reason is None:
                continue
            if oldest is None or queue.calls[0].arrived_at < oldest[0].calls[0].arrived_at:
                oldest = queue, reason
        return oldest

    def _queue(self, key: Key) -> _BatchQueue:
        queue = self._queues.get(key)
        if queue is None:
            self._forget_idle_queues()
            tool = self._tools[key[0]]
            limit = self._row_limit or tool.max_batch or tool.pad_batch
            queue = self._queues[key] = _BatchQueue(key[0], limit, self._settings)
        return queue

    def _forget_idle_queues(self) -> None:
        """Keep the number of queues bounded where configurations never repeat."""
        if len(self._queues) < _MAX_IDLE_QUEUES:
            return
        idle = [key for key, queue in self._queues.items() if not queue.calls]
        for key in idle[: max(1, len(idle) // 2)]:
            del self._queues[key]
