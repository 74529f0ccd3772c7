"""Ask what `wayfare show` tells of a run that was damaged. Knows nothing of how."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wayfare.store.run import RunReader


def show(wayfare: Any, folder: Path) -> tuple[dict[str, Any], str]:
    """Return the one damage of a run and what is said of it."""
    told, shown = wayfare.run("show", str(folder), "--json"), wayfare.run("show", str(folder))
    assert (told.status, shown.status) == (3, 3), told.err
    (damage,) = told.document["damage"]
    assert f"damaged: {damage['problem']}" in shown.out
    return damage, shown.out


def list_keys(folder: Path) -> list[str]:
    header = RunReader.open(folder, folder.parent).header
    return [planned.key.text for planned in header.episodes]
