"""`wayfare new`: write a nodeset or a graph to start from.

Knows nothing of how nodesets are wired or run.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal

import typer

from nodeset.source import MAX_NAME_LENGTH
from wayfare.cli import option
from wayfare.cli.call import read_configs
from wayfare.cli.choice import Agent, make_agent
from wayfare.cli.output import print_text, tell_progress
from wayfare.cli.settings import Settings
from wayfare.evals.errors import SetupError
from wayfare.fleet.catalogue import describe_nodesets
from wayfare.fleet.errors import FleetSetupError, WorkspaceError
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.registry import (
    WorkspaceComponentRegistry,
    find_shipped_workspace,
    is_folder,
)
from wayfare.graph.fault import GraphError, shorten
from wayfare.graph.tooltype import SEPARATOR
from wayfare.graph.validate import validate
from wayfare.graph.writing import format_graph

Kind = Literal["nodeset", "graph"]
Mode = Literal["replicated", "shared"]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", help="NODESET.KEY=V: configuration that goes into the graph."),
]
Folder = Annotated[
    Path, typer.Option("--dir", help="The workspace to write into: a folder with nodesets/.")
]

NODESET_EXAMPLES = (
    "wayfare new nodeset env_hall",
    "wayfare new nodeset env_pure --mode shared",
    "wayfare new nodeset policy_hall --policy --dir my_workspace",
)
GRAPH_EXAMPLES = (
    "wayfare new nodeset env_hall",
    "wayfare new nodeset policy_hall --policy",
    "wayfare new graph hall --env env_hall --policy policy_hall",
    "wayfare new graph hall_random --env env_hall",
    "wayfare new graph short_hall --env env_hall --set env_hall.episodes=3",
)
RANDOM_POLICY = "policy_planner__random_action"
"""What acts where no policy is named, if the environment describes its actions."""
ACTION_SPACE = "action_space"
FALLBACK_BUDGET = 100

_NAMES: Mapping[Kind, tuple[re.Pattern[str], str]] = {
    "nodeset": (
        re.compile(r"[A-Za-z](_?[A-Za-z0-9])*"),
        "letters, digits and single underscores, a letter first",
    ),
    "graph": (
        re.compile(r"[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*"),
        "letters, digits and underscores, with single hyphens between them",
    ),
}
"""What each may be called, as a pattern and in words: it becomes the name of a file."""

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


class NewFileError(SetupError):
    """The file can't be written as asked."""


