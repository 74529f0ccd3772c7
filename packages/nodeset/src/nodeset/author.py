"""Call the author's code, and say what it raised in the author's own terms.

Knows nothing of requests or of when the code is due.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Optional

from nodeset.errors import AuthorError, NodeSetError

_FRAMEWORK_FOLDERS = tuple(
    str(Path(file).parent) + "/"
    for file in (__file__, asyncio.__file__, concurrent.futures.__file__)
)


def author_error(error: BaseException, where: str) -> NodeSetError:
    """Return what author code at `where` raised; its traceback begins with the author's frames."""
    return AuthorError.wrap(error, where, skip_frames=_count_own_frames(error.__traceback__))


def _count_own_frames(trace: Optional[TracebackType]) -> int:
    count = 0
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_FRAMEWORK_FOLDERS):
        trace, count = trace.tb_next, count + 1
    return count


def call_author(
    function: Callable[..., Any], *args: Any, where: str, wait: Callable[[Any], Any]
) -> Any:
    """Return what `function` returns; `wait` gives the result of an awaitable.

    Raises AuthorError with the author's traceback.
    """
    try:
        result = function(*args)
        is_ready = type(result) is dict or not inspect.isawaitable(result)
        return result if is_ready else wait(result)
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        raise author_error(error, where) from error
