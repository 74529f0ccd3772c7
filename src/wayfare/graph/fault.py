"""Say what is wrong with a graph document: every fault with its place, rule and remedy.

Knows nothing of how faults are found.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

NO_VALUE = object()
CLOSE_MATCH_CUTOFF = 0.6


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: `kind` is for programs, the rest for the person who mends it."""

    kind: str
    place: str
    rule: str
    remedy: str
    value: object = NO_VALUE
    missing_nodeset: str = ""
    """The nodeset that would have to be there for this not to be wrong."""

    def __str__(self) -> str:
        got = "" if self.value is NO_VALUE else f" (got {shorten(self.value)})"
        return f"{self.place}: {self.rule.rstrip('.')}{got}. {self.remedy}".rstrip()


class GraphError(Exception):
    """A graph document that cannot run; `faults` holds all that is wrong with it."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        count = len(self.faults)
        head = "the graph has 1 fault" if count == 1 else f"the graph has {count} faults"
        return "\n".join([head + ":", *(f"  {fault}" for fault in self.faults)])


def suggest(name: str, known: Iterable[str]) -> str:
    """Return a remedy: the closest known name if one is close, else the list of what there is."""
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=1, cutoff=CLOSE_MATCH_CUTOFF)
    if close:
        return f"Did you mean {close[0]!r}?"
    if not names:
        return "There is none to choose from."
    return f"There is: {', '.join(names[:20])}{', …' if len(names) > 20 else ''}."


def shorten(value: object) -> str:
    """Return a value as it is written in Python, cut where it gets too long for a sentence."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
