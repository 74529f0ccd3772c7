"""Make of a coroutine function one that waits for its result, for programs without an event loop.

Knows nothing of what the coroutines do.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

from wayfare.fleet import event_loop

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def make_blocking(
    function: Callable[_Parameters, Coroutine[Any, Any, _Result]], name: str
) -> Callable[_Parameters, _Result]:
    """Return the function, under another name, for where no event loop runs."""

    @functools.wraps(function)
    def run(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        if _is_loop_running():
            raise RuntimeError(
                f"{name} can't wait where an event loop runs, as in a notebook; "
                f"there, use `await {name}_async(…)`."
            )
        return event_loop.run(function(*args, **kwargs))

    run.__name__ = run.__qualname__ = name
    return run


def _is_loop_running() -> bool:
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        return True
    return False
