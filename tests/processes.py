"""Find processes by their parents, and tell whether they live.

Knows nothing of what they are.
"""

from __future__ import annotations

from pathlib import Path


def descendants_of(pid: int) -> set[int]:
    found: set[int] = set()
    for child in children_of(pid):
        found |= {child} | descendants_of(child)
    return found


def children_of(pid: int) -> list[int]:
    """Return a process's children, those that other threads than its first started too."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(text) for text in task.read_text().split()]
        except OSError:  # the process or its thread has ended meanwhile
            continue
    return found


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
