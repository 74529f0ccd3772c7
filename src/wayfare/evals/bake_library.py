"""Turn a simulator into data from Python: the same store that `wayfare bake` makes.

Knows nothing of settings: what it takes from its surroundings is handed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wayfare.evals.bake import Bake, Baker
from wayfare.evals.bake_request import DEFAULT_RETRIES, DEFAULT_VERIFIED, BakeRequest, By
from wayfare.evals.blocking import make_blocking
from wayfare.evals.episodes import write_selection
from wayfare.evals.path import read_path, read_paths
from wayfare.evals.surroundings import Surroundings
from wayfare.fleet.registry import WorkspaceComponentRegistry


async def bake_async(
    nodeset: str,
    *,
    out: Path | str,
    tool: str = "",
    poses: Path | str = "",
    outputs: Iterable[str] = (),
    by: By = "episode",
    split: str | None = None,
    episodes: str | int | Sequence[int] = "",
    config: Mapping[str, Any] | None = None,
    node_config: Mapping[str, Any] | None = None,
    workers: int = 1,
    retries: int = DEFAULT_RETRIES,
    verify: int = DEFAULT_VERIFIED,
    workspaces: Iterable[Path | str] = (),
    surroundings: Surroundings | None = None,
) -> Bake:
    """Render what the nodeset shows from many poses into a store, verify it, and say what came.

    The same call goes on with a store that was begun. Cancellation ends all copies; finished rows
    stay. Raises SetupError, FleetSetupError, StoreError, an author's error, RunInterruptedError
    when asked to end before there is a store, and RunFailedError when it can't go on.
    """
    request = BakeRequest(
        nodeset=nodeset,
        out=read_path(out, "out"),
        tool=tool,
        poses=str(poses),
        outputs=_read_names(outputs),
        by=by,
        split=split,
        selection=write_selection(episodes),
        config=config or {},
        node_config=node_config or {},
        worker_count=workers,
        retries=retries,
        verified=verify,
    )
    return await bake_as_requested(request, workspaces, surroundings or Surroundings())


async def bake_as_requested(
    request: BakeRequest, workspaces: Iterable[Path | str], surroundings: Surroundings
) -> Bake:
    """Do as `bake_async` does, for who has its arguments as a request."""
    registry = WorkspaceComponentRegistry(read_paths(workspaces, "workspaces"))
    return await Baker(request, registry, surroundings).run()


def _read_names(outputs: Iterable[str]) -> tuple[str, ...]:
    if isinstance(outputs, str):
        raise TypeError(f"outputs is the text {outputs!r}; give a list of names.")
    return tuple(outputs)


bake = make_blocking(bake_async, "bake")
