"""The `wayfare` command: the only place that reads settings and chooses a launcher."""

# The built-in half of `signal`, whose other half loads so long that an interrupt may come first.
import _signal  # type: ignore[import-not-found]
import os
import sys

__all__ = ["main"]

INTERRUPTED = 130
_MESSAGE = "wayfare: interrupted.\n"


def main() -> None:
    """Run the command that the command line names; ends the process with its status."""
    is_heard = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
    if is_heard:  # else whoever started the process wants it to be deaf
        _signal.signal(_signal.SIGINT, _leave)
    try:
        # Here, since loading it takes a moment, in which an interrupt shall be no traceback.
        from wayfare.cli.app import main as run_command  # noqa: PLC0415

        if is_heard:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        run_command()
    except KeyboardInterrupt:
        sys.stderr.write(_MESSAGE)
        sys.exit(INTERRUPTED)
    finally:
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # all is said


def _leave(_number: int, _frame: object) -> None:
    """End at once: while the command loads there is nothing yet to end in order."""
    os.write(2, _MESSAGE.encode())
    os._exit(INTERRUPTED)
