"""The `wayfare` command: the only place that reads settings and chooses a launcher."""

# The built-in half of `signal`, whose other half loads so long that an interrupt may come first.
import _signal  # type: ignore[import-not-found]
import os
import sys

__all__ = ["main"]

SIGNALLED = 128
"""The exit status of what a signal ended is this plus the signal's number, as shells have it."""
INTERRUPTED = SIGNALLED + _signal.SIGINT
_MESSAGE = "wayfare: interrupted.\n"
_UNTOUCHED = {
    _signal.SIGINT: _signal.default_int_handler,
    _signal.SIGTERM: _signal.SIG_DFL,
    _signal.SIGUSR2: _signal.SIG_DFL,
}
"""What asks for the end, with its handler unless whoever started the process wants it deaf."""


def main() -> None:
    """Run the command that the command line names; ends the process with its status."""
    heard: list[int] = []

    def pass_on(number: int, frame: object) -> None:
        """Do as at an interrupt: what hears of those ends things in order."""
        heard.append(number)
        interrupt = _signal.getsignal(_signal.SIGINT)
        if not callable(interrupt):
            raise KeyboardInterrupt
        interrupt(number, frame)

    numbers = [n for n, handler in _UNTOUCHED.items() if _signal.getsignal(n) == handler]
    for number in numbers:
        _signal.signal(number, _leave)
    try:
        # Here, since loading it takes a moment, in which an interrupt shall be no traceback.
        from wayfare.cli.app import main as run_command  # noqa: PLC0415

        for number in numbers:
            is_interrupt = number == _signal.SIGINT
            _signal.signal(number, _signal.default_int_handler if is_interrupt else pass_on)
        run_command()
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != INTERRUPTED:
            raise
        sys.stderr.write(_MESSAGE)
        sys.exit(SIGNALLED + heard[0] if heard else INTERRUPTED)
    finally:
        for number in numbers:
            _signal.signal(number, _signal.SIG_IGN)  # all is said


def _leave(number: int, _frame: object) -> None:
    """End at once: while the command loads there is nothing yet to end in order."""
    os.write(2, _MESSAGE.encode())
    os._exit(SIGNALLED + number)
