"""Measure how much memory this process holds.

Knows nothing of what holds it.
"""

from __future__ import annotations

import os
from pathlib import Path

_STATM = Path("/proc/self/statm")


def resident_mb() -> float:
    """Return the resident memory of this process in MiB; 0 where the system doesn't tell."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
