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

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment, Segments
from rich.style import StyleType
from rich.text import Text as RichText

from nodeset.text import printable

UNBOUNDED_WIDTH = 100_000
"""Columns of what is no terminal: nothing folds a line there."""
_PLAIN = "wayfare.plain"
_ASCII = {"·": "-", "…": "...", "→": "->"}


class OutputError(Exception):
    """Standard output refused what a command had to say."""


class Text(RichText):
    """A text to be laid out, in which signs that would steer the terminal are escapes.

    They are so before anything is measured.
    """

    def __init__(self, text: str = "", style: StyleType = "", **options: Any) -> None:
        super().__init__(printable(text), style, **options)


class _Console(Console):
    """Shows signs that would steer the terminal as escapes, whoever's text they stand in.

    What it sends itself, such as colours, is no text.
    """

    def render_str(self, text: str, **options: Any) -> RichText:
        return super().render_str(printable(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            shown = segment.text if segment.control else printable(segment.text)
            yield segment if shown == segment.text else Segment(shown, segment.style)


def open_errors(*, is_folding: bool = False) -> Console:
    """Return the console of standard error: no markup, lines whole unless it `is_folding`."""
    return _Console(stderr=True, highlight=False, markup=False, soft_wrap=not is_folding)


def prepare_streams() -> None:
    """Let standard streams write in ASCII what their encoding does not have."""
    codecs.register_error(_PLAIN, _write_plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_PLAIN)


def print_text(text: str) -> None:
    """Print a text; what would steer a terminal stands in it as escapes. Raises OutputError."""
    with _writing():
        print(printable(text))


def print_data(text: str) -> None:
    """Print a text that is to be read by a program: as it is, but on a terminal as `print_text`.

    Raises OutputError.
    """
    with _writing():
        print(printable(text) if _is_terminal() else text)


def tell_progress(text: str) -> None:
    """Tell on standard error what is done meanwhile."""
    print(printable(text), file=sys.stderr, flush=True)


def print_json(document: object, default: Callable[[Any], Any] | None = None) -> None:
    """Print one JSON document. Raises OutputError."""
    print_text(json.dumps(document, indent=2, allow_nan=False, default=default))


def print_table(*renderables: RenderableType) -> None:
    """Print tables and lines, without spaces at their ends. Raises OutputError."""
    console = _Console() if _is_terminal() else _Console(width=UNBOUNDED_WIDTH)
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


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


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
