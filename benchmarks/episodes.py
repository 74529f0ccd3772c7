"""Steps per second of whole episodes, beside a plain loop and lock-step vector environments.

Wayfare runs each environment in a process of its own, through client, host, engine and store, with
digests and actions recorded; speeds are those while all workers run.
"""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
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
from timeline import run_graph, timed
from vector import MakeEnv, TimedEnv, loop_steps_per_second, named, vector_steps_per_second

from wayfare.fleet import event_loop

SB3_PYTHON = Path(__file__).resolve().parents[1] / ".cache/benchmarks/sb3/bin/python"
VECTOR = "AsyncVectorEnv"
WAYFARE = "Wayfare"


@dataclass(frozen=True)
class Case:
    """One environment: how Wayfare runs it, how the others make it, what is possible at best."""

    name: str
    graph: str
    workers: int
    settings: Mapping[str, Any]
    make: MakeEnv
    rounds: int
    """Steps that each of the peers' environments takes."""
    ideal: float | None = None
    """Steps per second that the environment's own time allows."""
    sb3: tuple[str, float] | None = None
    peers: tuple[str, ...] = field(default=("plain loop", VECTOR, "SubprocVecEnv"))


def list_cases(tiny: bool) -> list[Case]:
    if tiny:
        return [free(1, tiny), sleeping(8, tiny), seeing(tiny)]
    return [
        free(1, tiny),
        free(8, tiny),
        playing("CartPole", "CartPole-v1", 400),
        playing("Minigrid", "MiniGrid-FourRooms-v0", 48),
        sleeping(8, tiny),
        sleeping(32, tiny),
        sleeping(8, tiny, calls=2),
        sleeping(32, tiny, calls=2),
        seeing(tiny),
    ]


def free(workers: int, tiny: bool) -> Case:
    return Case(
        f"costs nothing, {workers} workers",
        "timed",
        workers,
        timed(count=workers * (3 if tiny else 40), steps=20 if tiny else 200),
        functools.partial(TimedEnv, steps=200, step_seconds=0.0),
        50 if tiny else 4000,
        sb3=("sleep", 0.0),
    )


def playing(name: str, environment_id: str, count: int) -> Case:
    config = "nodesets.env_gymnasium"
    return Case(
        f"{name}, 8 workers",
        "cartpole_random",
        8,
        {f"{config}.id": environment_id, f"{config}.episodes": count},
        named(environment_id),
        2000,
        sb3=(environment_id, 0.0),
    )


def sleeping(workers: int, tiny: bool, *, calls: int = 1) -> Case:
    """Return the environment that sleeps; called twice a turn, it is asked for its state too."""
    seconds, steps = 0.01, 10 if tiny else 100
    return Case(
        f"sleeps 10 ms, {workers} workers" + (", two calls a turn" if calls == 2 else ""),
        "timed" if calls == 2 else "timed_step",
        workers,
        timed(count=workers * (2 if tiny else 4), steps=steps, step_seconds=seconds),
        functools.partial(TimedEnv, steps=steps, step_seconds=seconds),
        steps,
        ideal=workers / seconds,
        sb3=("sleep", seconds),
    )


def seeing(tiny: bool) -> Case:
    seconds, config = 0.002, "nodesets.env_frames"
    return Case(
        "2 ms and 640x480 RGB, 8 workers",
        "frames",
        8,
        {
            f"{config}.count": 8 if tiny else 40,
            f"{config}.steps": 10 if tiny else 100,
            f"{config}.step_seconds": seconds,
        },
        functools.partial(TimedEnv, steps=100, step_seconds=seconds, picture=True),
        20 if tiny else 400,
        ideal=8 / seconds,
        peers=(VECTOR,),
    )


def list_candidates(case: Case) -> dict[str, Measure]:
    async def wayfare() -> float:
        return (await run_graph(case.graph, case.workers, case.settings)).steps_per_second

    peers: dict[str, Measure] = {
        "plain loop": lambda: loop_steps_per_second(case.make, case.rounds),
        VECTOR: lambda: vector_steps_per_second([case.make] * case.workers, case.rounds),
    }
    if case.sb3 is not None and SB3_PYTHON.exists():
        peers["SubprocVecEnv"] = functools.partial(_sb3, case, *case.sb3)
    return {WAYFARE: wayfare} | {name: run for name, run in peers.items() if name in case.peers}


def _sb3(case: Case, name: str, step_seconds: float) -> float:
    command = [SB3_PYTHON, "sb3_peer.py", name, case.workers, case.rounds, step_seconds]
    done = subprocess.run(
        [str(part) for part in command],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return float(done.stdout)


def describe(case: Case, found: Mapping[str, Figure]) -> list[str]:
    ours = found[WAYFARE]
    ratios = [
        ours.per(found[name]).describe() if name in found else "-"
        for name in ("plain loop", VECTOR, "SubprocVecEnv")
    ]
    ideal = ours.per(Figure((case.ideal,) * len(ours.values))).describe() if case.ideal else "-"
    return [case.name, ours.describe(4), *ratios, ideal]


async def main() -> None:
    options = read_options(__doc__)
    machine = describe_machine()
    figures: dict[str, Any] = {}
    rows = []
    for case in list_cases(options.tiny):
        found = await alternate(list_candidates(case), options.repetitions)
        figures[case.name] = {**found, "ideal": case.ideal}
        rows.append(describe(case, found))
    head = ["environment", "steps/s", "against a plain loop", VECTOR, "SubprocVecEnv", "ideal"]
    publish("episodes", figures, [format_table(head, rows)], options=options, machine=machine)


if __name__ == "__main__":
    event_loop.run(main())
