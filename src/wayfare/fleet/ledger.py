"""Keep count of what copies say of their batched tools, and of those that never said it.

Knows nothing of how copies are started, replaced or shut down.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from wayfare.fleet.member import Queues, RunningCopy


class Ledger:
    """What the copies in each place said before they went, and how many went without a word."""

    def __init__(self) -> None:
        self._unheard = Counter[str]()
        """By tag, how many went before they had said what they had served."""
        self._is_heard: set[str] = set()
        """The tags of those that have said it and only wait for a fresh one."""

    async def hear(self, running: RunningCopy, seconds: float) -> None:
        """Ask one that is about to be recycled."""
        said = (await _ask([running], seconds))[running.tag]
        if said is not None:
            running.said.append(said)
            self._is_heard.add(running.tag)

    def note_gone(self, tag: str) -> None:
        """Take note that a fresh one stands in the place of another."""
        if tag in self._is_heard:
            self._is_heard.discard(tag)
        else:
            self._unheard[tag] += 1

    async def fetch(
        self, copies: Sequence[RunningCopy], seconds: float
    ) -> dict[str, list[Queues | None]]:
        """Return what was said in each place, None for each that said nothing or can't now."""
        said = await _ask(copies, seconds)
        return {
            copy.tag: [
                *copy.said,
                *([None] * self._unheard[copy.tag]),
                *([] if copy.tag in self._is_heard else [said[copy.tag]]),
            ]
            for copy in copies
        }


def has_batches(manifest: Mapping[str, Any]) -> bool:
    """Return whether any of a nodeset's tools is batched."""
    return any(tool["batched"] for tool in manifest["tools"])


async def _ask(copies: Sequence[RunningCopy], seconds: float) -> dict[str, Queues | None]:
    """Return what each copy says of its batched tools, by tag; None of one that does not answer."""
    answers = await asyncio.gather(
        *(running.control.request("health", budget_seconds=seconds) for running in copies),
        return_exceptions=True,
    )
    return {
        running.tag: answer["queues"] if isinstance(answer, dict) else None
        for running, answer in zip(copies, answers, strict=True)
    }
