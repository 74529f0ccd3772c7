"""The `wayfare` command: the only place that reads settings and chooses a launcher."""

from __future__ import annotations

import sys

__all__ = ["main"]

INTERRUPTED = 130


def main() -> None:
    """Run the command that the command line names; ends the process with its status."""
    try:
        # Here, since an interrupt while it loads, which takes a moment, shall be no traceback.
        from wayfare.cli.app import main as run_command  # noqa: PLC0415

        run_command()
    except KeyboardInterrupt:
        sys.stderr.write("wayfare: interrupted.\n")
        sys.exit(INTERRUPTED)
