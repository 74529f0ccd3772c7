"""How long a run takes whose steps or episodes differ, against lock-step and the best schedule.

The best schedule knows how long every sleep takes and begins, as Wayfare does, when each worker's
copy is ready; the lock-step vector begins when all its processes are.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any

from measure import Figure, alternate, describe_machine, format_table, publish, read_options
from timeline import WORKSPACE, Timeline, run_graph, schedule_longest_first, timed
from vector import TimedEnv, vector_makespan

sys.path.insert(0, str(WORKSPACE / "nodesets"))
from env_timed import list_step_seconds

from wayfare.fleet import event_loop

WORKERS = 8


class LogNormal:
    """64 episodes with log-normal step times."""

    def __init__(self, tiny: bool) -> None:
        self.count, self.steps = (16, 5) if tiny else (64, 60)
        self.times = {"step_seconds": 0.002 if tiny else 0.01, "sigma": 1.0}
        self.timelines: list[Timeline] = []

    async def run_wayfare(self) -> float:
        settings = timed(count=self.count, steps=self.steps, **self.times)
        self.timelines.append(await run_graph("timed", WORKERS, settings))
        return self.timelines[-1].makespan

    def run_lockstep(self) -> float:
        makes = [
            functools.partial(TimedEnv, steps=self.steps, first=first, stride=WORKERS, **self.times)
            for first in range(WORKERS)
        ]
        return vector_makespan(makes, self.count)

    def best(self) -> Figure:
        durations = [sum(list_step_seconds(self.times, i, self.steps)) for i in range(self.count)]
        return _best(self.timelines, durations)


class HeavyEnd:
    """32 episodes of which the last four are six times as heavy."""

    def __init__(self, tiny: bool) -> None:
        self.count, self.steps, self.seconds = (16, 5, 0.002) if tiny else (32, 50, 0.01)
        self.known: list[Timeline] = []
        self.unknown: list[Timeline] = []

    async def run(self, kept: list[Timeline], episodes: str) -> float:
        settings = timed(
            count=self.count,
            steps=self.steps,
            step_seconds=self.seconds,
            heavy_last=4,
            tell_budgets=True,
        )
        kept.append(await run_graph("timed", WORKERS, settings, episodes=episodes))
        return kept[-1].makespan

    async def run_known(self) -> float:
        return await self.run(self.known, "")

    async def run_unknown(self) -> float:
        """Take the episodes in the order of the list, as if their budgets told nothing."""
        return await self.run(self.unknown, ",".join(map(str, range(self.count))))

    def durations(self) -> list[float]:
        light = self.steps * self.seconds
        return [light] * (self.count - 4) + [6 * light] * 4


def _best(timelines: Sequence[Timeline], durations: Sequence[float]) -> Figure:
    return Figure(tuple(schedule_longest_first(durations, t.releases) for t in timelines))


async def measure_log_normal(options: Any) -> tuple[dict[str, Any], list[str]]:
    case = LogNormal(options.tiny)
    candidates = {"wayfare": case.run_wayfare, "AsyncVectorEnv": case.run_lockstep}
    found = await alternate(candidates, options.repetitions)
    ours, theirs = found["wayfare"], found["AsyncVectorEnv"]
    to_best, gain = ours.per(case.best()), theirs.per(ours)
    row = ["log-normal steps", ours.describe(), to_best.describe(), "1.25", gain.describe()]
    return {**found, "to_best": to_best, "lock_step_to_wayfare": gain}, row


async def measure_heavy_end(options: Any) -> tuple[dict[str, Any], list[list[str]]]:
    case = HeavyEnd(options.tiny)
    candidates = {"budgets tell": case.run_known, "nothing known": case.run_unknown}
    found = await alternate(candidates, options.repetitions)
    digests = {timeline.digest for timeline in case.known + case.unknown}
    if len(digests) != 1:
        raise RuntimeError(f"the order changed the digest: {digests}")
    figures: dict[str, Any] = dict(found)
    rows = []
    for name, timelines, bound in (
        ("budgets tell", case.known, "1.15"),
        ("nothing known", case.unknown, "1.5"),
    ):
        ratio = found[name].per(_best(timelines, case.durations()))
        figures[f"{name}, to best"] = ratio
        rows.append([f"heavy end, {name}", found[name].describe(), ratio.describe(), bound, "-"])
    return {**figures, "digests": sorted(digests)}, rows


async def main() -> None:
    options = read_options(__doc__)
    machine = describe_machine()
    log_normal, row = await measure_log_normal(options)
    heavy_end, rows = await measure_heavy_end(options)
    head = ["case", "seconds", "against the best schedule", "at most", "AsyncVectorEnv's time"]
    figures = {"log-normal": log_normal, "heavy end": heavy_end}
    publish(
        "stragglers", figures, [format_table(head, [row, *rows])], options=options, machine=machine
    )


if __name__ == "__main__":
    event_loop.run(main())
