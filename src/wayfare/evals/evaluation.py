"""Evaluate a graph: start its copies, check it, fix its episodes, run them, sum them up.

Knows nothing of settings, of signals, or of where copies are started.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from nodeset.errors import NodeSetError
from wayfare.evals.choice import choose_environment, choose_split
from wayfare.evals.drain import Drain
from wayfare.evals.episodes import EpisodePlan, plan_episodes
from wayfare.evals.errors import RunFailedError
from wayfare.evals.header import EvalRequest, make_header
from wayfare.evals.loop import LoopRunner
from wayfare.evals.observer import Observer
from wayfare.evals.recorder import Recorder
from wayfare.evals.report import report_nodesets, summarise
from wayfare.evals.runner import BatchEvalRunner
from wayfare.fleet.errors import (
    FleetSetupError,
    UnknownNameError,
    UnreadableError,
    WorkspaceError,
)
from wayfare.fleet.fleet import HASTY_CLOSE_SECONDS, HEALTH_SECONDS, Fleet
from wayfare.fleet.launcher import Launcher
from wayfare.fleet.pool import EnvWorkerPool
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.calls import InfrastructureError
from wayfare.graph.fault import Fault, GraphError
from wayfare.graph.plan import Plan, compile_plan
from wayfare.graph.validate import validate
from wayfare.store.errors import StoreError
from wayfare.store.run import RunReader, RunWriter
from wayfare.store.summary import RunStatus, RunSummary


class Evaluation:
    """One evaluation: what is asked for, and who starts, watches and may end it."""

    def __init__(
        self,
        request: EvalRequest,
        *,
        registry: WorkspaceComponentRegistry,
        launcher: Launcher,
        observer: Observer,
        drain: Drain,
        notify: Callable[[str], None],
        out: Path,
    ) -> None:
        self._request = request
        self._registry = registry
        self._launcher = launcher
        self._observer = observer
        self._drain = drain
        self._notify = notify
        self._out = out
        """The folder that run folders are made in."""

    async def run(self) -> RunSummary:
        """Return what the run came to; its folder holds the rest.

        Raises GraphError, SetupError, FleetSetupError or the author's errors before the first
        episode, RunInterruptedError when asked to end by then, and RunFailedError when the run
        can't go on.
        """
        request = self._request
        request.record.check()
        await self._drain.unless_asked(self._check_nodesets())
        starting = self._registry.ensure_nodesets_for_graph(
            request.document, request.worker_count, self._launcher
        )
        async with await self._drain.unless_asked(starting) as fleet:
            graph_plan = self._compile(fleet)
            environment = choose_environment(request.document, fleet.manifests)
            self._check_recording(fleet, environment)
            fleet.readiness.begin(but_first_of=environment)
            plan = await self._drain.unless_asked(self._plan_episodes(fleet, environment))
            self._mention_idle(len(plan.planned))
            fleet.readiness.begin()
            await self._drain.unless_asked(fleet.readiness.wait_for_one())
            return await self._run_episodes(fleet, environment, plan, graph_plan)

    async def _check_nodesets(self) -> None:
        """Raise GraphError with all faults of a graph some of whose nodesets are nowhere."""
        document = self._request.document
        missing = self._registry.find_missing(document)
        if not missing:
            return
        members = self._registry.list_members(document, 1, {}, without=missing)
        async with await Fleet.start(members, 1, self._launcher) as fleet:
            unreadable = {n for n, error in missing.items() if isinstance(error, UnreadableError)}
            faults = validate(document, fleet.manifests, unreadable=unreadable)
        faults += [_missing_fault(name, error) for name, error in missing.items()]
        raise GraphError(faults)

    def _compile(self, fleet: Fleet) -> Plan:
        document = self._request.document
        faults = validate(document, fleet.manifests)
        if faults:
            raise GraphError(faults)
        ordered = frozenset(name for name, place in fleet.placements.items() if place.ordered)
        return compile_plan(document, fleet.manifests, ordered)

    def _check_recording(self, fleet: Fleet, environment: str) -> None:
        declared = fleet.manifests[environment]["metadata"]["metrics"]
        outputs = [
            n.config["portName"] for n in self._request.document.nodes if n.type == "graphOut"
        ]
        self._request.record.only.check([*declared, *map(str, outputs)])

    def _mention_idle(self, episode_count: int) -> None:
        workers = self._request.worker_count
        if workers > episode_count:
            self._notify(
                f"the run has fewer episodes ({episode_count}) than workers ({workers}); some of "
                f"the workers have nothing to do."
            )

    async def _plan_episodes(self, fleet: Fleet, environment: str) -> EpisodePlan:
        request = self._request
        split = choose_split(request.split, environment, fleet.manifests)
        listed = await fleet.list_episodes(environment, split)
        name = fleet.members[environment].declaration.name
        return plan_episodes(
            name, split, listed, selection=request.selection, repeats=request.repeats
        )

    async def _run_episodes(
        self, fleet: Fleet, environment: str, plan: EpisodePlan, graph_plan: Plan
    ) -> RunSummary:
        metadata = fleet.manifests[environment]["metadata"]
        began = time.monotonic()

        def clock() -> float:
            return time.monotonic() - began

        with RunWriter.create(self._out, make_header(self._request, fleet, plan)) as writer:
            self._observer.run_started(writer.header, metadata["metrics"])
            recording = self._request.record, writer.folder, writer.header
            try:
                async with EnvWorkerPool(fleet, environment) as pool:
                    async with Recorder(*recording, manifests=fleet.manifests) as recorder:
                        runner = BatchEvalRunner(
                            plan,
                            LoopRunner(graph_plan),
                            self._request.rules_with_fallback(metadata.get("step_budget")),
                            writer=writer,
                            recorder=recorder,
                            observer=self._observer,
                            clock=clock,
                        )
                        await runner.run(pool.workers, self._drain)
                    summary = await self._summarise(fleet, writer, clock())
            except (FleetSetupError, StoreError, InfrastructureError, NodeSetError) as error:
                raise RunFailedError(f"run {writer.folder} can't go on: {error}") from error
            writer.finish(summary)
        if self._drain.is_asked:
            await fleet.close(HASTY_CLOSE_SECONDS)
        return summary

    async def _summarise(
        self, fleet: Fleet, writer: RunWriter, elapsed_seconds: float
    ) -> RunSummary:
        reader = RunReader(writer.folder, writer.header)
        status: RunStatus = "done" if writer.is_complete else "incomplete"
        seconds = HASTY_CLOSE_SECONDS if self._drain.is_asked else HEALTH_SECONDS
        health = await fleet.fetch_health(seconds)
        return summarise(
            writer.header,
            reader.iter_records(),
            status=status,
            elapsed_seconds=elapsed_seconds,
            out=str(writer.folder),
            nodesets=report_nodesets(writer.header, fleet.list_counters(), health),
            videos=reader.videos(),
        )


def _missing_fault(name: str, error: WorkspaceError) -> Fault:
    match error:
        case UnreadableError(reason=reason):
            return Fault("nodeset", name, reason, "Mend the file.")
        case UnknownNameError():
            remedy = "Add the folder that holds it with --workspace, or mend the name."
            return Fault("nodeset", name, str(error), remedy)
    return Fault("nodeset", name, str(error), "")
