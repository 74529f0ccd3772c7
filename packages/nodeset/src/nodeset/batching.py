"""Decide when the waiting calls of batched tools become a batch, and serve it.

Knows nothing of threads or sockets: its owner holds the lock, the clock and the thread. Whom a
batch waits for is weighed in `patience`, by what `habit` has learnt.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

import msgpack

from nodeset.batch import BatchRunner, BatchStats, Forward
from nodeset.batch_queue import DEFAULT_SETTINGS, BatchQueue, BatchSettings, Key
from nodeset.caller import Call, Caller
from nodeset.contract import BaseCanvasNode
from nodeset.digest import digest_value
from nodeset.habit import Wave

_MAX_IDLE_QUEUES = 256


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


@dataclass(frozen=True)
class Flush:
    """Calls of one function and configuration that are served together, and why now."""

    queue: BatchQueue
    reason: str
    calls: List[Call]


class BatchedInferenceServer:
    """Coalesces the calls of a copy's batched tools.

    All methods but `serve` and `note_free` need the owner's lock; `serve` runs author code through
    `forward`, and both must be called by the thread that such code belongs to. `row_limit` bounds
    every batch (1: batches of one); 0 leaves it to the tools.
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
        self._queues: OrderedDict[Key, BatchQueue] = OrderedDict()
        self._waiting: Dict[BatchQueue, None] = {}
        self._callers: Set[Caller] = set()
        self._served: Optional[Tuple[Flush, float]] = None
        self._runners = {
            name: BatchRunner(tool, forward, clock, BatchStats(), row_limit)
            for name, tool in tools.items()
            if tool.batched
        }

    @property
    def may_be_called(self) -> bool:
        """Say whether a caller with an open episode has no call waiting; needs no lock."""
        return not all(caller.waiting for caller in list(self._callers))

    def submit(self, calls: Sequence[Call]) -> None:
        """Queue calls that one caller made ready together; `caller.waiting` counts them already."""
        groups: Dict[Key, List[Call]] = {}
        for call in calls:
            groups.setdefault((call.tool, hash_config(call.config)), []).append(call)
        now = self._clock()
        if calls[0].caller.has_open_episode:
            self._callers.add(calls[0].caller)
        for key, group in groups.items():
            queue = self._queue(key)
            queue.add(group, now)
            self._waiting[queue] = None

    def close_episode(self, caller: Caller) -> None:
        """Expect `caller` nowhere any more, until its next episode calls here."""
        self._callers.discard(caller)
        caller.itinerary.start(self._clock())
        for queue in self._queues.values():
            queue.members.pop(caller, None)

    def discard(self, call: Call) -> bool:
        """Drop a waiting call; say whether it was still waiting."""
        for queue in list(self._waiting):
            if queue.discard(call):
                if not queue.calls:
                    del self._waiting[queue]
                return True
        return False

    def is_due(self) -> bool:
        """Say whether `take_flush` would return a batch now."""
        return bool(self._waiting) and self._choose() is not None

    def take_flush(self, *, is_closing: bool = False, before: float = math.inf) -> Optional[Flush]:
        """Take the batch that is due and goes first, if it was begun before `before`."""
        if not self._waiting:
            return None
        chosen = self._first_waiting() if is_closing else self._choose()
        if chosen is None or chosen[0].calls[0].arrived_at >= before:
            return None
        queue, reason = chosen
        calls = queue.take(reason)
        if not queue.calls:
            del self._waiting[queue]
        return Flush(queue, reason, calls)

    def next_wakeup(self) -> Optional[float]:
        """Return when a batch becomes due if nothing arrives; None if nothing waits."""
        if not self._waiting:
            return None
        now = self._clock()
        return min(q.next_wakeup(now, self._free_since, self._callers) for q in self._waiting)

    def serve(self, flush: Flush) -> None:
        """Run the handler over the calls of `flush` and answer every one of them."""
        runner = self._runners[flush.queue.key[0]]
        runner.stats.flushes[flush.reason] = runner.stats.flushes.get(flush.reason, 0) + 1
        self._served = flush, self._clock()
        wave = Wave(len(flush.calls))
        for call in flush.calls:
            call.wave = wave
        runner.serve(flush.calls)

    def note_free(self) -> None:
        """Remember that the thread that runs author code has become free."""
        self._free_since = self._clock()
        if self._served is not None:
            flush, started = self._served
            flush.queue.note_served(len(flush.calls), started, self._free_since)
            self._served = None
        for queue in list(self._waiting):  # a copy: other threads add to it
            queue.reconsider()

    def describe(self) -> Dict[str, Dict[str, Any]]:
        """Return the counters of every batched tool."""
        return {name: runner.stats.describe() for name, runner in self._runners.items()}

    def _first_waiting(self) -> Optional[Tuple[BatchQueue, str]]:
        queue = min(self._waiting, key=_begun_at, default=None)
        return None if queue is None else (queue, "closing")

    def _choose(self) -> Optional[Tuple[BatchQueue, str]]:
        """Return the batch to be served now, and why.

        Of several, the one whose callers come soonest to another of them goes first: there they
        find those with whom they can share batches from then on. Else what has waited longest.
        """
        now = self._clock()
        due = [
            (queue, reason)
            for queue in self._waiting
            for reason in (queue.flush_reason(now, self._free_since, self._callers),)
            if reason is not None
        ]
        if len(due) < 2:
            return due[0] if due else None
        due.sort(key=lambda pair: _begun_at(pair[0]))
        if now - _begun_at(due[0][0]) >= self._settings.flush_timeout_seconds:
            return due[0]
        waiting = [queue.key for queue, _ in due]
        return min(due, key=lambda pair: pair[0].seconds_to_return(waiting))

    def _queue(self, key: Key) -> BatchQueue:
        queue = self._queues.get(key)
        if queue is None:
            self._forget_idle_queues()
            tool = self._tools[key[0]]
            limit = self._row_limit or tool.max_batch or tool.pad_batch
            queue = self._queues[key] = BatchQueue(key, limit, self._settings)
        return queue

    def _forget_idle_queues(self) -> None:
        """Keep the number of queues bounded where configurations never repeat."""
        if len(self._queues) < _MAX_IDLE_QUEUES:
            return
        idle = [key for key, queue in self._queues.items() if not queue.calls]
        for key in idle[: max(1, len(idle) // 2)]:
            del self._queues[key]


def _begun_at(queue: BatchQueue) -> float:
    return queue.calls[0].arrived_at
