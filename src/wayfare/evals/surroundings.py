"""Say what a run takes from where it is started, with defaults for a program that just runs one.

Knows nothing of graphs or episodes.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from wayfare.evals.drain import Drain
from wayfare.evals.observer import Observer
from wayfare.fleet.in_process import InProcessLauncher
from wayfare.fleet.launcher import Launcher
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.store.records import EpisodeKey, EpisodeRecord, ErrorRecord, RunHeader
from wayfare.store.room import Room
from wayfare.store.secret import Secrets


class Silence:
    """An observer that says nothing."""

    def run_started(
        self, header: RunHeader, metrics: Sequence[str], kept: Iterable[EpisodeRecord]
    ) -> None:
        """Take no note."""

    def episode_started(self, worker: int, key: EpisodeKey, attempt: int) -> None:
        """Take no note."""

    def attempt_failed(self, worker: int, key: EpisodeKey, error: ErrorRecord) -> None:
        """Take no note."""

    def episode_finished(self, record: EpisodeRecord) -> None:
        """Take no note."""


def _ignore_rows(_finished: int, _rows: int) -> None:
    """Take no note."""


def _ignore(_: str) -> None:
    """Take no note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a run takes from where it is started; the defaults are this machine and process."""

    environment: Mapping[str, str] | None = None
    """The variables that copies inherit; None: this process's."""
    in_process: bool = False
    """Whether nodesets run in this process, for a debugger; one worker."""
    launcher: Launcher | None = None
    """What starts copies; None: copies are processes on this machine."""
    observer: Observer = field(default_factory=Silence)
    drain: Drain = field(default_factory=Drain)
    """What can end the run early: `drain.ask(seconds)`."""
    notify: Callable[[str], None] = _ignore
    """Told what a person should know though the run goes on, one sentence a call."""
    progress: Callable[[int, int], None] = _ignore_rows
    """Told how many rows of a store are finished, of how many."""

    @property
    def secrets(self) -> Secrets:
        """Return what stands in the variables and must stand in nothing that is kept or shown."""
        return Secrets.from_environment(self._variables)

    @property
    def _variables(self) -> Mapping[str, str]:
        return os.environ if self.environment is None else self.environment

    def make_room(self) -> Room:
        """Return what lets a run wait for room on a full disk; `notify` is told of it."""
        loop = asyncio.get_running_loop()

        def tell(text: str) -> None:
            loop.call_soon_threadsafe(self.notify, text)

        return Room(tell)

    @asynccontextmanager
    async def launching(self, *, may_build: bool = True) -> AsyncIterator[Launcher]:
        """Give what starts copies; those that it started itself end with the context.

        `may_build`: whether an environment of a script header that is not there is built.
        """
        if self.launcher is not None:
            yield self.launcher
            return
        settings = LocalSettings.from_environment(
            self._variables, notify=self.notify, may_build=may_build
        )
        async with LocalLauncher(settings) as local:
            yield InProcessLauncher(local, self.notify) if self.in_process else local
