"""Put finished episodes on disk off the event loop, all that wait at a time in one go.

Knows nothing of how episodes run or of what is written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from wayfare.store.records import EpisodeRecord, Firing
from wayfare.store.writer import RunWriter


class Committer:
    """One commit is under way at a time; who comes meanwhile shares the next one.

    So many short episodes cost one hand-over to a thread and one wait for the disk.
    """

    def __init__(self, writer: RunWriter) -> None:
        self._writer = writer
        self._committing: asyncio.Future[None] | None = None

    async def commit(self, record: EpisodeRecord, firings: Sequence[Firing]) -> None:
        """Return when the disk has the episode. Raises what `RunWriter.append` does."""
        written = self._writer.submit(record, firings)
        while not written.done():
            committing = self._committing
            if committing is None or committing.done():
                committing = asyncio.ensure_future(asyncio.to_thread(self._writer.commit))
                self._committing = committing
            await asyncio.wait([committing])
            if error := committing.exception():
                raise error
        written.result()
