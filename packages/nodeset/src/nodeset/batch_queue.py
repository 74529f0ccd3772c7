"""Hold the calls that wait for one function with one configuration, and say when they leave.

Knows nothing of other queues, of the handler or of threads; times are its owner's clock's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Collection, Dict, List, Optional, Sequence, Tuple

from nodeset.caller import Call, Caller
from nodeset.habit import ServeTime, Window
from nodeset.patience import Outlook, count_worth_waiting

Key = Tuple[str, bytes]
"""The function's name and the hash of its configuration."""


GRACE_SHARE = 0.1
"""Of the time in which a batch is served: how long its callers get to come back for the next."""


@dataclass(frozen=True)
class BatchSettings:
    """How long a batch is waited for, in seconds.

    `flush_timeout_seconds` bounds every wait. `gap_seconds` is the pause without a new row for
    which callers are waited for of whom nothing is known yet.
    """

    flush_timeout_seconds: float = 0.050
    gap_seconds: float = 0.001


DEFAULT_SETTINGS = BatchSettings()


@dataclass(frozen=True)
class Plan:
    """Who is waited for, the last to come first, and when that is thought over again.

    `gives_up`: not everyone is waited for who is expected to call here.
    """

    awaited: Dict[Caller, None]
    until: float
    gives_up: bool

    def is_fulfilled(self) -> bool:
        """Say whether everyone waits by now, here or elsewhere, or has left."""
        return all(caller.waiting or not caller.has_open_episode for caller in self.awaited)


_NOBODY = Plan({}, float("inf"), gives_up=False)


