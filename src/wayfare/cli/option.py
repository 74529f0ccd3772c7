"""The options of the commands. Knows nothing of what commands do with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from wayfare.evals.errors import SetupError
from wayfare.store.recording import RecordMode

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

Workers = Annotated[
    int | None,
    typer.Option(min=1, help="How many episodes run at a time (1; resumed: as before)."),
]

Episodes = Annotated[
    str | None, typer.Option(help="How many (20), which range (10:20) or which ones (3,1,4).")
]
Split = Annotated[str | None, typer.Option(help="Default: the environment's.")]
Seed = Annotated[int, typer.Option(help="Every seed of the run comes from it.")]
RunSeed = Annotated[int | None, typer.Option("--seed", help="Every seed comes from it (0).")]
Repeats = Annotated[int | None, typer.Option(min=1, help="How often each episode is run (1).")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", help="nodes.ID.KEY=V or nodesets.NAME.KEY=V; V is JSON, else text."),
]
StepBudget = Annotated[
    int | None, typer.Option(min=1, help="Turns an episode may take, over its own budget.")
]
Retries = Annotated[
    int | None, typer.Option(min=0, help="Further attempts after a fault of infrastructure (2).")
]
Record = Annotated[
    RecordMode | None,
    typer.Option(
        help="What to keep beside results: actions (the default); frames: videos too; full: what "
        "`replay` needs."
    ),
]
RecordOnly = Annotated[
    str,
    typer.Option(help="Videos or calls of failures, successes, errors or every:K episodes only."),
]
Resume = Annotated[
    str | None,
    typer.Option(help="Let this run, its id or folder, go on; the rest may be left out."),
]
Force = Annotated[
    bool, typer.Option("--force", help="Resume although graph, code or episodes have changed.")
]
RetryErrors = Annotated[
    bool, typer.Option("--retry-errors", help="Resume: run all that ended in an error again.")
]
DrainSeconds = Annotated[
    float | None, typer.Option(min=0, help="Time to finish in after a signal (3; SIGTERM 30).")
]
InProcess = Annotated[
    bool,
    typer.Option("--in-process", help="Author code in this process, for a debugger; 1 worker."),
]


def refuse_empty(group: TyperGroup, words: Sequence[str]) -> None:
    """Refuse an option or argument that is given but empty, as from an empty shell variable.

    Of a path an empty text would mean the current folder. Raises SetupError.
    """
    command, rest = _find_command(group, words)
    if command is None:
        return
    context = command.context_class(command, resilient_parsing=True)  # mistakes are told later
    values, _, _ = command.make_parser(context).parse_args(rest)
    for parameter in command.params:
        given = values.get(parameter.name)
        texts = given if isinstance(given, list | tuple) else [given]
        if any(isinstance(text, str) and not text.strip() for text in texts):
            name = parameter.opts[0]
            if isinstance(parameter, TyperArgument):
                name = parameter.metavar or (parameter.name or "").upper()
                name = name if parameter.nargs == 1 else f"one of {name}"
            remedy = "give it a value" + ("" if parameter.required else ", or leave it out")
            raise SetupError(f"{name} is empty; {remedy}.")


def _find_command(group: TyperGroup, words: Sequence[str]) -> tuple[TyperCommand | None, list[str]]:
    """Return the command that a line names, with what is said to it."""
    command: object = group
    rest = list(words)
    while isinstance(command, TyperGroup) and rest:
        command = command.commands.get(rest.pop(0))
    return (command if isinstance(command, TyperCommand) else None), rest
