"""`wayfare compare`: put two runs of the same episodes side by side.

Knows nothing of how they are compared.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from wayfare.cli import option
from wayfare.cli.comparison_view import render_comparison
from wayfare.cli.exit_status import ExitStatus
from wayfare.cli.output import print_json, print_table
from wayfare.cli.settings import Settings
from wayfare.evals.comparison import compare_runs, comparison_document
from wayfare.store.run import RunReader


def compare(
    run_a: Annotated[str, typer.Argument(metavar="RUN", help="A run's id or folder.")],
    run_b: Annotated[str, typer.Argument(metavar="RUN", help="Another run's id or folder.")],
    *,
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Compare runs of different episodes or metrics too."),
    ] = False,
    out: option.Out = None,
    as_json: option.Json = False,
) -> None:
    """Compare two runs: agents, the first firing that differs, each metric's paired difference."""
    root = out or Settings.read(os.environ).runs
    a, b = RunReader.open(run_a, root), RunReader.open(run_b, root)
    comparison = compare_runs(a, b, anyway=anyway)
    if as_json:
        print_json(comparison_document(comparison))
    else:
        print_table(render_comparison(comparison))
    raise typer.Exit(ExitStatus.DONE if comparison.equal else ExitStatus.DIFFERENT)
