"""Measure the memory that a process tree holds for itself, by what the kernel says in /proc.

Knows nothing of copies or of limits. Files that are mapped, shared memory among them, don't count:
the kernel can do without them, or others hold them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

PROC = Path("/proc")
_ANONYMOUS = ("RssAnon:", "VmSwap:")
_SHARED_OUT = ("Pss_Anon:", "SwapPss:")


def measure_tree(roots: Iterable[int]) -> int:
    """Return the bytes of anonymous memory that the processes and all below them hold.

    Pages that a process shares with its forked children are counted once.
    """
    pids = list(list_tree(roots))
    if len(pids) == 1:
        return _sum_lines(PROC / str(pids[0]) / "status", _ANONYMOUS)
    return sum(_measure_share(pid) for pid in pids)


def list_tree(roots: Iterable[int]) -> Iterator[int]:
    """Yield the processes and all that descends from them."""
    frontier = list(roots)
    while frontier:
        pid = frontier.pop()
        yield pid
        frontier += list_children(pid)


def list_children(pid: int) -> list[int]:
    """Return the processes that the threads of a process have started; none if it has ended."""
    try:
        threads = list((PROC / str(pid) / "task").iterdir())
    except OSError:
        return []
    return [int(child) for thread in threads for child in _read(thread / "children").split()]


def _measure_share(pid: int) -> int:
    share = _sum_lines(PROC / str(pid) / "smaps_rollup", _SHARED_OUT)
    return share or _sum_lines(PROC / str(pid) / "status", _ANONYMOUS)


def _sum_lines(path: Path, names: tuple[str, ...]) -> int:
    """Return the sum, in bytes, of the lines of those names, which are in kB; 0 if it has ended."""
    lines = _read(path).splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(names))


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the process or its thread has ended meanwhile
        return ""
