"""Write what a command prints, to a terminal, a file or a pipe.

Knows nothing of what it says.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.segment import Segment, Segments

UNBOUNDED_WIDTH = 100_000
"""Columns of what is no terminal: nothing folds a line there."""
PRINTED_TEXT = 8192
"""Characters of one message or traceback that are printed."""
_PLAIN = "wayfare.plain"
_ASCII = {"·": "-", "…": "...", "→": "->"}


class OutputError(Exception):
    """Standard output refused what a command had to say."""


def prepare_streams() -> None:
    """Let standard streams write in ASCII what their encoding does not have."""
    codecs.register_error(_PLAIN, _write_plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_PLAIN)


def print_text(text: str) -> None:
    """Print a text as it is. Raises OutputError."""
    with _writing():
        print(text)


def tell_progress(text: str) -> None:
    """Tell on standard error what is done meanwhile."""
    print(text, file=sys.stderr, flush=True)


def print_json(document: object, default: Callable[[Any], Any] | None = None) -> None:
    """Print one JSON document. Raises OutputError."""
    print_text(json.dumps(document, indent=2, allow_nan=False, default=default))


def print_table(*renderables: RenderableType) -> None:
    """Print tables and lines, without spaces at their ends. Raises OutputError."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    console = Console() if is_terminal else Console(width=UNBOUNDED_WIDTH)
    segments: list[Segment] = []
    for renderable in renderables:
        for line in Segment.split_lines(console.render(renderable)):
            segments += [*_strip_end(line), Segment.line()]
    with _writing():
        console.print(Segments(segments), end="", crop=False)


def finish_output() -> None:
    """Write what is still held back. Raises OutputError."""
    with _writing():
        pass


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    """Turn a refusal into OutputError; a reader that has gone wants no more and is no error."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
    except OSError as error:
        _discard_output()
        reason = error.strerror or str(error)
        raise OutputError(
            f"standard output can't be written: {reason}. A run itself is kept: `wayfare runs` "
            f"lists it."
        ) from error


def _discard_output() -> None:
    """Lead standard output nowhere, so that what it still holds is no second error at the end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _strip_end(line: Sequence[Segment]) -> list[Segment]:
    kept = list(line)
    while kept and not kept[-1].text.strip():
        kept.pop()
    if kept:
        kept[-1] = Segment(kept[-1].text.rstrip(), kept[-1].style)
    return kept


def _write_plainly(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    escaped = (sign.encode("ascii", "backslashreplace").decode("ascii") for sign in lost)
    return "".join(
        _ASCII.get(sign, text) for sign, text in zip(lost, escaped, strict=True)
    ), error.end
