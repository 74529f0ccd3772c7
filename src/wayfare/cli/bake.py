"""`wayfare bake`: render what a simulator shows from many poses into a store.

Knows nothing of how rows are rendered.
"""

from __future__ import annotations

import os
import time
from collections.abc import Coroutine, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from wayfare.cli import option
from wayfare.cli.call import read_configs
from wayfare.cli.exit_status import ExitStatus
from wayfare.cli.interrupt import handle_signals
from wayfare.cli.output import open_errors, print_json, print_table
from wayfare.cli.settings import Settings
from wayfare.cli.value import parse_setting
from wayfare.evals.bake import Bake
from wayfare.evals.bake_library import bake_as_requested
from wayfare.evals.bake_request import DEFAULT_RETRIES, DEFAULT_VERIFIED, BakeRequest, By
from wayfare.evals.errors import RunInterruptedError, SetupError
from wayfare.evals.surroundings import Surroundings
from wayfare.fleet import event_loop

EXAMPLES = (
    "wayfare bake env_miniworld --out hallway --episodes 20 --workers 4",
    "wayfare bake env_miniworld --out fine --node-config spacing_m=0.25 --node-config headings=8",
    "wayfare bake env_miniworld --out chosen --episodes 1 --poses poses.npy --outputs rgb",
)
SECONDS_PER_LINE = 5.0
_STATUS = {
    "done": ExitStatus.DONE,
    "different": ExitStatus.CHECK_FAILED,
    "incomplete": ExitStatus.INCOMPLETE,
}

NodeSet = Annotated[str, typer.Argument(metavar="NODESET", help="A replicated nodeset.")]
Store = Annotated[Path, typer.Option(help="The store's folder; one that was begun goes on.")]
Tool = Annotated[
    str, typer.Option(help="The tool that renders; default: the only one that sees from a pose.")
]
PoseSource = Annotated[
    str,
    typer.Option(
        metavar="FILE|TOOL",
        help="A .npy file (N, 7), an .npz file with one such array per scene_id, or the tool that "
        "lists a scene's poses; default: the only one that does.",
    ),
]
Outputs = Annotated[str, typer.Option(help="The outputs to keep, with commas; default: all.")]
Rows = Annotated[
    By,
    typer.Option(
        "--by", help="Whether every episode has rows of its own, or all of a scene share them."
    ),
]
Configuration = Annotated[
    list[str] | None,
    typer.Option("--set", help="NODESET.KEY=V: its configuration; V is JSON, else text."),
]
NodeConfiguration = Annotated[
    list[str] | None,
    typer.Option("--node-config", help="KEY=V: configuration of the tools that know KEY."),
]
Workers = Annotated[int, typer.Option(min=1, help="How many copies render at a time.")]
Retries = Annotated[int, typer.Option(min=0, help="Further tries after a copy's death.")]
Verify = Annotated[
    int, typer.Option(min=0, help="How many rows a fresh copy renders again, to compare bits.")
]


def bake(
    nodeset: NodeSet,
    *,
    out: Store,
    tool: Tool = "",
    poses: PoseSource = "",
    outputs: Outputs = "",
    by: Rows = "episode",
    split: option.Split = None,
    episodes: option.Episodes = None,
    set_: Configuration = None,
    node_config: NodeConfiguration = None,
    workers: Workers = 1,
    retries: Retries = DEFAULT_RETRIES,
    verify: Verify = DEFAULT_VERIFIED,
    drain_seconds: option.DrainSeconds = None,
    workspace: option.Workspace = None,
    as_json: option.Json = False,
) -> None:
    """Render what NODESET shows from many poses into a store, for env_pose_lookup to serve."""
    settings = Settings.read(os.environ, workspace or ())
    request = BakeRequest(
        nodeset=nodeset,
        out=out,
        tool=tool,
        poses=poses,
        outputs=tuple(name.strip() for name in outputs.split(",") if name.strip()),
        by=by,
        split=split,
        selection=episodes or "",
        config=_read_config(nodeset, set_ or ()),
        node_config=dict(parse_setting(text, "--node-config") for text in node_config or ()),
        worker_count=workers,
        retries=retries,
        verified=verify,
    )
    raise typer.Exit(_finish(_run(request, settings, drain_seconds), as_json))


