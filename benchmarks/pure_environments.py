"""Environments that are functions: one process for all workers beside a process for each.

`env_gymnax` steps the episodes of all workers in one call. Its peer keeps one episode's state in
each of 64 processes. Both play the same episodes by the same functions with the same policy and
must measure the same, but for last bits; digests and records are on.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
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
from timeline import Timeline, run_graph

from wayfare.evals.library import read_manifests_async
from wayfare.fleet import event_loop
from wayfare.fleet.errors import FleetSetupError
from wayfare.store.records import Metric

SHARED, COPIES = "env_gymnax", "gymnax_copies"
GRAPHS = {SHARED: "gymnax_random", COPIES: "gymnax_copies"}
"""The nodesets that step, and their graphs; the first brings the episodes of both."""
TOLERANCE = 1e-3
Metrics = Mapping[str, Mapping[str, Metric]]
"""What each episode measured, by its id."""


@dataclass
class Case:
    """One environment: how it is played, and how each of its runs went."""

    environment: str
    episodes: int
    workers: tuple[int, ...]
    timelines: dict[str, list[Timeline]] = field(default_factory=dict)

    @property
    def most(self) -> int:
        return self.workers[-1]

    def list_candidates(self) -> dict[str, Measure]:
        """Return what is measured; the last of the shared ones is what the others stand beside."""
        shared = {name_shared(workers): self._play(SHARED, workers) for workers in self.workers}
        return {**shared, name_copies(self.most): self._play(COPIES, self.most)}

    def _play(self, nodeset: str, workers: int) -> Measure:
        name = name_shared(workers) if nodeset == SHARED else name_copies(workers)
        settings = {f"nodesets.{nodeset}.id": self.environment}
        settings |= {
            f"nodesets.{SHARED}.id": self.environment,
            f"nodesets.{SHARED}.episodes": self.episodes,
        }

        async def measure() -> float:
            timeline = await run_graph(GRAPHS[nodeset], workers, settings)
            self.timelines.setdefault(name, []).append(timeline)
            return timeline.steps_per_second

        return measure

    def check(self) -> tuple[str, float]:
        """Return the digest of all runs in one process, and how far metrics of copies are from it.

        Refuses runs that differ in more than the last bits of a function compiled for other rows.
        """
        shared = [t for count in self.workers for t in self.timelines[name_shared(count)]]
        digests = {timeline.digest for timeline in shared}
        if len(digests) != 1:
            raise RuntimeError(f"{self.environment}: the workers changed the digest: {digests}")
        copies = self.timelines[name_copies(self.most)]
        furthest = max(find_distance(shared[0].metrics, other.metrics) for other in copies)
        if furthest > TOLERANCE:
            raise RuntimeError(
                f"{self.environment}: a metric of an episode differs by {furthest:.1e} of its value"
            )
        return digests.pop(), furthest

    def describe(
        self, found: Mapping[str, Figure], digest: str, furthest: float
    ) -> list[list[str]]:
        best = found[name_shared(self.most)]
        rows = []
        for name, speed in found.items():
            batch = self.timelines[name][-1].summary.nodesets[SHARED].mean_batch
            cells = (f"{batch:.1f}", digest[:8]) if batch else ("1", f"within {furthest:.0e}")
            ratio = best.per(speed).describe()
            rows.append([f"{self.environment}, {name}", speed.describe(4), ratio, *cells])
        return rows


def name_shared(workers: int) -> str:
    return f"one process for {workers}"


def name_copies(workers: int) -> str:
    return f"{workers} processes"


def find_distance(one: Metrics, other: Metrics) -> float:
    """Return the greatest difference of a metric of an episode, as a share of its value."""
    pairs = [
        (float(value), float(other[episode][name]))
        for episode, metrics in one.items()
        for name, value in metrics.items()
    ]
    return max(abs(a - b) / max(abs(a), abs(b), 1.0) for a, b in pairs)


def list_cases(tiny: bool) -> list[Case]:
    if tiny:
        return [Case("CartPole-v1", 8, (1, 2)), Case("Pendulum-v1", 2, (1, 2))]
    return [Case("CartPole-v1", 512, (1, 8, 64)), Case("Pendulum-v1", 128, (1, 8, 64))]


async def find_obstacle() -> str:
    """Build the environment that has JAX; return why that is not possible here."""
    try:
        await read_manifests_async([SHARED])
    except FleetSetupError as error:
        return str(error)
    return ""


async def measure(options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    figures: dict[str, Any] = {}
    rows = []
    for case in list_cases(options.tiny):
        found = await alternate(case.list_candidates(), options.repetitions)
        digest, furthest = case.check()
        figures[case.environment] = {**found, "digest": digest, "furthest_metric": furthest}
        rows += case.describe(found, digest, furthest)
    head = ["environment", "steps/s", "one process for the most against it"]
    return figures, format_table([*head, "rows per batch", "digest; metrics"], rows)


async def main() -> None:
    options = read_options(__doc__)
    machine = describe_machine()
    if obstacle := await find_obstacle():
        figures, table = {"not_measured": obstacle}, f"Not measured: {obstacle}"
    else:
        figures, table = await measure(options)
    publish("pure_environments", figures, [table], options=options, machine=machine)


if __name__ == "__main__":
    event_loop.run(main())
