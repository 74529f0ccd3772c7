"""Strike runs on purpose: `python -m tests.chaos [kills|soak] [--count N] [--seed N]`.

Knows nothing of how.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from pathlib import Path

from tests.chaos.campaign import Campaign
from tests.chaos.soak import Soak, soak
from tests.chaos.tally import Tally

KILLS = 300
EPISODES = 20_000


def main() -> int:
    """Do what was asked for; 1 if anything happened that must not."""
    parser = argparse.ArgumentParser(prog="scripts/chaos", description=__doc__)
    parser.add_argument("target", nargs="?", choices=["kills", "soak"], default="kills")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--count", type=int, help="kills, or episodes to soak")
    parser.add_argument("--keep", type=Path, help="keep the runs in this folder")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="wayfare-chaos-") as folder:
        where = options.keep or Path(folder)
        where.mkdir(parents=True, exist_ok=True)
        report: Soak | Tally
        if options.target == "soak":
            report = soak(where, options.count or EPISODES)
        else:
            report = Campaign(where, options.seed).go(options.count or KILLS)
        print(report.describe(), flush=True)
    return int(bool(report.failures))


if __name__ == "__main__":
    sys.exit(main())
