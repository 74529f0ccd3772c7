"""Keep one attempt within its time, and within itself.

Knows nothing of what an attempt does or of who tries again.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from wayfare.fleet.errors import EpisodeOverdueError, StrayCancellationError


@asynccontextmanager
async def limited(seconds: float) -> AsyncIterator[None]:
    """Bound what is done inside; what ends there ends this attempt and not its worker.

    Raises EpisodeOverdueError when the time is over, and StrayCancellationError when something that
    is awaited inside was cancelled without the task being asked to end.
    """
    timeout = asyncio.timeout(seconds if math.isfinite(seconds) else None)
    try:
        async with timeout:
            yield
    except TimeoutError as error:
        if not timeout.expired():
            raise
        raise EpisodeOverdueError(
            f"the attempt did not come to its end within {seconds:g} s, the environment's budget "
            f"'episode'; its Deployment(budgets={{'episode': …}}) says how long one may take."
        ) from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise StrayCancellationError("what the attempt waited for was cancelled") from error
