"""`wayfare call`: call tools by hand, one after the other.

Knows nothing of graphs or runs.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from nodeset.context import EpisodeContext
from nodeset.digest import hash64
from nodeset.errors import AuthorError, NodeSetError
from wayfare.cli import option
from wayfare.cli.exit_status import ExitStatus
from wayfare.cli.fault import tell_fault
from wayfare.cli.line import (
    BoundCall,
    CallLineError,
    Reference,
    WrittenCall,
    bind_calls,
    read_line,
)
from wayfare.cli.output import open_errors, print_text, tell_progress
from wayfare.cli.settings import Settings
from wayfare.cli.transcript import (
    DoneCall,
    Transcript,
    render_transcript,
    save_arrays,
    transcript_document,
)
from wayfare.cli.value import parse_nodeset_setting, parse_setting
from wayfare.evals.choice import choose_split
from wayfare.evals.episodes import plan_episodes
from wayfare.evals.errors import RunFailedError
from wayfare.fleet.fleet import Fleet
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.pool import EnvWorkerPool, WorkerHandle
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.fleet.shutdown import tell_shutdown_faults
from wayfare.graph.calls import InfrastructureError, ToolCall
from wayfare.graph.document import FORMAT_VERSION, GraphDocument, NodeSpec
from wayfare.graph.tooltype import SEPARATOR

EXAMPLES = (
    "wayfare new nodeset env_hall",
    "wayfare call env_hall__reset --episode 0 --workspace .",
    "wayfare call env_hall__step action=0 then env_hall__evaluate --episode 3 --workspace . --json",
    (
        "wayfare call policy_planner__random_action --seed 7 "
        """'action_space={"kind": "discrete", "n": 4, "start": 0}'"""
    ),
    (
        "wayfare call env_hall__reset then policy_planner__random_action "
        "action_space=@reset.action_space --episode 0 --workspace ."
    ),
)

Line = Annotated[
    list[str],
    typer.Argument(
        metavar="TOOL [PORT=VALUE]... [then ...]",
        help="VALUE is JSON, else text; arrays as JSON lists or @FILE.npy; @TOOL.PORT is an output "
        "of an earlier call. Calls after `then` go to the same copies.",
    ),
]
Configuration = Annotated[
    list[str] | None,
    typer.Option("--set", help="NODESET.KEY=V: its configuration; V is JSON, else text."),
]
NodeConfiguration = Annotated[
    list[str] | None,
    typer.Option("--node-config", help="KEY=V: configuration of the called tools that know KEY."),
]
EpisodeIndex = Annotated[
    int | None, typer.Option(min=0, help="Begin this episode of the split first, as a run does.")
]
Environment = Annotated[
    str | None,
    typer.Option(help="The nodeset that brings the episode; default: the called one that does."),
]
ArrayFolder = Annotated[Path | None, typer.Option(help="Save the outputs' arrays here as .npy.")]


def call(
    words: Line,
    *,
    set_: Configuration = None,
    node_config: NodeConfiguration = None,
    split: option.Split = None,
    episode: EpisodeIndex = None,
    environment: Environment = None,
    seed: option.Seed = 0,
    out: ArrayFolder = None,
    workspace: option.Workspace = None,
    as_json: option.Json = False,
) -> None:
    """Call tools by hand, in fresh copies that live until the last call is answered."""
    for name, given in (("--split", split), ("--environment", environment)):
        if given is not None and episode is None:
            raise typer.BadParameter("needs --episode K, one of its episodes", param_hint=name)
    settings = Settings.read(os.environ, workspace or ())
    asked = _Asked(
        calls=read_line(words),
        configs=read_configs(set_ or ()),
        node_config=dict(parse_setting(text, "--node-config") for text in node_config or ()),
        split=split,
        episode=episode,
        environment=environment,
        seed=seed,
    )
    registry = WorkspaceComponentRegistry(settings.workspaces)
    transcript = asyncio.run(_perform(asked, registry, settings))
    saved = _save(transcript, out) if out is not None else []
    _print(transcript, saved, as_json)
    if transcript.error is not None:
        raise typer.Exit(ExitStatus.DONE_WITH_ERRORS)


def read_configs(settings: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return {nodeset: configuration} of `NODESET.KEY=V` texts, later ones over earlier ones."""
    configs: dict[str, dict[str, Any]] = {}
    for text in settings:
        nodeset, key, value = parse_nodeset_setting(text)
        configs.setdefault(nodeset, {})[key] = value
    return configs


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the command line says."""

    calls: Sequence[WrittenCall]
    configs: Mapping[str, Mapping[str, Any]]
    node_config: Mapping[str, Any]
    split: str | None
    episode: int | None
    environment: str | None
    seed: int

    def document(self) -> GraphDocument:
        """Return the called tools as a document, which is how nodesets are asked for."""
        called = {call.nodeset for call in self.calls}
        if self.environment is not None:
            called.add(self.environment)
        for name in self.configs:
            if name not in called:
                known = ", ".join(sorted(called))
                raise CallLineError(f"--set {name}.…: no tool of {name!r} is called; only {known}.")
        nodes = [NodeSpec(id=str(i), type=call.node_type) for i, call in enumerate(self.calls)]
        return GraphDocument(version=FORMAT_VERSION, nodes=nodes, environment=self.environment)


async def _perform(
    asked: _Asked, registry: WorkspaceComponentRegistry, settings: Settings
) -> Transcript:
    """Make the calls. An author's error ends them and stands in the transcript."""
    local = LocalSettings.from_environment(settings.environment, notify=tell_progress)
    document = asked.document()
    async with (
        LocalLauncher(local) as launcher,
        await registry.ensure_nodesets_for_graph(
            document, 1, launcher, configs=asked.configs
        ) as fleet,
    ):
        calls = bind_calls(asked.calls, fleet.manifests, asked.node_config)
        environment, episode = await _find_episode(asked, fleet)
        await fleet.initialize_all()
        try:
            async with EnvWorkerPool(fleet, environment) as pool:
                done = await _call_all(calls, pool.workers[0], episode, asked.seed)
        except InfrastructureError as error:
            raise RunFailedError(f"the call got no answer: {error}") from error
        wanting = {name for name, place in fleet.placements.items() if place.preflight}
        failed = done.failed.partition(SEPARATOR)[0]
        transcript = replace(done, wants_episode=episode is None and failed in wanting)
    tell_shutdown_faults(fleet.shutdown_faults, tell_progress)
    return transcript


