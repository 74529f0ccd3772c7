"""Start copies on this machine, each in the interpreter that its nodeset asks for.

Knows nothing of graphs, workers or what is called.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nodeset
from wayfare.fleet.connection import Connection, open_connection
from wayfare.fleet.errors import HOST_PREFIX, CopyDeath, CopyFailedError, FleetSetupError
from wayfare.fleet.interpreter import (
    HOST_SCRIPT,
    Interpreter,
    InterpreterSearch,
    build_environment,
    find_interpreter,
    link_nodeset,
)
from wayfare.fleet.keeper_client import Keeper, Spawned
from wayfare.fleet.launcher import CopySpec

LISTEN_SECONDS = 120.0
"""How long a copy may take to listen: the start of its interpreter and the import of `nodeset`."""
RETRY_SECONDS = 0.005
DEATH_NOTICE_SECONDS = 2.0
"""How long after a lost connection the keeper may take to tell how the copy ended."""
TAIL_LINES = 40
TAIL_BYTES = 32 * 1024
MAX_SOCKET_PATH = 100  # the kernel takes 107 bytes


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """What the launcher takes from its surroundings."""

    environment: Mapping[str, str]
    """What copies inherit."""
    search: InterpreterSearch
    folder: Path
    """Copies' working directory: where the user stands, so that relative paths mean the same."""
    log_folder: Path | None = None
    """Where copies' output is kept; None: with the sockets, removed at the end."""

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str], log_folder: Path | None = None
    ) -> LocalSettings:
        """Return the settings that these environment variables describe."""
        search = InterpreterSearch.from_environment(environment)
        return cls(dict(environment), search, Path.cwd(), log_folder)


class LocalLauncher:
    """Copies on this machine as an async context manager: leaving it ends all of them."""

    def __init__(self, settings: LocalSettings) -> None:
        self._settings = settings
        self._numbers = itertools.count()
        self._interpreters: dict[str | None, asyncio.Task[Interpreter]] = {}

    async def __aenter__(self) -> LocalLauncher:
        self._runtime_dir = _make_runtime_dir(self._settings.environment)
        try:
            self._log_folder = self._settings.log_folder or self._runtime_dir / "logs"
            self._log_folder.mkdir(parents=True, exist_ok=True)
            package = Path(nodeset.__file__).parent
            self._nodeset_folder = link_nodeset(self._runtime_dir / "path", package)
            self._keeper = await Keeper(self._runtime_dir).__aenter__()
        except BaseException:
            self._remove_runtime_dir()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        for search in self._interpreters.values():
            search.cancel()
        await asyncio.gather(*self._interpreters.values(), return_exceptions=True)
        try:
            await self._keeper.__aexit__(*exc_info)
        finally:
            self._remove_runtime_dir()

    def _remove_runtime_dir(self) -> None:
        shutil.rmtree(self._runtime_dir, ignore_errors=True)

    @property
    def keeper_pid(self) -> int:
        """Return the process id of the copies' parent."""
        return self._keeper.pid

    async def start(self, spec: CopySpec) -> LocalCopy:
        """Return a started copy, alive but not ready.

        Raises InterpreterError when its Python is missing or lacks a package.
        """
        interpreter = await self.find_interpreter(spec.deployment.python)
        number = next(self._numbers)
        socket_path = self._runtime_dir / f"{number}.sock"
        log = self._log_folder / f"{spec.tag}.log"
        log_start = log.stat().st_size if log.exists() else 0
        url = f"unix:{socket_path}"
        environment = build_environment(
            self._settings.environment,
            nodeset_folder=self._nodeset_folder,
            deployment_env=spec.deployment.env,
            threads=spec.threads,
        )
        spawned = await self._keeper.spawn(
            _host_command(interpreter, self._nodeset_folder / HOST_SCRIPT, spec, url),
            env=environment,
            cwd=self._settings.folder,
            log=log,
        )
        return LocalCopy(spec.tag, url, spawned, keeper=self._keeper, log=_Log(log, log_start))

    async def find_interpreter(self, python: str | None) -> Interpreter:
        """Return the interpreter behind `Deployment.python`; each wish is looked up once."""
        if python not in self._interpreters:
            search = find_interpreter(python, self._settings.search)
            self._interpreters[python] = asyncio.create_task(search, name=f"find {python}")
        return await asyncio.shield(self._interpreters[python])


