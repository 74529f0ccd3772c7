"""Find out which call kills a shared copy: what was under way at its deaths, and how often.

Knows nothing of how calls are sent or of how a fresh copy is started.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from wayfare.fleet.errors import CopyDeath, failure_of
from wayfare.fleet.request import Request


@dataclass(slots=True)
class Suspect:
    """A call that was under way when the copy died, and at how many deaths it was."""

    request: Request
    send: Callable[[Request], None]
    """Sends it again."""
    deaths: int = 0


class Suspects:
    """The calls that were under way at deaths of one shared copy and are not answered yet.

    One that was there at more than `retries` deaths, at the last one alone, fails. In company it
    never does: how many others there are depends on the number of workers.
    """

    def __init__(self, retries: int) -> None:
        self._retries = retries
        self._known: dict[Request, Suspect] = {}
        self._accused: list[Suspect] = []
        """Those that were under way at the last death; it is yet to be counted."""
        self.death_count = 0
        """At how many deaths a call was under way."""

    def accuse(self, calls: Iterable[Request], send: Callable[[Request], None]) -> None:
        """Take calls that were under way when the copy died."""
        for request in calls:
            self._accused.append(self._known.setdefault(request, Suspect(request, send)))

    def count_death(self, death: CopyDeath | None) -> None:
        """Count the death for all that were accused since the last one."""
        self.death_count += bool(self._accused)
        is_alone = len(self._accused) == 1
        for suspect in self._accused:
            suspect.deaths += 1
            if is_alone and suspect.deaths > self._retries and death is not None:
                call = suspect.request.in_flight
                note = f"it was under way at {suspect.deaths} deaths of the shared copy. "
                fail(suspect.request, failure_of(death, call, note=note, is_spent=True))
        self._accused.clear()
        self._known = {r: suspect for r, suspect in self._known.items() if not r.done()}

    def sort(self) -> list[Suspect]:
        """Return them, those first that saw fewest deaths."""
        return sorted(self._known.values(), key=lambda suspect: suspect.deaths)

    def fail(self, error: Exception) -> None:
        """Give up all of them."""
        for request in self._known:
            fail(request, error)

    def clear(self) -> None:
        """Acquit all of them."""
        self._known.clear()


def fail(request: Request, error: Exception) -> None:
    """Answer a request with an error, unless it is answered."""
    if not request.done():
        request.set_exception(error)
