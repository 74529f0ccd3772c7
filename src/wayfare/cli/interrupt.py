"""Turn signals into a request that the run ends: finish what runs, then stop.

Knows nothing of runs.
"""

from __future__ import annotations

import asyncio
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from wayfare.fleet.in_process import AuthorInterrupt, is_author_running

DRAIN_SECONDS = {signal.SIGINT: 3.0, signal.SIGTERM: 30.0, signal.SIGUSR2: 30.0}
"""How long running episodes may take to end after the first signal; a second one ends them."""
_STDOUT, _STDERR = 1, 2


@contextmanager
def handle_signals(
    on_signal: Callable[[float], None],
    drain_seconds: float | None = None,
    *,
    is_in_process: bool = False,
) -> Iterator[None]:
    """Call `on_signal` with the seconds that are left whenever a signal asks for the end.

    `drain_seconds` goes over the defaults for every signal. Once one came, what comes after the end
    is ignored, so that the command can still say what it did. Where author code `is_in_process` and
    holds the event loop up, the second signal breaks into it, as does the end of the seconds.
    """
    seconds = {n: s if drain_seconds is None else drain_seconds for n, s in DRAIN_SECONDS.items()}
    heard: list[float] = []

    def hear(given: float) -> None:
        heard.append(given)
        on_signal(given)

    with (_breaking_in if is_in_process else _handling_in_loop)(hear, seconds):
        yield
    for number in seconds if heard else ():
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def _handling_in_loop(
    on_signal: Callable[[float], None], seconds: Mapping[signal.Signals, float]
) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in seconds}
    for number, given in seconds.items():
        loop.add_signal_handler(number, on_signal, given)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


@contextmanager
def _breaking_in(
    on_signal: Callable[[float], None], seconds: Mapping[signal.Signals, float]
) -> Iterator[None]:
    """Handle signals where the event loop can't: between two instructions of author code."""
    ear = _Ear(on_signal, seconds)
    before = {number: signal.signal(number, ear.hear) for number in seconds}
    repeating = threading.Thread(target=ear.repeat_when_over, name="signals", daemon=True)
    repeating.start()
    try:
        yield
    finally:
        ear.close()
        repeating.join()
        for number, handler in before.items():
            signal.signal(number, handler)


class _Ear:
    """Hears signals, and repeats the first one when its seconds are over."""

    def __init__(
        self, on_signal: Callable[[float], None], seconds: Mapping[signal.Signals, float]
    ) -> None:
        self._on_signal = on_signal
        self._seconds = {int(number): given for number, given in seconds.items()}
        self._loop = asyncio.get_running_loop()
        # A signal may come at any place: only this kind of queue takes something everywhere.
        self._heard: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._is_first = True

    def hear(self, number: int, frame: FrameType | None) -> None:
        """Pass a signal on; raise AuthorInterrupt in author code unless it is the first."""
        self._loop.call_soon_threadsafe(self._on_signal, self._seconds[number])
        self._heard.put(number)
        if not self._is_first and is_author_running(frame):
            raise AuthorInterrupt
        self._is_first = False

    def repeat_when_over(self) -> None:
        """Wait for a signal, and send it again when nothing else comes within its seconds."""
        number = self._heard.get()
        if number is None:
            return
        try:
            self._heard.get(timeout=self._seconds[number])
        except queue.Empty:
            signal.pthread_kill(threading.main_thread().ident or 0, number)

    def close(self) -> None:
        """Let `repeat_when_over` return."""
        self._heard.put(None)


@contextmanager
def printing_to_stderr() -> Iterator[None]:
    """Send what is printed to stdout meanwhile, by C code too, to stderr."""
    sys.stdout.flush()
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, _STDOUT)
        os.close(kept)
