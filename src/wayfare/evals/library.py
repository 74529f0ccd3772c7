"""Evaluate a graph from Python: the same run that `wayfare eval` makes.

Knows nothing of settings: what a run takes from its surroundings is handed in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wayfare.evals.blocking import make_blocking
from wayfare.evals.disclosure import refuse_disclosure
from wayfare.evals.episodes import write_selection
from wayfare.evals.errors import SetupError
from wayfare.evals.evaluation import Evaluation
from wayfare.evals.header import EvalRequest
from wayfare.evals.opening import NewRun
from wayfare.evals.options import EvalOptions, LastingOptions, ResumeRequest
from wayfare.evals.path import read_path, read_paths
from wayfare.evals.resume import ResumedRun
from wayfare.evals.run import DEFAULT_RUNS, Run
from wayfare.evals.surroundings import Surroundings
from wayfare.fleet.catalogue import describe_nodesets
from wayfare.fleet.errors import FleetSetupError
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.bounds import check_values
from wayfare.graph.builder import Graph
from wayfare.graph.document import GraphDocument, load_graph, read_graph
from wayfare.graph.flatten import embed_graphs
from wayfare.graph.override import apply_overrides
from wayfare.graph.sketch import Manifest
from wayfare.store.recording import RecordMode
from wayfare.store.room import Room
from wayfare.store.writer import RunWriter

AnyGraph = Graph | GraphDocument | Mapping[str, Any] | Path | str
"""A graph: built, as a document, as parsed JSON, as the path of a file, or by name."""
UNNAMED = "graph"


async def evaluate_async(
    graph: AnyGraph | None = None,
    *,
    workers: int | None = None,
    episodes: str | int | Sequence[int] = "",
    split: str | None = None,
    seed: int | None = None,
    repeats: int | None = None,
    overrides: Iterable[str] | Mapping[str, Any] = (),
    step_budget: int | None = None,
    retries: int | None = None,
    record: RecordMode | None = None,
    record_only: str = "",
    resume: Path | str | None = None,
    force: bool = False,
    retry_errors: bool = False,
    workspaces: Iterable[Path | str] = (),
    out: Path | str | None = None,
    surroundings: Surroundings | None = None,
) -> Run:
    """Run the graph over episodes with N workers and return the run, which is kept in `out`.

    `episodes`: how many, which ones (`range(10, 20)`, a list), or text as `--episodes` has it.
    `overrides`: what `--set` takes, or {"nodes.ID.KEY": value}. `resume`: a run's id or folder.
    Cancellation ends all copies; what had finished is kept. Raises GraphError, SetupError,
    FleetSetupError, StoreError or an author's error before the first episode, RunInterruptedError
    when asked to end by then, and RunFailedError when the run can't go on.
    """
    folder = None if out is None else read_path(out, "out")
    lasting = LastingOptions(write_selection(episodes), split, seed, repeats, record, record_only)
    options = EvalOptions(workers, step_budget, retries, _override_texts(overrides), lasting)
    return await run_with_options(
        graph,
        options,
        ResumeRequest(resume, force, retry_errors, out=folder),
        workspaces=read_paths(workspaces, "workspaces"),
        out=folder or DEFAULT_RUNS,
        surroundings=surroundings or Surroundings(),
    )


async def run_with_options(
    graph: AnyGraph | None,
    options: EvalOptions,
    resume: ResumeRequest,
    *,
    workspaces: Sequence[Path],
    out: Path,
    surroundings: Surroundings,
) -> Run:
    """Do as `evaluate_async` does, for who has its arguments as options."""
    room = surroundings.make_room()
    if resume.run is None:
        return await _begin(graph, options, workspaces, out=out, around=surroundings, room=room)
    with RunWriter.reopen(resume.find_folder(out), room=room) as writer:
        resumed = ResumedRun(writer, force=resume.force, retry_errors=resume.retry_errors)
        for note in writer.dropped:
            surroundings.notify(note)
        asked = options.resumed(writer.header)
        folders = resumed.find_workspaces(workspaces)
        return await _resume(graph, asked, folders, resumed=resumed, around=surroundings, room=room)


async def read_manifests_async(
    nodesets: Iterable[str] | None = None,
    *,
    configs: Mapping[str, Mapping[str, Any]] | None = None,
    workspaces: Iterable[Path | str] = (),
    surroundings: Surroundings | None = None,
) -> dict[str, Manifest]:
    """Return the manifests of nodesets by name, for `Graph(manifests=…)`.

    Without names: of all that can be started here as it is. `configs` goes over their own
    configuration, which ports may depend on. Raises WorkspaceError for an unknown name and
    FleetSetupError for a named one that can't be started.
    """
    registry = WorkspaceComponentRegistry(read_paths(workspaces, "workspaces"))
    names = {entry.name for entry in registry.nodesets} if nodesets is None else nodesets
    entries = [registry.find_nodeset(name) for name in names]
    around, may_build = surroundings or Surroundings(), nodesets is not None
    async with around.launching(may_build=may_build) as launcher:
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
            return _checked(graph.document), graph.name or UNNAMED
        case GraphDocument():
            return _checked(graph), graph.name or UNNAMED
        case Mapping():
            document = read_graph(graph)
            return document, document.name or UNNAMED
    path = Path(graph)
    if isinstance(graph, Path) or path.suffix == ".json" or _is_file(path):
        return load_graph(path), path.stem
    return load_graph(registry.find_graph(graph).path), graph


def _checked(document: GraphDocument) -> GraphDocument:
    """Return a document that was made, not read. Raises GraphError for what no file can hold."""
    check_values(document.model_dump(by_alias=True), document.name or UNNAMED)
    return document


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # no name that a file can have
        return False


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


async def _begin(
    graph: AnyGraph | None,
    options: EvalOptions,
    workspaces: Sequence[Path],
    *,
    out: Path,
    around: Surroundings,
    room: Room,
) -> Run:
    if graph is None:
        raise SetupError(
            "there is no graph to run: name one (`wayfare nodesets --graphs` lists all, and says "
            "which can run here), or with --resume a run to go on."
        )
    registry = WorkspaceComponentRegistry(workspaces)
    document, name = resolve_graph(graph, registry)
    completed = _complete(document, options.overrides, registry, around)
    request = options.request(completed, name, tuple(workspaces))
    opening = NewRun(request, out, room)
    return await _run(request, registry, around, opening=opening, room=room)


async def _resume(
    graph: AnyGraph | None,
    options: EvalOptions,
    workspaces: Sequence[Path],
    *,
    resumed: ResumedRun,
    around: Surroundings,
    room: Room,
) -> Run:
    header = resumed.header
    registry = WorkspaceComponentRegistry(workspaces)
    document, _ = resolve_graph(header.graph if graph is None else graph, registry)
    completed = _complete(document, options.overrides, registry, around)
    request = options.request(completed, header.graph_name, tuple(workspaces))
    if resumed.is_over:
        resumed.check_same(request)
        around.notify(
            f"run {header.run_id} has nothing left to run; what it came to is given as it stands."
        )
        return Run.open(resumed.end().out)
    return await _run(request, registry, around, opening=resumed, room=room)


async def _run(
    request: EvalRequest,
    registry: WorkspaceComponentRegistry,
    surroundings: Surroundings,
    *,
    opening: NewRun | ResumedRun,
    room: Room,
) -> Run:
    secrets = surroundings.secrets
    refuse_disclosure(request.document, secrets)
    async with surroundings.launching() as launcher:
        evaluation = Evaluation(
            request,
            registry=registry,
            launcher=launcher,
            observer=surroundings.observer,
            drain=surroundings.drain,
            notify=surroundings.notify,
            opening=opening,
            room=room,
            secrets=secrets,
        )
        summary = await evaluation.run()
    return Run.open(summary.out)


def _override_texts(overrides: Iterable[str] | Mapping[str, Any]) -> tuple[str, ...]:
    if isinstance(overrides, str):
        raise TypeError(f"overrides is the text {overrides!r}; give a list of texts or a dict.")
    if isinstance(overrides, Mapping):
        return tuple(f"{key}={json.dumps(value)}" for key, value in overrides.items())
    return tuple(overrides)


evaluate = make_blocking(evaluate_async, "evaluate")
read_manifests = make_blocking(read_manifests_async, "read_manifests")
