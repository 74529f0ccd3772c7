"""Memory of a run: what the main process grows by, and a copy beside a bare interpreter.

The peer of a copy is an interpreter that has imported NumPy, msgpack and xxhash and nothing else.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from measure import Figure, alternate, describe_machine, format_table, publish, read_options
from meter import Meter
from timeline import run_graph, timed

from wayfare.fleet import event_loop
from wayfare.store.records import EpisodeRecord, RunHeader

MIB = 2**20
BARE = "import numpy, msgpack, xxhash, sys; print('ready', flush=True); sys.stdin.read()"


class CopyMeter(Meter):
    """Reads the copies' own memory too, when half of the episodes have finished."""

    def __init__(self) -> None:
        super().__init__()
        self.copy_bytes: list[int] = []
        self._half = 0

    def run_started(
        self, header: RunHeader, metrics: Sequence[str], kept: Iterable[EpisodeRecord]
    ) -> None:
        super().run_started(header, metrics, kept)
        self._half = len(header.episodes) // 2

    def episode_finished(self, record: EpisodeRecord) -> None:
        super().episode_finished(record)
        if self._finished == self._half:
            self.copy_bytes = [read_private_bytes(pid) for pid in list_copies()]


def list_copies() -> list[int]:
    """Return the processes on this machine that host the benchmark's environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"host" in words and any(b"benchmarks/workspace" in word for word in words):
            found.append(int(folder.name))
    return found


def read_private_bytes(pid: int) -> int:
    """Return the memory that a process shares with no other."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))


def measure_bare() -> float:
    command = [sys.executable, "-c", BARE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as bare:
        bare.stdout.readline()
        size = read_private_bytes(bare.pid) / MIB
        bare.stdin.close()
    return size


class Growth:
    """The main process's growth over a run of short episodes, and its copies' memory."""

    def __init__(self, episodes: int) -> None:
        self.episodes = episodes
        self.bytes_per_episode: list[float] = []

    async def measure_copy(self) -> float:
        meter = CopyMeter()
        await run_graph("timed", 4, timed(count=self.episodes, steps=2), observer=meter)
        self.bytes_per_episode.append(meter.growth_bytes)
        return sum(meter.copy_bytes) / max(1, len(meter.copy_bytes)) / MIB


async def main() -> None:
    options = read_options(__doc__)
    machine = describe_machine()
    growth = Growth(40 if options.tiny else 5_000)
    found: dict[str, Any] = await alternate(
        {"copy": growth.measure_copy, "bare interpreter": measure_bare}, options.repetitions
    )
    ratio = found["copy"].per(found["bare interpreter"])
    grown = Figure(tuple(growth.bytes_per_episode))
    rows = [
        ["a copy, MiB of its own", found["copy"].describe(), ratio.describe()],
        [f"main process, bytes an episode of {growth.episodes:,}", grown.describe(), "-"],
    ]
    table = format_table(["memory", "", "against a bare interpreter"], rows)
    figures = {**found, "ratio": ratio, "growth_bytes_per_episode": grown}
    publish("memory", figures, [table], options=options, machine=machine)


if __name__ == "__main__":
    event_loop.run(main())