def make_epilog(examples: Sequence[str]) -> str:
    """Return the examples as the end of a command's help, kept as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {example}" for example in examples)


@app.callback()
def new() -> None:
    """Write a working nodeset or graph to start from."""


@app.command("nodeset", epilog=make_epilog(NODESET_EXAMPLES))
def new_nodeset(
    name: Annotated[str, typer.Argument(help="Letters, digits, single underscores.")],
    *,
    is_env: Annotated[
        bool, typer.Option("--env/--policy", help="An environment with episodes, or a policy.")
    ] = True,
    mode: Annotated[
        Mode | None,
        typer.Option(
            help="replicated: it keeps state, a copy per worker; shared: pure and batched. "
            "Default: replicated for an environment, shared for a policy."
        ),
    ] = None,
    folder: Folder = Path(),
    workspace: option.Workspace = None,
) -> None:
    """Write a short nodeset that runs as it is."""
    _check_name("nodeset", name)
    settings = _read_settings(folder, workspace or ())
    _refuse_known("nodeset", name, _open_registry(settings, folder))
    kind = "env" if is_env else "policy"
    mode = mode or ("replicated" if is_env else "shared")
    path = folder / "nodesets" / f"{name}.py"
    _write_new(path, _fill(f"{kind}_{mode}.py.txt", name))
    noun = "an environment" if is_env else "a policy"
    print_text(f"wrote {path}: {noun}, {mode}")
    options = _workspace_options(folder, workspace or ())
    place = "" if folder == Path() else f" --dir {shlex.quote(str(folder))}"
    _print_next(_list_next(name, f"{kind}_{mode}", options, place))


@app.command("graph", epilog=make_epilog(GRAPH_EXAMPLES))
def new_graph(
    name: Annotated[str, typer.Argument(help="The graph's name, as `wayfare eval` takes it.")],
    *,
    env: Annotated[str, typer.Option(help="The nodeset that brings the episodes.")],
    policy: Annotated[
        str | None,
        typer.Option(
            help="A nodeset, or one tool as <nodeset>__<tool>. Default: random actions, if a tool "
            "of the environment gives the port action_space."
        ),
    ] = None,
    set_: Overrides = None,
    folder: Folder = Path(),
    workspace: option.Workspace = None,
) -> None:
    """Write a graph: each port is wired to one of the same name whose type fits."""
    _check_name("graph", name)
    settings = _read_settings(folder, workspace or ())
    registry = _open_registry(settings, folder)
    _refuse_known("graph", name, registry)
    policy_nodeset, _, tool = (policy or RANDOM_POLICY).partition(SEPARATOR)
    configs = read_configs(set_ or ())
    _refuse_stray(configs, (env, policy_nodeset))
    asked = _read_manifests((env, policy_nodeset), registry, settings, configs)
    manifests = asyncio.run(asked)
    if policy is None:
        _require_action_space(manifests[env])
    agent = make_agent(
        name, manifests[env], manifests[policy_nodeset], policy_tool=tool or None, configs=configs
    )
    if faults := validate(agent.document, manifests):
        raise GraphError(faults)
    path = folder / "graphs" / f"{name}.json"
    _write_new(path, format_graph(agent.document))
    _print_agent(path, agent, manifests[env], _workspace_options(folder, workspace or ()))


def _check_name(kind: Kind, name: str) -> None:
    pattern, words = _NAMES[kind]
    if not pattern.fullmatch(name) or len(name) > MAX_NAME_LENGTH:
        length = f", which has {len(name)} characters" if len(name) > MAX_NAME_LENGTH else ""
        raise NewFileError(
            f"a {kind} can't be called {shorten(name)}{length}: a name is at most "
            f"{MAX_NAME_LENGTH} {words}. Choose another."
        )


def _read_settings(folder: Path, workspaces: Sequence[Path]) -> Settings:
    """Return the settings with the folder as one more workspace, if it is there already."""
    extra = [folder] if is_folder(folder) else []
    return Settings.read(os.environ, [*workspaces, *extra])


def _open_registry(settings: Settings, folder: Path) -> WorkspaceComponentRegistry:
    if os.path.lexists(folder) and not is_folder(folder):
        raise NewFileError(f"--dir {str(folder)!r} is no folder.")
    return WorkspaceComponentRegistry(settings.workspaces)


def _refuse_known(kind: Kind, name: str, registry: WorkspaceComponentRegistry) -> None:
    entries = registry.nodesets if kind == "nodeset" else registry.graphs
    for entry in entries:
        if entry.name == name:
            raise NewFileError(f"{kind} {name!r} is there already: {entry.path}. Choose another.")


def _refuse_stray(configs: Mapping[str, object], names: Sequence[str]) -> None:
    for name in configs:
        if name not in names:
            raise NewFileError(f"--set {name}.…: the graph has only {', '.join(names)}.")


def _write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise NewFileError(f"{path} is there already and is left as it is.") from error
    except OSError as error:
        raise NewFileError(f"{path} can't be written: {error.strerror}.") from error


def _fill(skeleton: str, name: str) -> str:
    text = resources.files("wayfare.cli").joinpath("skeleton", skeleton).read_text("utf-8")
    class_name = "".join(word[0].upper() + word[1:] for word in name.split("_"))
    return Template(text).substitute(name=name, class_name=class_name)


async def _read_manifests(
    names: Sequence[str],
    registry: WorkspaceComponentRegistry,
    settings: Settings,
    configs: Mapping[str, Mapping[str, Any]],
) -> dict[str, Mapping[str, Any]]:
    names = list(dict.fromkeys(names))
    entries = [registry.find_nodeset(name) for name in names]
    local = LocalSettings.from_environment(settings.environment, notify=tell_progress)
    async with LocalLauncher(local) as launcher:
        descriptions = await describe_nodesets(entries, launcher, configs)
    manifests = {}
    for name, description in zip(names, descriptions, strict=True):
        if description.manifest is None:
            raise FleetSetupError(description.unavailable)
        if description.entry.name != name:
            raise WorkspaceError(
                f"{name!r} is a class; name the nodeset: {description.entry.name}."
            )
        manifests[name] = description.manifest
    return manifests


def _require_action_space(manifest: Mapping[str, Any]) -> None:
    for tool in manifest["tools"]:
        if any(port["name"] == ACTION_SPACE for port in tool["outputs"]):
            return
    raise NewFileError(
        f"no tool of {manifest['name']!r} has an output {ACTION_SPACE!r} that describes its "
        f"actions, so that random ones could be drawn. Name a policy: --policy NODESET."
    )


def _workspace_options(folder: Path, workspaces: Sequence[Path]) -> str:
    """Return the options by which other commands find what lies in the folder."""
    named = [*Settings.read(os.environ).workspaces, find_shipped_workspace()]
    known = {path.resolve() for path in named}
    extra = [path for path in (*workspaces, folder) if path.resolve() not in known]
    return "".join(f" --workspace {shlex.quote(str(path))}" for path in dict.fromkeys(extra))


def _list_next(name: str, kind: str, workspace: str, place: str) -> list[str]:
    match kind:
        case "env_replicated":
            calls = f"{name}__reset then {name}__step action=1 --episode 0"
        case "env_shared":
            reset, observe = f"{name}__reset episode_index=0", f"{name}__observe episode_index=0"
            calls = f"{reset} then {observe} state=@reset.state"
        case _:
            return [f"wayfare call {name}__act 'observation=[0, 3]'{workspace}"]
    return [
        f"wayfare call {calls}{workspace}",
        f"wayfare new graph {name}_random --env {name}{place}",
    ]


def _print_agent(path: Path, agent: Agent, env: Mapping[str, Any], workspace: str) -> None:
    wiring = agent.wiring
    print_text(f"wrote {path}: {wiring.policy.node_type} acts by {wiring.step.node_type}")
    for edge in wiring.edges:
        print_text(f"  {edge.source}.{edge.source_handle} -> {edge.target}.{edge.target_handle}")
    if wiring.unwired:
        print_text(f"optional inputs that nothing feeds: {', '.join(wiring.unwired)}")
    if agent.other_policies:
        print_text(f"further policies that fit (--policy): {', '.join(agent.other_policies)}")
    budget = ""
    if env["metadata"].get("step_budget") is None:
        print_text("the environment names no step budget: an episode may never end without one")
        budget = f" --step-budget {FALLBACK_BUDGET}"
    _print_next([f"wayfare eval {path.stem} --episodes 3{budget}{workspace}"])


def _print_next(commands: Sequence[str]) -> None:
    print_text("next:")
    for command in commands:
        print_text(f"  {command}")
