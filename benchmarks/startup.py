"""Seconds until eight copies are ready, against importing the same modules eight times.

The peer is what the machine's cores need at best: eight interpreters started at once that import
what the nodeset imports and nothing of Wayfare.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from measure import alternate, describe_machine, format_table, publish, read_options
from timeline import WORKSPACE

from wayfare.evals.surroundings import Surroundings
from wayfare.fleet import event_loop
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.document import load_graph

COPIES = 8
IMPORTS = "import gymnasium, minigrid, numpy, msgpack, xxhash"
IMPORTER = """
import subprocess, sys, time
began = time.perf_counter()
command = [sys.executable, "-c", sys.argv[1]]
processes = [subprocess.Popen(command) for _ in range(int(sys.argv[2]))]
if any([process.wait() for process in processes]):
    sys.exit("an import failed")
print(time.perf_counter() - began)
"""


async def start_copies(count: int) -> float:
    """Return when all copies were ready."""
    document = load_graph(WORKSPACE / "graphs" / "imports.json")
    registry = WorkspaceComponentRegistry([WORKSPACE])
    began = time.perf_counter()
    async with Surroundings().launching() as launcher:
        starting = registry.ensure_nodesets_for_graph(document, count, launcher)
        async with await starting as fleet:
            await fleet.initialize_all()
            return time.perf_counter() - began


def import_modules(count: int) -> float:
    """Return when as many interpreters, started at once, had imported the modules.

    They run in a session of their own and with one BLAS thread each, as copies do: schedulers share
    cores out by session.
    """
    done = subprocess.run(
        [sys.executable, "-c", IMPORTER, IMPORTS, str(count)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        start_new_session=True,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=600,
    )
    return float(done.stdout)


async def main() -> None:
    options = read_options(__doc__)
    machine = describe_machine()
    count = 2 if options.tiny else COPIES
    found = await alternate(
        {
            "copies ready": lambda: start_copies(count),
            "modules imported": lambda: import_modules(count),
        },
        options.repetitions,
    )
    ratio = found["copies ready"].per(found["modules imported"])
    row = [f"{count} copies", *(f.describe() for f in found.values()), ratio.describe()]
    head = ["", "copies ready, s", "modules imported, s", "ratio (at most 1.3)"]
    figures = {**found, "ratio": ratio}
    publish("startup", figures, [format_table(head, [row])], options=options, machine=machine)


if __name__ == "__main__":
    event_loop.run(main())
