"""Tell on standard error what went wrong, with the author's traceback where there is one.

Knows nothing of what it means for the command.
"""

from __future__ import annotations

import os

from nodeset.text import tidy
from wayfare.cli.output import open_errors
from wayfare.store.secret import Secrets

PRINTED_TEXT = 8192
"""Characters of one message or traceback that are printed."""


def tell_fault(message: str, traceback_text: str = "") -> None:
    """Print the traceback, then the message; secrets of the environment stand in neither."""
    secrets, console = Secrets.from_environment(os.environ), open_errors()
    if traceback_text:
        console.print(secrets.mask(tidy(traceback_text.rstrip(), PRINTED_TEXT)))
    console.print(secrets.mask(f"wayfare: {tidy(message, PRINTED_TEXT)}"))
