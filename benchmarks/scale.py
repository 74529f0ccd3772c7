"""Speed by number of workers, and cost per episode over a long run.

The environment costs nothing and is called twice a turn, in a process per worker. Each speed is
given as a share of the best one, beside that of a lock-step vector of as many processes: what the
machine itself loses where processes are many. The cost of the last tenth of the episodes is given
as a share of the first.
"""

from __future__ import annotations

import argparse
import functools
import io
import time
from collections.abc import Mapping
from typing import Any

from measure import (
    Figure,
    Measure,
    alternate,
    describe_machine,
    format_table,
    publish,
    read_options,
)
from meter import Meter
from rich.console import Console
from timeline import run_graph, timed
from vector import TimedEnv, vector_steps_per_second

from wayfare.cli.live import LiveTable
from wayfare.fleet import event_loop

WORKERS = (1, 2, 4, 8, 16, 32, 64)
EPISODES = (100, 1_000, 10_000, 100_000)
STEPS = 10
VECTOR = "AsyncVectorEnv"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--most-episodes", type=int, default=EPISODES[-1])
    parser.add_argument("--episode-workers", type=int, default=4)


async def measure_speed(workers: int, episodes_each: int, steps: int) -> float:
    settings = timed(count=workers * episodes_each, steps=steps)
    return (await run_graph("timed", workers, settings)).steps_per_second


async def measure_workers(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    counts = (1, 2) if options.tiny else WORKERS
    each, steps = (2, 20) if options.tiny else (10, 200)
    rounds = 40 if options.tiny else 16_000
    make = functools.partial(TimedEnv, steps=steps, step_seconds=0.0)
    candidates: dict[str, Measure] = {}
    for count in counts:
        candidates[str(count)] = functools.partial(measure_speed, count, each, steps)
        candidates[f"{VECTOR}, {count}"] = functools.partial(
            vector_steps_per_second, [make] * count, rounds // count
        )
    found = await alternate(candidates, options.repetitions)
    ours, theirs = ({c: found[f"{name}{c}"] for c in counts} for name in ("", f"{VECTOR}, "))
    rows = [
        [
            str(count),
            ours[count].describe(4),
            *(_share(f, count).describe() for f in (ours, theirs)),
        ]
        for count in counts
    ]
    head = ["workers", "steps/s", "share of the best", f"{VECTOR}: share of its best"]
    return {**found}, format_table(head, rows)


def _share(figures: Mapping[int, Figure], count: int) -> Figure:
    return figures[count].per(max(figures.values(), key=lambda figure: figure.median))


async def measure_episodes(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Run each length once: its own first tenth is what its last is compared with."""
    counts = (20, 40) if options.tiny else EPISODES
    figures: dict[str, Any] = {}
    rows = []
    for count in (c for c in counts if c <= options.most_episodes):
        meter = Meter()
        await run_graph(
            "timed", options.episode_workers, timed(count=count, steps=STEPS), observer=meter
        )
        cpu, wall = meter.cpu_seconds_by_tenth, meter.seconds_by_tenth
        figures[str(count)] = {
            "cpu_seconds_by_tenth": cpu,
            "seconds_by_tenth": wall,
            "growth_bytes_per_episode": meter.growth_bytes,
        }
        rows.append(
            [
                f"{count:,}",
                Figure(tuple(1e3 * seconds for seconds in cpu)).describe(),
                f"{cpu[-1] / cpu[0]:.2f}",
                f"{wall[-1] / wall[0]:.2f}",
                f"{meter.growth_bytes:,.0f}",
            ]
        )
    head = [
        "episodes",
        "main process, ms of CPU an episode",
        "last tenth / first, CPU",
        "last tenth / first, wall",
        "growth, bytes an episode",
    ]
    return figures, format_table(head, rows)


class Upkeep:
    """A run of an environment that steps in 1 ms, watched by the live table."""

    def __init__(self, tiny: bool) -> None:
        self.workers = 2
        self.settings = timed(
            count=4 if tiny else 60, steps=10 if tiny else 100, step_seconds=0.001
        )
        self.cpu_shares: list[float] = []

    async def measure(self) -> float:
        """Return the share of the workers' time that goes by between their episodes."""
        console = Console(file=io.StringIO(), force_terminal=True)
        cpu = time.process_time()
        with LiveTable(console) as table:
            timeline = await run_graph("timed", self.workers, self.settings, observer=table)
        environment_seconds = timeline.steps * 0.001
        self.cpu_shares.append((time.process_time() - cpu) / environment_seconds)
        return timeline.share_between_episodes


async def measure_upkeep(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    upkeep = Upkeep(options.tiny)
    found = await alternate({"between episodes": upkeep.measure}, options.repetitions)
    cpu = Figure(tuple(upkeep.cpu_shares))
    rows = [
        ["digests, results, live table: workers' time", found["between episodes"].describe()],
        ["main process, start and calls included, awake between answers: CPU", cpu.describe()],
    ]
    table = format_table(["environment that steps in 1 ms", "share of its time"], rows)
    return {**found, "cpu": cpu}, table


async def main() -> None:
    options = read_options(__doc__, add_options)
    machine = describe_machine()
    workers, worker_table = await measure_workers(options)
    episodes, episode_table = await measure_episodes(options)
    upkeep, upkeep_table = await measure_upkeep(options)
    figures = {"workers": workers, "episodes": episodes, "upkeep": upkeep}
    publish(
        "scale",
        figures,
        [worker_table, episode_table, upkeep_table],
        options=options,
        machine=machine,
    )


if __name__ == "__main__":
    event_loop.run(main())