class BatchQueue:
    """The calls that wait for one key, and what is known of serving them.

    `members` are the callers whose open episode has called here, and when they did last.
    """

    def __init__(self, key: Key, limit: int, settings: BatchSettings) -> None:
        self.key = key
        self.members: Dict[Caller, float] = {}
        self.calls: List[Call] = []
        self._limit = limit
        self._settings = settings
        self._last_arrival = float("-inf")
        self._served_at = float("-inf")
        self._serve_time = ServeTime()
        self._spacings = Window()
        self._cycles = Window()
        self._plan: Optional[Plan] = None

    def add(self, calls: Sequence[Call], now: float) -> None:
        """Queue calls that one caller made ready together."""
        caller = calls[0].caller
        self._last_arrival = now
        spacing = caller.itinerary.arrive(self.key, now)
        if spacing is not None:
            self._spacings.add(spacing)
        for call in calls:
            call.arrived_at, call.key = now, self.key
        self.calls.extend(calls)
        if caller in self.members:
            self._cycles.add(now - self.members[caller])
        if caller.has_open_episode:
            self.members[caller] = now
        if self._plan is _NOBODY:
            self._plan = None

    def reconsider(self) -> None:
        """Decide anew for whom the waiting calls wait."""
        self._plan = None

    def flush_reason(
        self, now: float, free_since: float, callers: Collection[Caller]
    ) -> Optional[str]:
        """Return why the waiting calls are served now, or None while they wait.

        `free_since` is the moment since which the handler has been free; `callers` may come.
        """
        plan = self._current_plan(now, free_since, callers)
        if plan.is_fulfilled():
            return "gap" if plan.gives_up else "all_waiting"
        if self._limit and len(self.calls) >= self._limit:
            return "max_batch"
        return "timeout" if now >= self._timeout_at() else None

    def next_wakeup(self, now: float, free_since: float, callers: Collection[Caller]) -> float:
        """Return when `flush_reason` changes if nothing arrives."""
        return min(self._timeout_at(), self._current_plan(now, free_since, callers).until)

    def seconds_to_return(self, keys: Collection[Key]) -> float:
        """Return when the first caller would call one of the other `keys` after being served."""
        next_key, seconds = self.calls[0].caller.itinerary.usual_next(self.key)
        return seconds if next_key != self.key and next_key in keys else float("inf")

    def take(self, reason: str) -> List[Call]:
        """Remove and return the calls that are served now."""
        count = self._limit if reason == "max_batch" else len(self.calls)
        taken, self.calls = self.calls[:count], self.calls[count:]
        self._plan = None
        return taken

    def discard(self, call: Call) -> bool:
        """Remove a call that nobody waits for any more; say whether it was here."""
        if call not in self.calls:
            return False
        self.calls.remove(call)
        self._plan = None
        return True

    def note_served(self, rows: int, started: float, now: float) -> None:
        """Learn how long it took to serve a batch of this queue, answers included."""
        self._serve_time.observe(rows, now - started)
        self._served_at = now

    def _current_plan(self, now: float, free_since: float, callers: Collection[Caller]) -> Plan:
        plan = self._plan
        if plan is None or (plan.awaited and now >= plan.until):
            plan = self._plan = self._make_plan(now, free_since, callers)
        return plan

    def _make_plan(self, now: float, free_since: float, callers: Collection[Caller]) -> Plan:
        expected, unknown = self._look_out(now, callers)
        if not expected and not unknown:
            return _NOBODY
        reachable = self._timeout_at() - now
        arrivals = [seconds for seconds, _ in expected if seconds <= reachable]
        count = count_worth_waiting(self._outlook(now, free_since), arrivals)
        awaited = [caller for _, caller in expected[:count]]
        gap = self._grace_seconds()
        until = now + arrivals[count - 1] + gap / 2 if count else float("inf")
        gap_ends = max(self._last_arrival, free_since) + gap
        gives_up = count < len(expected)
        if unknown and now < gap_ends:
            awaited.extend(unknown)
            until = min(until, gap_ends)
        elif unknown:
            gives_up = True
        return Plan(dict.fromkeys(reversed(awaited)), until, gives_up)

    def _look_out(
        self, now: float, callers: Collection[Caller]
    ) -> Tuple[List[Tuple[float, Caller]], List[Caller]]:
        """Return who is expected here, by the seconds until then, and of whom nothing is known."""
        soonest = self._settings.gap_seconds / 4
        expected: List[Tuple[float, Caller]] = []
        unknown: List[Caller] = []
        for caller in callers:
            if caller.waiting or not caller.has_open_episode:
                continue
            expectation = caller.itinerary.expect(now)
            if expectation is None:
                if caller in self.members:
                    unknown.append(caller)
            elif expectation[0] == self.key:
                expected.append((max(expectation[1], soonest), caller))
        expected.sort(key=lambda pair: pair[0])
        return expected, unknown

    def _outlook(self, now: float, free_since: float) -> Outlook:
        fixed, per_row = self._serve_time.estimate()
        return Outlook(
            rows=len(self.calls),
            waited_seconds=sum(now - max(call.arrived_at, free_since) for call in self.calls),
            cycle_seconds=self._cycles.median(default=0.0),
            fixed_seconds=fixed,
            row_seconds=per_row,
            return_seconds=self.calls[0].caller.itinerary.usual_next(self.key)[1],
            spacing_seconds=self._spacings.median(default=0.0),
            apart_seconds=self._settings.gap_seconds,
        )

    def _timeout_at(self) -> float:
        """Return when the first call has waited long enough.

        A batch that ran longer than the timeout would otherwise keep its callers and those that
        came meanwhile apart for good: the former get some time to come back.
        """
        first = self.calls[0].arrived_at + self._settings.flush_timeout_seconds
        return max(first, self._served_at + self._grace_seconds())

    def _grace_seconds(self) -> float:
        """Return how long somebody of whom nothing is known is waited for: longer, the slower
        the handler is, since two half batches of it cost as much as two whole ones.
        """
        fixed, per_row = self._serve_time.estimate()
        slow = GRACE_SHARE * (fixed + per_row * len(self.calls))
        return min(max(self._settings.gap_seconds, slow), self._settings.flush_timeout_seconds)