def _host_command(interpreter: Interpreter, script: Path, spec: CopySpec, url: str) -> list[str]:
    return [
        *(str(interpreter.path), str(script), "host", str(spec.file)),
        *("--name", spec.name, "--tag", spec.tag, "--listen", url),
        *("--config", json.dumps(dict(spec.config))),
    ]


@dataclass(frozen=True, slots=True)
class _Log:
    """What one copy printed: its file from where the copy began."""

    path: Path
    start: int = field(default=0)

    def read_tail(self) -> str:
        try:
            with self.path.open("rb") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(self.start, end - TAIL_BYTES))
                text = file.read().decode(errors="replace")
        except OSError:
            return ""
        lines = [line for line in text.splitlines() if not _is_greeting(line)]
        return "\n".join(lines[-TAIL_LINES:])


def _is_greeting(line: str) -> bool:
    """Return whether a line says no more than that the copy has begun to listen."""
    return line.startswith(HOST_PREFIX) and " listens at unix:" in line


class LocalCopy:
    """A copy that is a process on this machine."""

    def __init__(self, tag: str, url: str, spawned: Spawned, *, keeper: Keeper, log: _Log) -> None:
        self.tag = tag
        self.url = url
        self.pid = spawned.pid
        self.exited = spawned.exited
        self._keeper = keeper
        self._log = log
        self._death: CopyDeath | None = None
        self.exited.add_done_callback(self._note_death)

    def death(self) -> CopyDeath | None:
        """Return how it ended, or None while it lives."""
        return self._death

    def log_tail(self) -> str:
        """Return the last lines that it printed."""
        return self._log.read_tail()

    def kill(self) -> None:
        """End it at once, with all that it started."""
        with contextlib.suppress(FleetSetupError):  # without a keeper it is dead already
            self._keeper.send_signal(self.pid, signal.SIGKILL)

    async def connect(self, worker: int) -> Connection:
        """Open a connection for a worker, waiting until the copy listens.

        Raises CopyFailedError when it ends first or does not listen within LISTEN_SECONDS.
        """
        try:
            async with asyncio.timeout(LISTEN_SECONDS):
                return await self._connect_when_listening(worker)
        except TimeoutError as error:
            self.kill()
            raise CopyFailedError(
                f"copy {self.tag!r} (pid {self.pid}) did not listen within {LISTEN_SECONDS} s. "
                f"Its last lines:\n{self.log_tail()}"
            ) from error

    async def _connect_when_listening(self, worker: int) -> Connection:
        while True:
            if self.exited.done():
                raise await self.explain_loss()
            try:
                return await open_connection(
                    self.url, copy=self.tag, worker=worker, explain_loss=self.explain_loss
                )
            except (FileNotFoundError, ConnectionRefusedError):
                await asyncio.wait([self.exited], timeout=RETRY_SECONDS)

    async def explain_loss(self) -> CopyFailedError:
        """Return the error for a connection that ended, with the copy's status if it ended too."""
        await asyncio.wait([self.exited], timeout=DEATH_NOTICE_SECONDS)
        await asyncio.sleep(0)  # the callback that notes the death runs after the wait
        if self._death is None:
            text = f"copy {self.tag!r} (pid {self.pid}) lives but closed the connection."
            return CopyFailedError(text)
        return CopyFailedError(self._death.describe(), self._death)

    def _note_death(self, exited: asyncio.Future[int]) -> None:
        if not exited.cancelled():
            self._death = CopyDeath(self.tag, self.pid, exited.result(), self.log_tail())


def _make_runtime_dir(environment: Mapping[str, str]) -> Path:
    """Return a new folder that only this user can enter, with a name short enough for sockets."""
    for root in (environment.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):  # noqa: S108
        if root and len(root) + 30 < MAX_SOCKET_PATH and os.access(root, os.W_OK):
            return Path(tempfile.mkdtemp(prefix="wayfare-", dir=root))
    raise FleetSetupError(
        "no folder for sockets: XDG_RUNTIME_DIR and the temporary folder are not writable or have "
        "names too long for a Unix socket; set TMPDIR to a short path."
    )