async def _find_episode(asked: _Asked, fleet: Fleet) -> tuple[str | None, EpisodeContext | None]:
    """Return the nodeset that brings the episode and the episode as a run would have it."""
    if asked.episode is None:
        return None, None
    environment = _find_environment(fleet, asked.episode, asked.environment)
    split = choose_split(asked.split, environment, fleet.manifests)
    listed = await fleet.list_episodes(environment, split)
    if asked.episode >= len(listed):
        raise CallLineError(
            f"--episode {asked.episode}: split {split!r} of {environment!r} has {len(listed)} "
            f"episodes, numbered from 0."
        )
    name = fleet.members[environment].declaration.name
    plan = plan_episodes(name, split, listed, selection="", repeats=1)
    return environment, plan.context(plan.planned[asked.episode], asked.seed)


def _find_environment(fleet: Fleet, episode: int, named: str | None) -> str:
    """Return the nodeset that is named, else the one called nodeset that brings episodes."""
    able = sorted(name for name, manifest in fleet.manifests.items() if manifest["metadata"])
    if named in able:
        return named
    if named is not None:
        raise CallLineError(f"--environment {named}: this nodeset brings no episodes.")
    if len(able) != 1:
        which = f"several do: {', '.join(able)}" if able else "none does"
        raise CallLineError(
            f"--episode {episode} needs one called nodeset that brings episodes; {which}. "
            f"--environment NAME says which nodeset brings it, a called one or another."
        )
    return able[0]


async def _call_all(
    calls: Sequence[BoundCall], worker: WorkerHandle, episode: EpisodeContext | None, seed: int
) -> Transcript:
    done: list[DoneCall] = []
    at = "begin_episode"
    try:
        if episode is not None:
            await worker.open_episode(episode)
        for index, one in enumerate(calls):
            at = one.node_type
            turn = sum(earlier.node_type == at for earlier in calls[:index])
            base = seed if episode is None else episode.seed
            known_logs = len(worker.logs)
            outputs = await worker.invoke(_tool_call(one, done, turn, base))
            logs = [(line.key, line.value) for line in worker.logs[known_logs:]]
            done.append(DoneCall(at, one.outputs, outputs, logs))
    except NodeSetError as error:
        return Transcript(episode, done, at, error)
    return Transcript(episode, done)


def _tool_call(call: BoundCall, done: Sequence[DoneCall], turn: int, seed: int) -> ToolCall:
    """Return the call as a loop would make it in the turn that counts the tool's earlier calls."""
    inputs = {name: _resolve(value, done) for name, value in call.inputs.items()}
    return ToolCall(
        path=call.tool,
        nodeset=call.nodeset,
        tool=call.tool,
        config=call.config,
        inputs=inputs,
        step=turn,
        turns=(turn,),
        seed=hash64(seed, call.tool, (turn,)),
    )


def _resolve(value: Any, done: Sequence[DoneCall]) -> Any:
    if not isinstance(value, Reference):
        return value
    source = done[value.position]
    if value.port not in source.outputs:
        raise NodeSetError(f"{source.node_type} left its optional output {value.port!r} out")
    return source.outputs[value.port]


def _save(transcript: Transcript, out: Path) -> list[Path]:
    try:
        return save_arrays(transcript, out)
    except OSError as error:
        raise CallLineError(f"--out {str(out)!r} can't be written: {error.strerror}.") from error


def _print(transcript: Transcript, saved: Sequence[Path], as_json: bool) -> None:
    if as_json:
        print_text(json.dumps(transcript_document(transcript), allow_nan=False))
    elif text := render_transcript(transcript):
        print_text(text)
    console = open_errors()
    for path in saved:
        console.print(f"saved {path}")
    error = transcript.error
    if error is None:
        return
    tell_fault(str(error), error.traceback_text if isinstance(error, AuthorError) else "")
    if transcript.wants_episode:
        console.print("No episode was begun; --episode K begins one first.")
