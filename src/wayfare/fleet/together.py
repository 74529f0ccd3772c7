"""Do several things at the same time and fail as one.

Knows nothing of what is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

_Result = TypeVar("_Result")


async def together(work: Iterable[Coroutine[Any, Any, _Result]]) -> list[_Result]:
    """Return all results in order.

    The first error is raised as it is, once everything still under way was cancelled and has ended.
    """
    tasks = [asyncio.create_task(coroutine) for coroutine in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
