"""Evaluate a graph from Python: the same run that `wayfare eval` makes.

Knows nothing of settings: what a run takes from its surroundings is handed in.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from wayfare.evals.evaluation import Evaluation
from wayfare.evals.header import EvalRequest
from wayfare.evals.recorder_choice import EpisodeChoice, RecordRequest
from wayfare.evals.run import DEFAULT_RUNS, Run
from wayfare.evals.runner import RunRules
from wayfare.evals.surroundings import Surroundings
from wayfare.fleet.catalogue import describe_nodesets
from wayfare.fleet.errors import FleetSetupError
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.builder import Graph
from wayfare.graph.document import GraphDocument, load_graph, read_graph
from wayfare.graph.flatten import embed_graphs
from wayfare.graph.override import apply_overrides
from wayfare.graph.sketch import Manifest
from wayfare.store.recording import RecordMode

AnyGraph = Graph | GraphDocument | Mapping[str, Any] | Path | str
"""A graph: built, as a document, as parsed JSON, as the path of a file, or by name."""
UNNAMED = "graph"
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


async def evaluate_async(
    graph: AnyGraph,
    *,
    workers: int = 1,
    episodes: str | int | Sequence[int] = "",
    split: str | None = None,
    seed: int = 0,
    repeats: int = 1,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    step_budget: int | None = None,
    retries: int = 2,
    record: RecordMode = "actions",
    record_only: str = "",
    workspaces: Iterable[Path | str] = (),
    out: Path | str | None = None,
    surroundings: Surroundings | None = None,
) -> Run:
    """Run the graph over episodes with N workers and return the run, which is kept in `out`.

    `episodes`: how many, which ones (`range(10, 20)`, a list), or text as `--episodes` has it.
    `overrides`: what `--set` takes, or {"nodes.ID.KEY": value}. `record_only`: as
    `--record-only`. Cancellation ends all copies; what had finished is kept.
    Raises GraphError, SetupError, FleetSetupError or an author's error before the first episode,
    RunInterruptedError when asked to end by then, and RunFailedError when it can't go on.
    """
    registry = WorkspaceComponentRegistry([Path(folder) for folder in workspaces])
    around, texts = surroundings or Surroundings(), _override_texts(overrides)
    document, name = resolve_graph(graph, registry)
    request = EvalRequest(
        document=_complete(document, texts, registry, around),
        graph_name=name,
        worker_count=workers,
        selection=_selection_text(episodes),
        split=split,
        repeats=repeats,
        overrides=texts,
        rules=RunRules(seed=seed, retries=retries, step_budget=step_budget),
        record=RecordRequest(record, EpisodeChoice.parse(record_only)),
    )
    return await _run(request, registry, around, Path(out or DEFAULT_RUNS))


async def read_manifests_async(
    nodesets: Iterable[str] | None = None,
    *,
    configs: Mapping[str, Mapping[str, Any]] | None = None,
    workspaces: Iterable[Path | str] = (),
    surroundings: Surroundings | None = None,
) -> dict[str, Manifest]:
    """Return the manifests of nodesets by name, for `Graph(manifests=…)`.

    Without names: of all that can be started here. `configs` goes over their own configuration,
    which ports may depend on. Raises WorkspaceError for an unknown name and FleetSetupError for a
    named one that can't be started.
    """
    registry = WorkspaceComponentRegistry([Path(folder) for folder in workspaces])
    names = {entry.name for entry in registry.nodesets} if nodesets is None else nodesets
    entries = [registry.find_nodeset(name) for name in names]
    async with (surroundings or Surroundings()).launching() as launcher:
        descriptions = await describe_nodesets(entries, launcher, configs)
    found: dict[str, Manifest] = {}
    for description in descriptions:
        if description.manifest is not None:
            found[description.entry.name] = description.manifest
        elif nodesets is not None:
            raise FleetSetupError(description.unavailable)
    return found


def resolve_graph(
    graph: AnyGraph, registry: WorkspaceComponentRegistry
) -> tuple[GraphDocument, str]:
    """Return the document and the name that its runs go by.

    Raises GraphError for what is no document, WorkspaceError for an unknown name.
    """
    match graph:
        case Graph():
            return graph.document, graph.name or UNNAMED
        case GraphDocument():
            return graph, graph.name or UNNAMED
        case Mapping():
            document = read_graph(graph)
            return document, document.name or UNNAMED
    path = Path(graph)
    if isinstance(graph, Path) or path.suffix == ".json" or path.is_file():
        return load_graph(path), path.stem
    return load_graph(registry.find_graph(graph).path), graph


def _complete(
    document: GraphDocument,
    overrides: Sequence[str],
    registry: WorkspaceComponentRegistry,
    surroundings: Surroundings,
) -> GraphDocument:
    """Return the document as it runs: graphs that it names put in, overrides laid over it.

    What a migration had to leave out is told, not done in silence.
    """
    for note in document.notes:
        surroundings.notify(note)

    def find(name: str) -> GraphDocument:
        return load_graph(registry.find_graph(name).path)

    # An override may set a nodeset that only a named graph uses, or name another graph.
    return embed_graphs(apply_overrides(embed_graphs(document, find), overrides), find)


async def _run(
    request: EvalRequest,
    registry: WorkspaceComponentRegistry,
    surroundings: Surroundings,
    out: Path,
) -> Run:
    async with surroundings.launching() as launcher:
        evaluation = Evaluation(
            request,
            registry=registry,
            launcher=launcher,
            observer=surroundings.observer,
            drain=surroundings.drain,
            notify=surroundings.notify,
            out=out,
        )
        summary = await evaluation.run()
    return Run.open(summary.out)


def _override_texts(overrides: Iterable[str] | Mapping[str, Any]) -> tuple[str, ...]:
    if isinstance(overrides, str):
        raise TypeError(f"overrides is the text {overrides!r}; give a list of texts or a dict.")
    if isinstance(overrides, Mapping):
        return tuple(f"{key}={json.dumps(value)}" for key, value in overrides.items())
    return tuple(overrides)


def _selection_text(episodes: str | int | Sequence[int]) -> str:
    """Return a selection as `--episodes` has it; a list of one keeps its comma."""
    if isinstance(episodes, str | int):
        return str(episodes)
    return "".join(f"{index}," for index in episodes) or "0:0"


def _blocking(
    function: Callable[_Parameters, Coroutine[Any, Any, _Result]], name: str
) -> Callable[_Parameters, _Result]:
    """Return the function for where no event loop runs."""

    @functools.wraps(function)
    def run(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        if _is_loop_running():
            raise RuntimeError(
                f"{name} can't wait where an event loop runs, as in a notebook; "
                f"there, use `await {name}_async(…)`."
            )
        return asyncio.run(function(*args, **kwargs))

    run.__name__ = run.__qualname__ = name
    return run


def _is_loop_running() -> bool:
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        return True
    return False


evaluate = _blocking(evaluate_async, "evaluate")
read_manifests = _blocking(read_manifests_async, "read_manifests")
