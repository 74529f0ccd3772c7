"""Match the digests that a copy hands over later with the calls they belong to.

Knows nothing of how digests are made or carried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from wayfare.fleet.errors import CopyFailedError

Firing = tuple[str, tuple[int, ...], bytes]
"""Node path, turns and digest of one call."""
Digest = Callable[[str, Mapping[str, Any], tuple[str, tuple[int, ...]]], bytes]
"""Makes the digest of a firing: of a tool's outputs, at a node's path and turns."""


class DigestCollector:
    """The calls of one episode on one link, and the digests that came for them."""

    def __init__(self) -> None:
        self._expected: dict[int, tuple[str, tuple[int, ...]]] = {}
        self._firings: list[Firing] = []
        self._held: dict[int, tuple[str, Mapping[str, Any]]] = {}

    def reset(self) -> None:
        """Drop everything: digests of earlier calls that still come are ignored."""
        self._expected.clear()
        self._firings.clear()
        self._held.clear()

    def expect(self, call_id: int, path: str, turns: tuple[int, ...]) -> None:
        """Note a call that was sent."""
        self._expected[call_id] = (path, turns)

    def forget(self, call_id: int) -> None:
        """Note that a call failed or was given up, so that no digest is due."""
        self._expected.pop(call_id, None)

    def add(self, digests: Iterable[Sequence[Any]]) -> None:
        """Take `[call id, digest]` pairs as they ride on replies."""
        for call_id, digest in digests:
            self._held.pop(call_id, None)
            call = self._expected.pop(call_id, None)
            if call is not None:
                self._firings.append((*call, bytes(digest)))

    def hold(self, call_id: int, tool: str, outputs: Mapping[str, Any]) -> None:
        """Keep what a call came to until its digest is there, in case the copy ends before."""
        self._held[call_id] = (tool, outputs)

    def settle(self, digest: Digest) -> None:
        """Make the digests that the copy owes for what it answered; it has ended."""
        for call_id, (tool, outputs) in self._held.items():
            call = self._expected.pop(call_id, None)
            if call is not None:
                self._firings.append((*call, digest(tool, outputs, call)))
        self._held.clear()

    def take(self, copy: str) -> list[Firing]:
        """Return the firings and begin anew.

        Raises CopyFailedError when a call that succeeded has no digest: the episode can't be
        proven to be what it was.
        """
        if self._expected:
            path, turns = next(iter(self._expected.values()))
            raise CopyFailedError(
                f"copy {copy!r} closed the episode without the digests of "
                f"{len(self._expected)} calls; the first is node {path!r} at turns {turns!r}."
            )
        firings, self._firings = self._firings, []
        return firings
