"""Turn signals into a request that the run ends: finish what runs, then stop.

Knows nothing of runs.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

DRAIN_SECONDS = {signal.SIGINT: 3.0, signal.SIGTERM: 30.0, signal.SIGUSR2: 30.0}
"""How long running episodes may take to end after the first signal; a second one ends them."""


@contextmanager
def handle_signals(
    on_signal: Callable[[float], None], drain_seconds: float | None = None
) -> Iterator[None]:
    """Call `on_signal` with the seconds that are left whenever a signal asks for the end.

    `drain_seconds` goes over the defaults for every signal.
    """
    loop = asyncio.get_running_loop()
    for number, seconds in DRAIN_SECONDS.items():
        given = seconds if drain_seconds is None else drain_seconds
        loop.add_signal_handler(number, on_signal, given)
    try:
        yield
    finally:
        for number in DRAIN_SECONDS:
            loop.remove_signal_handler(number)
