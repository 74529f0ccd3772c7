"""`wayfare export`: a run as a table for other tools, or as a leaderboard's file.

Knows nothing of how either is made.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from wayfare.cli.exit_status import ExitStatus
from wayfare.cli.output import open_errors, print_data
from wayfare.cli.settings import Settings
from wayfare.evals.coverage import certify_run
from wayfare.evals.export import Labels, TableFormat, export_csv, export_json, export_parquet
from wayfare.evals.submission import ExportError, make_submission
from wayfare.evals.table import MissingExtraError
from wayfare.store.labels import find_labels
from wayfare.store.run import RunReader

Target = Literal["json", "csv", "parquet", "submission"]
EXAMPLES = (
    "wayfare export RUN --to csv --out episodes.csv",
    "wayfare export RUN --to submission --out submission.json",
)


def export(
    run: Annotated[str, typer.Argument(help="A run's id or folder.")],
    *,
    to: Annotated[Target, typer.Option(help="A table of episodes, or a leaderboard's file.")],
    out: Annotated[
        Path | None, typer.Option(help="The file to write (default: standard output).")
    ] = None,
    repeat: Annotated[
        int | None, typer.Option(help="Which of several repeats is submitted, from 0.")
    ] = None,
) -> None:
    """Write a run's episodes as JSON, CSV or Parquet, or as its leaderboard's submission."""
    if repeat is not None and to != "submission":
        raise ExportError("--repeat chooses what is submitted; a table has all repeats.")
    reader = RunReader.open(run, Settings.read(os.environ).runs)
    content, problem = _make(reader, to, repeat)
    _mention_coverage(reader)
    if problem:
        _mention(f"{problem} The table has no columns of the episodes' info.")
    if out is not None:
        _write(out, content)
    elif isinstance(content, str):
        print_data(content.removesuffix("\n"))
    else:
        raise ExportError("a Parquet file is not for standard output; name a file with --out.")
    if problem:
        raise typer.Exit(ExitStatus.FAILED)


def _make(reader: RunReader, to: Target, repeat: int | None) -> tuple[str | bytes, str]:
    """Return what is to be written, and what is wrong with the labels that a table lacks then."""
    if to == "submission":
        submission = make_submission(reader, repeat=repeat)
        for note in submission.notes:
            _mention(note)
        return submission.text, ""
    labels, problem = find_labels(reader.folder, len(reader.header.episodes))
    return _make_table(reader, to, labels), problem


def _make_table(reader: RunReader, to: TableFormat, labels: Labels) -> str | bytes:
    match to:
        case "json":
            return export_json(reader, labels)
        case "csv":
            return export_csv(reader, labels)
    try:
        return export_parquet(reader, labels)
    except MissingExtraError as error:
        raise ExportError(f"--to parquet: {error}") from error


def _write(out: Path, content: str | bytes) -> None:
    data = content.encode() if isinstance(content, str) else content
    try:
        out.write_bytes(data)
    except OSError as error:
        raise ExportError(f"--out {str(out)!r} can't be written: {error.strerror}.") from error


def _mention_coverage(reader: RunReader) -> None:
    coverage = certify_run(reader, reader.summary())
    if not coverage.certified:
        lack = f"{coverage.missing} of {coverage.episodes} episodes are missing"
        reasons = [*([lack] if coverage.missing else []), *coverage.problems]
        _mention(f"the run is not certified: {'; '.join(reasons)}.")


def _mention(note: str) -> None:
    open_errors().print(f"wayfare: {note}")
