"""`wayfare replay`: send a recorded call to its node again.

Knows nothing of how calls are recorded or sent.
"""

from __future__ import annotations

import asyncio
import os
from typing import Annotated, Any

import typer

from wayfare.cli import option
from wayfare.cli.exit_status import ExitStatus
from wayfare.cli.live import describe_count
from wayfare.cli.output import print_json, print_text, tell_progress
from wayfare.cli.settings import Settings
from wayfare.evals.replay import Replay, find_episode, replay
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.store.run import RunReader

FAILED = "failed"


def replay_call(
    run: Annotated[str, typer.Argument(help="A run's id or folder; it ran with --record full.")],
    *,
    episode: Annotated[str, typer.Option(help="An episode's index, id or key.")],
    step: Annotated[int, typer.Option(min=0, help="The turn of the outermost loop, from 0.")] = 0,
    node: Annotated[str, typer.Option(help="A node's id; within a subgraph, sub/inner.")],
    out: option.Out = None,
    workspace: option.Workspace = None,
    as_json: option.Json = False,
) -> None:
    """Send a recorded call to a fresh copy of its node and compare the digests of the outputs."""
    settings = Settings.read(os.environ, workspace or ())
    reader = RunReader.open(run, out or settings.runs)
    done = asyncio.run(_replay(reader, episode, settings, step=step, node=node))
    if as_json:
        print_json(_document(reader, done))
    else:
        _print(done)
    if not done.is_same:
        raise typer.Exit(ExitStatus.DONE_WITH_ERRORS)


async def _replay(
    reader: RunReader, episode: str, settings: Settings, *, step: int, node: str
) -> Replay:
    local = LocalSettings.from_environment(settings.environment, notify=tell_progress)
    async with LocalLauncher(local) as launcher:
        return await replay(
            reader,
            find_episode(reader, episode),
            node=node,
            step=step,
            registry=WorkspaceComponentRegistry(settings.workspaces),
            launcher=launcher,
        )


def _document(reader: RunReader, done: Replay) -> dict[str, Any]:
    return {
        "run_id": reader.header.run_id,
        "key": done.key.text,
        "nodeset": done.nodeset,
        "is_changed": done.is_changed,
        "sent_before": done.sent_before,
        "same": done.is_same,
        "calls": [
            {
                "node": replayed.call.path,
                "step": replayed.call.step,
                "turns": list(replayed.call.turns),
                "recorded": _hex(replayed.call.digest),
                "replayed": _hex(replayed.digest),
                "error": replayed.error or None,
            }
            for replayed in done.calls
        ],
    }


def _print(done: Replay) -> None:
    earlier = describe_count(done.sent_before, "earlier call")
    print_text(f"episode {done.key.text}; sent first: {earlier}.")
    for replayed in done.calls:
        turns = ", ".join(map(str, replayed.call.turns)) or "none"
        print_text(f"{replayed.call.path} (turns: {turns})")
        print_text(f"  recorded  {_hex(replayed.call.digest) or FAILED}")
        print_text(f"  replayed  {_hex(replayed.digest) or FAILED}")
        print_text(f"  same      {'yes' if replayed.is_same else 'no'}")
        if replayed.error:
            print_text(f"  error     {replayed.error}")
    if done.is_changed:
        print_text(f"The files of nodeset {done.nodeset!r} have changed since the run.")


def _hex(digest: bytes | None) -> str | None:
    return None if digest is None else digest.hex()