def _run(request: BakeRequest, settings: Settings, drain_seconds: float | None) -> Bake | None:
    """Return what came of it; None if a signal ended it before its first row."""
    lines = _Lines()
    around = Surroundings(environment=settings.environment, notify=lines.say, progress=lines.tell)
    run = bake_as_requested(request, settings.workspaces, around)
    return event_loop.run(_interruptible(run, around, drain_seconds))


class _Lines:
    """Says how far it is, at most once in SECONDS_PER_LINE."""

    def __init__(self) -> None:
        self._console = open_errors()
        self._due_seconds = 0.0

    def say(self, text: str) -> None:
        self._console.print(text)

    def tell(self, finished: int, total: int) -> None:
        if time.monotonic() >= self._due_seconds or finished == total:
            self._due_seconds = time.monotonic() + SECONDS_PER_LINE
            self.say(f"{finished} of {total} rows")


def _read_config(nodeset: str, texts: Sequence[str]) -> dict[str, Any]:
    configs = read_configs(texts)
    for name in configs:
        if name != nodeset:
            raise SetupError(f"--set {name}.…: only the configuration of {nodeset!r} is used here.")
    return configs.get(nodeset, {})


async def _interruptible(
    run: Coroutine[Any, Any, Bake], around: Surroundings, drain_seconds: float | None
) -> Bake | None:
    with handle_signals(around.drain.ask, drain_seconds):
        try:
            return await run
        except RunInterruptedError:
            return None


def _finish(done: Bake | None, as_json: bool) -> ExitStatus:
    if done is None:
        open_errors().print("interrupted; the same command goes on.")
        return ExitStatus.INCOMPLETE
    if as_json:
        print_json(bake_document(done))
    else:
        print_table(_render(done), *_sentences(done))
    return _STATUS[done.status]


def bake_document(done: Bake) -> dict[str, Any]:
    """Return what `--json` prints."""
    header = done.header
    verification = header.verification
    return {
        "out": str(done.folder),
        "status": done.status,
        "nodeset": header.nodeset,
        "tool": header.request["tool"],
        "split": header.split,
        "episodes": len(header.episodes),
        "scenes": len(header.scenes),
        "rows": header.rows,
        "bytes": header.bytes,
        "rendered": done.rendered,
        "kept": done.kept,
        "worker_count": done.request.worker_count,
        "elapsed_s": done.elapsed_seconds,
        "outputs": {o.name: {"dtype": o.dtype, "shape": o.shape} for o in header.outputs},
        "verification": verification and asdict(verification),
        "is_verdict_earlier": done.is_verdict_earlier,
    }


def _render(done: Bake) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("output", "row", "dtype"):
        table.add_column(name)
    for output in done.header.outputs:
        table.add_row(output.name, str(output.shape), output.dtype)
    return table


def _sentences(done: Bake) -> list[str]:
    header, verification = done.header, done.header.verification
    rows = f"{header.rows} rows in {len(header.scenes)} scenes, {header.bytes / 2**20:.1f} MiB"
    kept = f", {done.kept} of them kept" if done.kept else ""
    took = f"{done.rendered} rendered in {done.elapsed_seconds:.1f} s"
    said = [f"\n{done.folder}: {rows}{kept}; {took}"]
    if done.kept == header.rows:
        said = [f"\n{done.folder}: {rows}; already finished; nothing rendered."]
        said.append("By their digests all rows are what was written.")
    if done.is_verdict_earlier:
        said.append("What an earlier call found:")
    if done.status == "incomplete":
        said.append("It is incomplete: the same command goes on.")
    elif verification is None:
        said.append("No row was rendered again to compare.")
    elif verification.different:
        count, first = len(verification.different), verification.different[0]
        said.append(
            f"{count} of {verification.rows} rows differ from what a fresh copy renders, row "
            f"{first} first: what {header.nodeset} shows does not follow from the pose alone."
        )
    else:
        said.append(f"{verification.rows} rows rendered again by a fresh copy are the same bits.")
    return said
