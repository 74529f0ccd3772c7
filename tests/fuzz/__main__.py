"""Fuzz frames, a live copy, graph documents and run folders: `python -m tests.fuzz [TARGET …]`.

Knows nothing of how they are fuzzed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from tests.fuzz.documents import fuzz_documents
from tests.fuzz.folders import fuzz_folders
from tests.fuzz.frames import fuzz_frames
from tests.fuzz.live import fuzz_live
from tests.fuzz.tally import Tally

DOSES: dict[str, tuple[Callable[[int, int], Tally], int]] = {
    "frames": (fuzz_frames, 1_000_000),
    "live": (fuzz_live, 30_000),
    "documents": (fuzz_documents, 20_000),
    "folders": (fuzz_folders, 20_000),
}


def main() -> int:
    """Run the doses that were asked for; 1 if anything happened that must not."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", choices=[*DOSES, []], metavar="|".join(DOSES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, help="cases of each target (default: the long dose)")
    options = parser.parse_args()
    has_failed = False
    for name in options.targets or DOSES:
        fuzz, count = DOSES[name]
        begun = time.monotonic()
        tally = fuzz(options.seed, options.count or count)
        seconds = time.monotonic() - begun
        print(f"{name}: {options.count or count} cases of seed {options.seed} in {seconds:.0f} s")
        print(tally.describe(), flush=True)
        has_failed = has_failed or bool(tally.failures)
    return int(has_failed)


if __name__ == "__main__":
    sys.exit(main())
