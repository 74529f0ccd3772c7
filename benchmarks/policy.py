"""One shared CMA network for eight workers against eight copies of it, one for each.

The network is untrained and its pictures are noise; digests and records are on. A replicated copy
computes one row at a time, with one thread and with torch's default of all cores.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measure import Figure, alternate, describe_machine, format_table, publish, read_options

from wayfare.evals.library import evaluate_async
from wayfare.evals.surroundings import Silence, Surroundings
from wayfare.fleet import event_loop
from wayfare.store.records import EpisodeRecord
from wayfare.store.run import RunReader

ROOT = Path(__file__).resolve().parents[1]
STAND_IN = ROOT / "tests/torch"
WORKERS = 8
SHARED, COPIES, THREADED = "shared", "8 copies, 1 thread", "8 copies, default threads"


@dataclass
class Weighing(Silence):
    """Notes, while episodes end, how much memory the copies of a nodeset have to themselves."""

    name: str
    bytes_most: int = 0
    readings: int = field(default=0)

    def episode_finished(self, record: EpisodeRecord) -> None:
        self.readings += 1
        self.bytes_most = max(self.bytes_most, sum(map(read_pss, list_copies(self.name))))


def list_copies(name: str) -> list[Path]:
    """Return the /proc folders of a nodeset's hosts."""
    wanted = f"\0--name\0{name}\0".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "cmdline").read_bytes():
                found.append(folder)
        except OSError:  # it has just ended
            continue
    return found


def read_pss(folder: Path) -> int:
    """Return a process's proportional set: what it shares counts by its part."""
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def make_twins(workspace: Path) -> None:
    """Write the shipped policy once more, as replicated copies of one thread and of two."""
    for name, deployment in (
        ("cma_copies", "threads=1"),
        ("cma_threaded", "threads=2"),
    ):
        folder = workspace / "nodesets" / name
        shutil.copytree(ROOT / "nodesets/policy_cma", folder)
        path = folder / "__init__.py"
        text = path.read_text().replace("policy_cma", name)
        text = text.replace('parallelism = "shared"', 'parallelism = "replicated"')
        path.write_text(text.replace("Deployment(", f"Deployment({deployment}, "))
        graph = (STAND_IN / "graphs/cma_snapshots.json").read_text().replace("policy_cma", name)
        (workspace / "graphs").mkdir(exist_ok=True)
        (workspace / "graphs" / f"{name}.json").write_text(graph)


@dataclass(frozen=True)
class Outcome:
    steps_per_second: float
    mebibytes: float
    mean_batch: float | None


async def play(
    graph: str, name: str, settings: Mapping[str, Any], *, workspace: Path, tiny: bool
) -> Outcome:
    weighing = Weighing(name)
    size = {"episodes": 8 if tiny else 16, "steps": 2 if tiny else 10}
    overrides = {f"nodesets.env_snapshots.{key}": value for key, value in size.items()}
    with tempfile.TemporaryDirectory(prefix="wayfare-benchmark-") as out:
        run = await evaluate_async(
            graph,
            workers=WORKERS,
            overrides={**overrides, **settings},
            workspaces=[STAND_IN, workspace],
            out=out,
            surroundings=Surroundings(observer=weighing),
        )
        records = list(RunReader(run.folder, run.header).iter_records())
    begun = min(record.attempts[-1].started_seconds for record in records)
    ended = max(record.attempts[-1].ended_seconds for record in records)
    steps = sum(record.steps for record in records)
    batch = run.summary.nodesets[name].mean_batch
    return Outcome(steps / (ended - begun), weighing.bytes_most / 2**20, batch)


async def main() -> None:
    options = read_options(__doc__)
    outcomes: dict[str, list[Outcome]] = {SHARED: [], COPIES: [], THREADED: []}
    with tempfile.TemporaryDirectory(prefix="wayfare-policy-") as folder:
        workspace = Path(folder)
        make_twins(workspace)

        def candidate(label: str, graph: str, name: str, **settings: int) -> Any:
            async def measure() -> float:
                overrides = {f"nodesets.{name}.{key}": value for key, value in settings.items()}
                outcome = await play(graph, name, overrides, workspace=workspace, tiny=options.tiny)
                outcomes[label].append(outcome)
                return outcome.steps_per_second

            return measure

        speeds = await alternate(
            {
                SHARED: candidate(SHARED, "cma_snapshots", "policy_cma"),
                COPIES: candidate(COPIES, "cma_copies", "cma_copies", pad_batch=0),
                THREADED: candidate(THREADED, "cma_threaded", "cma_threaded", pad_batch=0),
            },
            options.repetitions,
        )
    figures: dict[str, Any] = {}
    rows = []
    for label, speed in speeds.items():
        memory = Figure(tuple(outcome.mebibytes for outcome in outcomes[label]))
        ratio = speeds[SHARED].per(speed)
        batch = outcomes[label][-1].mean_batch
        figures[label] = {"steps_per_second": speed, "mebibytes": memory, "mean_batch": batch}
        seen = "1" if batch is None else f"{batch:.2f}"
        rows.append([label, speed.describe(), ratio.describe(), memory.describe(), seen])
    head = ["policy", "steps/s", "shared against it", "memory, MiB", "mean batch"]
    machine = describe_machine()
    publish("policy", figures, [format_table(head, rows)], options=options, machine=machine)


if __name__ == "__main__":
    event_loop.run(main())
