"""Read the settings: environment variables, and what the command line lays over them.

Knows nothing of commands.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DEFAULT_RUNS = Path("runs")
WORKSPACE_PARTS = ("nodesets", "graphs")
DATA_VARIABLE = "WAYFARE_DATA"
DEFAULT_DATA = Path("../shared/data")
"""Where published data lies beside a checkout, if the variable does not say otherwise."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the surroundings say.

    `workspaces` are the current folder, if it is one, those that WAYFARE_WORKSPACE names
    (separated as in PATH) and the command line's; `runs` comes from WAYFARE_RUNS, data from
    WAYFARE_DATA; `environment` is what launchers and copies inherit.
    """

    environment: Mapping[str, str]
    workspaces: tuple[Path, ...]
    runs: Path

    @classmethod
    def read(cls, environment: Mapping[str, str], workspaces: Sequence[Path] = ()) -> Settings:
        """Return the settings with the command line's workspaces added."""
        named = environment.get("WAYFARE_WORKSPACE", "").split(os.pathsep)
        folders = [*_find_current(), *(Path(text) for text in named if text.strip())]
        runs = environment.get("WAYFARE_RUNS", "")
        inherited = {**environment, **_locate_data(environment)}
        return cls(inherited, (*folders, *workspaces), Path(runs) if runs.strip() else DEFAULT_RUNS)


def _find_current() -> list[Path]:
    """Return the current folder if it is a workspace: if it holds nodesets or graphs."""
    here = Path()
    return [here] if any((here / part).is_dir() for part in WORKSPACE_PARTS) else []


def _locate_data(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the data folder for copies, absolute since they may run in another folder."""
    named = environment.get(DATA_VARIABLE, "")
    folder = Path(named) if named.strip() else DEFAULT_DATA
    return {DATA_VARIABLE: str(folder.resolve())} if named.strip() or folder.is_dir() else {}
