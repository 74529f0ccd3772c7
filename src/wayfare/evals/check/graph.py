"""Check that a graph does not feel how it is run: worker counts, orders of episodes, launchers.

Knows nothing of nodesets' contracts. The same episodes are run several times and compared.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wayfare.evals.check.verdict import (
    CounterExample,
    FaultyCodeError,
    GraphCheck,
    Property,
    Variant,
)
from wayfare.evals.comparison import Comparison, compare_runs
from wayfare.evals.comparison_divergence import Divergence
from wayfare.evals.errors import SelectionError, SetupError
from wayfare.evals.library import AnyGraph, evaluate_async
from wayfare.evals.run import Run
from wayfare.evals.surroundings import Surroundings
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.document import GraphDocument, read_graph
from wayfare.graph.plan import Plan, compile_plan
from wayfare.graph.tooltype import split_type
from wayfare.store.run import RunReader

DEFAULT_EPISODES = 8
DEFAULT_WORKERS = (1, 2, 8)
_LISTED = "as listed"
_SHUFFLED = "shuffled"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCheckRequest:
    """What is to be checked of a graph."""

    graph: AnyGraph
    name: str
    workers: tuple[int, ...] = DEFAULT_WORKERS
    episodes: str = ""
    split: str | None = None
    seed: int = 0
    overrides: tuple[str, ...] = ()
    workspaces: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to run the episodes."""

    worker_count: int
    order: str
    launcher: str = "local"

    @property
    def name(self) -> str:
        workers = f"{self.worker_count} worker{'' if self.worker_count == 1 else 's'}"
        place = "in this process" if self.launcher == "in-process" else "in processes"
        return f"{workers}, {place}, episodes {self.order}"


async def check_graph(
    request: GraphCheckRequest, surroundings: Surroundings, registry: WorkspaceComponentRegistry
) -> GraphCheck:
    """Return what the check of a graph came to.

    Raises GraphError, SetupError and FleetSetupError as an evaluation does, and FaultyCodeError
    where every episode ends in an error.
    """
    if not request.workers or min(request.workers) < 1:
        raise SetupError(f"workers {request.workers!r}: each count must be at least 1.")
    with tempfile.TemporaryDirectory(prefix="wayfare-check-") as folder:
        runner = _Runner(request, surroundings, Path(folder))
        base = await runner.run_base()
        _refuse_fault(base)
        ways = _list_ways(request.workers)
        compared = [(way, await runner.run(way, base)) for way in ways]
        document = read_graph(base.header.graph, request.name)
        plan = await _compile(document, surroundings, registry)
    invariance = base.summary.invariance
    first = _Way(request.workers[0], _LISTED)
    return GraphCheck(
        name=request.name,
        episodes=len(base.header.episodes),
        claimed=invariance.claimed,
        unclaimed=invariance.tools,
        threads={
            name: str(nodeset.threads or f"all cores ({os.cpu_count()})")
            for name, nodeset in base.header.nodesets.items()
        },
        variants=(
            _describe(first, base.digest, is_equal=True),
            *(_describe(way, found.b.digest, is_equal=found.equal) for way, found in compared),
        ),
        properties=(
            *(_judge(way, found, invariance.tools) for way, found in compared),
            *_note_errors(base),
            *_list_hints(document, plan),
        ),
    )


class _Runner:
    """Runs the episodes of one graph in several ways."""

    def __init__(self, request: GraphCheckRequest, around: Surroundings, folder: Path) -> None:
        self._request = request
        self._around = around
        self._folder = folder

    async def run_base(self) -> Run:
        """Run the episodes as they are listed; without a choice a few of them."""
        way = _Way(self._request.workers[0], _LISTED)
        if self._request.episodes:
            return await self._evaluate(way, self._request.episodes)
        try:
            return await self._evaluate(way, str(DEFAULT_EPISODES))
        except SelectionError:  # there are fewer
            return await self._evaluate(way, "")

    async def run(self, way: _Way, base: Run) -> Comparison:
        """Run the same episodes in another way and compare them with the first run."""
        indexes = [episode.index for episode in base.header.episodes]
        random.Random(way.name).shuffle(indexes)  # noqa: S311  an order, no secret
        run = await self._evaluate(way, "".join(f"{index}," for index in indexes))
        return compare_runs(self._open(base), self._open(run), anyway=True)

    def _open(self, run: Run) -> RunReader:
        return RunReader.open(run.folder, self._folder)

    async def _evaluate(self, way: _Way, episodes: str) -> Run:
        request = self._request
        return await evaluate_async(
            request.graph,
            workers=way.worker_count,
            episodes=episodes,
            split=request.split,
            seed=request.seed,
            overrides=request.overrides,
            record="full",
            workspaces=request.workspaces,
            out=self._folder,
            surroundings=replace(self._around, in_process=way.launcher == "in-process"),
        )


