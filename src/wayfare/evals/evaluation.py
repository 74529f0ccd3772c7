"""Evaluate a graph: start its copies, check it, fix its episodes, run them, sum them up.

Knows nothing of settings, of signals, or of where copies are started.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from nodeset.errors import NodeSetError
from wayfare.evals.choice import choose_environment, choose_split
from wayfare.evals.counters import add_reports, add_shutdown_faults, report_nodesets
from wayfare.evals.coverage import certify_run
from wayfare.evals.drain import Drain
from wayfare.evals.episodes import EpisodePlan
from wayfare.evals.errors import RunFailedError
from wayfare.evals.header import EvalRequest, make_header
from wayfare.evals.loop import LoopRunner
from wayfare.evals.observer import Observer
from wayfare.evals.opening import NewRun, OpenRun
from wayfare.evals.recorder import Recorder
from wayfare.evals.report import summarise
from wayfare.evals.resume import ResumedRun
from wayfare.evals.runner import BatchEvalRunner
from wayfare.fleet.errors import (
    FleetSetupError,
    UnknownNameError,
    UnreadableError,
    WorkspaceError,
)
from wayfare.fleet.fleet import (
    CLOSE_SECONDS,
    HASTY_CLOSE_SECONDS,
    HEALTH_SECONDS,
    Fleet,
)
from wayfare.fleet.launcher import Launcher
from wayfare.fleet.pool import EnvWorkerPool
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.fleet.shutdown import ShutdownFault, describe_shutdown_faults
from wayfare.graph.calls import InfrastructureError
from wayfare.graph.fault import Fault, GraphError
from wayfare.graph.plan import Plan, compile_plan
from wayfare.graph.validate import validate
from wayfare.store.errors import NoRoomError, StoreError
from wayfare.store.resumption import resume_command
from wayfare.store.room import Room
from wayfare.store.run import RunReader
from wayfare.store.secret import Secrets
from wayfare.store.summary import RunStatus, RunSummary
from wayfare.store.writer import RunWriter


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
        opening: NewRun | ResumedRun,
        room: Room,
        secrets: Secrets,
    ) -> None:
        self._request = request
        self._registry = registry
        self._launcher = launcher
        self._observer = observer
        self._drain = drain
        self._notify = notify
        self._opening = opening
        self._room = room
        self._secrets = secrets

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
            summary = await self._run_episodes(fleet, environment, plan, graph_plan)
        return summary

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
        split = choose_split(self._request.split, environment, fleet.manifests)
        listed = await fleet.list_episodes(environment, split)
        return self._opening.plan(fleet.members[environment].declaration.name, split, listed)

    async def _run_episodes(
        self, fleet: Fleet, environment: str, plan: EpisodePlan, graph_plan: Plan
    ) -> RunSummary:
        header = make_header(self._request, fleet, plan)
        with self._opening.open(header, plan) as run:
            clock = _Clock(run.worked_seconds)
            metrics = fleet.manifests[environment]["metadata"]["metrics"]
            self._observer.run_started(run.header, metrics, run.kept)
            try:
                async with (
                    self._keeping_logs(fleet, run.writer.folder),
                    self._drain.when_over(self._room.give_up),
                ):
                    await self._run_workers(
                        fleet, environment, run, graph_plan=graph_plan, clock=clock
                    )
                    summary = await self._summarise(fleet, run, clock())
                    await self._finish(run.writer, summary)
                    summary = await self._shut_down(fleet, run.writer, summary)
            except (FleetSetupError, StoreError, InfrastructureError, NodeSetError) as error:
                raise RunFailedError(
                    f"run {run.writer.folder} can't go on: {error}\n"
                    f"What is finished is kept; `{resume_command(run.writer.folder)}` goes on."
                ) from error
        return summary

    async def _run_workers(
        self, fleet: Fleet, environment: str, run: OpenRun, *, graph_plan: Plan, clock: _Clock
    ) -> None:
        budget = fleet.manifests[environment]["metadata"].get("step_budget")
        recording = self._request.record, run.writer.folder, run.header
        async with (
            EnvWorkerPool(fleet, environment, retries=self._request.rules.retries) as pool,
            Recorder(*recording, manifests=fleet.manifests, room=self._room) as recorder,
        ):
            runner = BatchEvalRunner(
                run.plan,
                LoopRunner(graph_plan),
                self._request.rules_with_fallback(budget),
                writer=run.writer,
                recorder=recorder,
                observer=self._observer,
                clock=clock,
                earlier=run.earlier,
                room=self._room,
                secrets=self._secrets,
            )
            await runner.run(pool.workers, self._drain)

    @asynccontextmanager
    async def _keeping_logs(self, fleet: Fleet, folder: Path) -> AsyncIterator[None]:
        """Keep what copies have printed if one of them died, or if the run comes to no end."""
        failed = True
        try:
            yield
            failed = any(copy.restarts for copy in fleet.list_counters())
        finally:
            if failed:
                await self._keep_logs(folder / "logs")

    async def _keep_logs(self, folder: Path) -> None:
        try:
            await asyncio.to_thread(self._launcher.keep_logs, folder, self._secrets.mask)
        except OSError as error:
            self._notify(f"what copies printed is not kept in {folder}: {error.strerror}")

    async def _shut_down(self, fleet: Fleet, writer: RunWriter, summary: RunSummary) -> RunSummary:
        """Shut the copies down; return the summary, written anew if some did it wrong."""
        await fleet.close(HASTY_CLOSE_SECONDS if self._drain.is_asked else CLOSE_SECONDS)
        faults = [self._mask(fault) for fault in fleet.shutdown_faults]
        if not faults:
            return summary
        await self._tell_shutdown_faults(faults, writer.folder / "logs")
        by_nodeset: dict[str, list[ShutdownFault]] = {}
        for fault in faults:
            by_nodeset.setdefault(fleet.copies[fault.tag].member.instance, []).append(fault)
        nodesets = add_shutdown_faults(summary.nodesets, by_nodeset)
        summary = replace(summary, nodesets=nodesets)
        await self._finish(writer, summary)
        return summary

    def _mask(self, fault: ShutdownFault) -> ShutdownFault:
        mask = self._secrets.mask
        return replace(fault, reason=mask(fault.reason), traceback_text=mask(fault.traceback_text))

    async def _tell_shutdown_faults(self, faults: Sequence[ShutdownFault], folder: Path) -> None:
        """Tell of copies that did not shut down as they should; the run's results stand."""
        await self._keep_logs(folder)
        log = folder / f"{faults[0].tag}.log"
        where = f"What it printed is in {log}." if log.exists() else faults[0].traceback_text
        text = f"{describe_shutdown_faults(faults)} The results of the run stand. {where}"
        self._notify(text.rstrip())

    async def _summarise(self, fleet: Fleet, run: OpenRun, elapsed_seconds: float) -> RunSummary:
        reader = RunReader(run.writer.folder, run.writer.header)
        status: RunStatus = "done" if run.writer.is_complete else "incomplete"
        seconds = HASTY_CLOSE_SECONDS if self._drain.is_asked else HEALTH_SECONDS
        queues = await fleet.fetch_queues(seconds)
        nodesets = report_nodesets(run.header, fleet.list_counters(), queues)
        return summarise(
            run.header,
            reader.iter_records(),
            status=status,
            elapsed_seconds=elapsed_seconds,
            out=str(run.writer.folder),
            nodesets=add_reports(run.counted, nodesets),
            uncounted_parts=run.uncounted_parts,
            videos=reader.videos(),
            coverage=certify_run(reader),
        )

    async def _finish(self, writer: RunWriter, summary: RunSummary) -> None:
        """Write the summary down; a disk without room for it loses nothing else."""
        try:
            await asyncio.to_thread(writer.finish, summary)
        except NoRoomError as error:
            self._notify(f"the summary is not kept: {error}")


class _Clock:
    """Seconds since the run began, without those between its end and its resumption."""

    def __init__(self, worked_seconds: float) -> None:
        self._began = time.monotonic() - worked_seconds

    def __call__(self) -> float:
        return time.monotonic() - self._began


def _missing_fault(name: str, error: WorkspaceError) -> Fault:
    match error:
        case UnreadableError(reason=reason):
            return Fault("nodeset", name, reason, "Mend the file.")
        case UnknownNameError():
            remedy = "Add the folder that holds it with --workspace, or mend the name."
            return Fault("nodeset", name, str(error), remedy)
    return Fault("nodeset", name, str(error), "")
