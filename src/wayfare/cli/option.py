"""The options that several commands share. Knows nothing of what commands do with them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout; logs go to stderr.")
]
Workspace = Annotated[
    list[Path] | None,
    typer.Option(
        "--workspace",
        help="A folder with nodesets/ and graphs/; repeatable, added to WAYFARE_WORKSPACE.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="The folder that holds runs (default: WAYFARE_RUNS, else ./runs)."),
]