def _list_ways(workers: Sequence[int]) -> Iterator[_Way]:
    """Yield the ways to run that are compared with the first one."""
    for count in dict.fromkeys(workers):
        yield _Way(count, _SHUFFLED)
    yield _Way(1, _SHUFFLED, "in-process")


def _describe(way: _Way, digest: str, *, is_equal: bool) -> Variant:
    return Variant(
        name=way.name,
        worker_count=way.worker_count,
        launcher=way.launcher,
        order=way.order,
        digest=digest,
        is_equal=is_equal,
    )


def _judge(way: _Way, found: Comparison, unclaimed: Sequence[str]) -> Property:
    name = "launcher" if way.launcher == "in-process" else f"{way.worker_count} workers"
    name = "order" if (way.worker_count, way.launcher) == (found.a.worker_count, "local") else name
    if found.equal:
        return Property(name=name, verdict="pass", says=f"{way.name}: equal digests")
    first = found.first_divergence
    examples = (_exemplify(way, first),) if first is not None else ()
    if unclaimed:
        says = f"{way.name}: differs, which is not claimed: {', '.join(unclaimed)}"
        return Property(name=name, verdict="warning", says=says, examples=examples)
    says = f"{way.name}: {found.episodes.different} of {found.episodes.pairs} episodes differ"
    return Property(name=name, verdict="fail", says=says, examples=examples)


def _exemplify(way: _Way, found: Divergence) -> CounterExample:
    value = found.values[0] if found.values else None
    turns = ".".join(map(str, found.turns))
    where = f"step {turns}, node {found.node!r}" if turns else f"node {found.node!r}"
    first = f"episode {found.episode_id!r}, {where}: {found.how}"
    given = {True: "its inputs are equal", False: "its inputs differ", None: ""}
    return CounterExample(
        tool=found.node or "the result",
        port=value.source.partition(".")[2] if value else "",
        place=value.place if value else "",
        a=value.a if value else found.error_a or str(found.outcome_a),
        b=value.b if value else found.error_b or str(found.outcome_b),
        note=value.note if value else "",
        calls=(first, *(text for text in (given[found.inputs_equal],) if text)),
        meaning=f"The same episode goes otherwise with {way.name}.",
        cause="a nodeset that keeps something between episodes or lets rows feel each other; "
        "`wayfare check NODESET` finds which.",
    )


def _refuse_fault(base: Run) -> None:
    """Raise FaultyCodeError where no episode came to an end."""
    errors = [row.error for row in base.episodes if row.error is not None]
    if not errors or len(errors) < len(base.header.episodes):
        return
    first = errors[0]
    raise FaultyCodeError(f"every episode ends in an error: {first.message}", first.traceback)


def _note_errors(base: Run) -> Iterator[Property]:
    errors = [row for row in base.episodes if row.error is not None]
    if errors and errors[0].error is not None:
        says = f"{len(errors)} episodes end in an error, such as {errors[0].error.message}"
        yield Property(name="episodes", verdict="warning", says=says)


async def _compile(
    document: GraphDocument, around: Surroundings, registry: WorkspaceComponentRegistry
) -> Plan:
    async with (
        around.launching() as launcher,
        await registry.ensure_nodesets_for_graph(document, 1, launcher) as fleet,
    ):
        ordered = frozenset(name for name, place in fleet.placements.items() if place.ordered)
        return compile_plan(document, fleet.manifests, ordered)


def _list_hints(document: GraphDocument, plan: Plan) -> Iterator[Property]:
    """Yield what is legal and easily overlooked."""
    for earlier, later in plan.position_pairs:
        says = (
            f"only their places in `nodes` say that {earlier!r} is called before {later!r}, and "
            f"both call one copy; an edge to `after` says it in the graph"
        )
        yield Property(name="hint", verdict="hint", says=says)
    wired = {edge.target for edge in document.edges}
    for node in document.nodes:
        if split_type(node.type) is not None and node.id not in wired:
            says = f"{node.id!r} has no input and no `after`: it is called once, before any loop"
            yield Property(name="hint", verdict="hint", says=says)
