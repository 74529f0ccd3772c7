"""`wayfare eval`: run an evaluation, show it while it runs, sum it up.

Knows nothing of how episodes run.
"""

from __future__ import annotations

import os
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, Any

import typer

from wayfare.cli import option
from wayfare.cli.exit_status import ExitStatus, status_of
from wayfare.cli.interrupt import handle_signals, printing_to_stderr
from wayfare.cli.live import open_view
from wayfare.cli.output import open_errors, print_json, print_table
from wayfare.cli.render import describe_recording, render_summary
from wayfare.cli.settings import Settings
from wayfare.evals.errors import RunInterruptedError
from wayfare.evals.library import run_with_options
from wayfare.evals.options import EvalOptions, LastingOptions, ResumeRequest
from wayfare.evals.report import eval_document
from wayfare.evals.run import Run
from wayfare.evals.surroundings import Surroundings
from wayfare.fleet import event_loop
from wayfare.store.summary import RunSummary


def evaluate(
    graph: Annotated[
        str | None, typer.Argument(help="A graph's name in a workspace, or a JSON file.")
    ] = None,
    *,
    workers: option.Workers = None,
    episodes: option.Episodes = None,
    split: option.Split = None,
    seed: option.RunSeed = None,
    repeats: option.Repeats = None,
    set_: option.Overrides = None,
    step_budget: option.StepBudget = None,
    retries: option.Retries = None,
    record: option.Record = None,
    record_only: option.RecordOnly = "",
    resume: option.Resume = None,
    force: option.Force = False,
    retry_errors: option.RetryErrors = False,
    drain_seconds: option.DrainSeconds = None,
    in_process: option.InProcess = False,
    out: option.Out = None,
    workspace: option.Workspace = None,
    as_json: option.Json = False,
) -> None:
    """Run GRAPH over episodes with N workers, or let a run go on with --resume."""
    settings, count = Settings.read(os.environ, workspace or ()), 1 if in_process else workers
    lasting = LastingOptions(episodes or "", split, seed, repeats, record, record_only)
    options = EvalOptions(count, step_budget, retries, tuple(set_ or ()), lasting)
    how = ResumeRequest(resume, force, retry_errors, out=out)
    folders, runs = settings.workspaces, out or settings.runs
    with _surround(settings, in_process=in_process, workers=workers) as around:
        run = run_with_options(
            graph, options, how, workspaces=folders, out=runs, surroundings=around
        )
        summary = event_loop.run(_interruptible(run, around, drain_seconds))
    raise typer.Exit(_finish(summary, as_json))


@contextmanager
def _surround(
    settings: Settings, *, in_process: bool, workers: int | None
) -> Iterator[Surroundings]:
    """Give what the run takes from here; the view of it is open meanwhile.

    What author code in this process prints goes to stderr, so that stdout is the command's.
    """
    if in_process and (workers or 1) > 1:
        raise typer.BadParameter("--in-process runs one worker", param_hint="--workers")
    printing = printing_to_stderr() if in_process else nullcontext()
    with open_view(open_errors(is_folding=True)) as view, printing:
        yield Surroundings(
            environment=settings.environment,
            in_process=in_process,
            observer=view,
            notify=view.notice,
        )


async def _interruptible(
    run: Coroutine[Any, Any, Run], around: Surroundings, drain_seconds: float | None
) -> RunSummary | None:
    """Return the run's summary; None if a signal ended it before it began."""
    with handle_signals(around.drain.ask, drain_seconds, is_in_process=around.in_process):
        try:
            return (await run).summary
        except RunInterruptedError:
            return None


def _finish(summary: RunSummary | None, as_json: bool) -> ExitStatus:
    if summary is None:
        open_errors().print("interrupted before the first episode began; nothing was kept.")
        return ExitStatus.INCOMPLETE
    if as_json:
        if summary.recording.failed:
            open_errors().print(describe_recording(summary.recording))
        print_json(eval_document(summary))
    else:
        print_table(render_summary(summary))
    return status_of(summary)
