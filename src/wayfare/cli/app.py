"""Put the commands together and turn mistakes in the set-up into messages without a traceback.

Knows nothing of what the commands do.
"""

from __future__ import annotations

import sys

import typer
from typer.main import get_group

from nodeset.errors import AuthorError, NodeSetError
from wayfare.cli import bake as bake_command
from wayfare.cli import call as call_command
from wayfare.cli import check as check_command
from wayfare.cli import compare as compare_command
from wayfare.cli import doctor as doctor_command
from wayfare.cli import eval as eval_command
from wayfare.cli import export as export_command
from wayfare.cli import look, new, option
from wayfare.cli import nodesets as nodesets_command
from wayfare.cli import replay as replay_command
from wayfare.cli.exit_status import ExitStatus
from wayfare.cli.fault import tell_fault
from wayfare.cli.output import OutputError, finish_output, prepare_streams
from wayfare.evals.errors import RunFailedError, SetupError
from wayfare.fleet.errors import FleetSetupError
from wayfare.graph.fault import GraphError
from wayfare.store.errors import StoreError

app = typer.Typer(
    name="wayfare",
    help="Evaluate embodied agents over episodes with N workers, which change only the time.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("eval")(eval_command.evaluate)
app.command("nodesets")(nodesets_command.nodesets)
app.command("describe")(look.describe)
app.command("call", epilog=new.make_epilog(call_command.EXAMPLES))(call_command.call)
app.add_typer(new.app, name="new")
app.command("runs")(look.runs)
app.command("show")(look.show)
app.command("export", epilog=new.make_epilog(export_command.EXAMPLES))(export_command.export)
app.command("replay")(replay_command.replay_call)
app.command("check", epilog=new.make_epilog(check_command.EXAMPLES))(check_command.check)
app.command("compare")(compare_command.compare)
app.command("bake", epilog=new.make_epilog(bake_command.EXAMPLES))(bake_command.bake)
app.command("doctor")(doctor_command.doctor)
_GROUP = get_group(app)


def main() -> None:
    """Run the command that the command line names; ends the process with its status."""
    prepare_streams()
    try:
        try:
            option.refuse_empty(_GROUP, sys.argv[1:])
            app()
        finally:
            finish_output()
    except (RunFailedError, OutputError) as error:
        sys.exit(_report(error, ExitStatus.FAILED))
    except (GraphError, SetupError, FleetSetupError, StoreError, NodeSetError) as error:
        sys.exit(_report(error, ExitStatus.SETUP))


def _report(error: Exception, status: ExitStatus) -> int:
    tell_fault(str(error), error.traceback_text if isinstance(error, AuthorError) else "")
    return int(status)
