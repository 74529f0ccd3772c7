"""Start copies on this machine, each in the interpreter that its nodeset asks for.

Knows nothing of graphs, workers or what is called.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import nodeset
from nodeset.host.page import PageReader
from wayfare.fleet.errors import FleetSetupError
from wayfare.fleet.gpu import Gpus, check_cpus, list_gpus
from wayfare.fleet.interpreter import (
    HOST_SCRIPT,
    Interpreter,
    InterpreterSearch,
    build_environment,
    link_nodeset,
)
from wayfare.fleet.keeper_client import Keeper
from wayfare.fleet.launcher import CopySpec
from wayfare.fleet.local_copy import LocalCopy, Log
from wayfare.fleet.provision import Provision
from wayfare.fleet.runtime_folder import make_runtime_folder

KEPT_LOG_BYTES = 16 * 2**20


def _keep_quiet(_: str) -> None:
    """Tell nobody."""


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
    notify: Callable[[str], None] = _keep_quiet
    """Is told what is done while an environment is built."""
    may_build: bool = True
    """Whether an environment that is not there yet is built."""

    @classmethod
    def from_environment(
        cls,
        environment: Mapping[str, str],
        log_folder: Path | None = None,
        *,
        notify: Callable[[str], None] = _keep_quiet,
        may_build: bool = True,
    ) -> LocalSettings:
        """Return the settings that these environment variables describe."""
        search = InterpreterSearch.from_environment(environment)
        return cls(
            dict(environment),
            search,
            Path.cwd(),
            log_folder,
            notify=notify,
            may_build=may_build,
        )


class LocalLauncher:
    """Copies on this machine as an async context manager: leaving it ends all of them."""

    def __init__(self, settings: LocalSettings) -> None:
        self._settings = settings
        self._numbers = itertools.count()
        self.provision = Provision(
            settings.search,
            settings.environment,
            notify=settings.notify,
            may_build=settings.may_build,
        )
        self._renewing = asyncio.Lock()
        self._gpus = Gpus(list_gpus(settings.environment))

    async def __aenter__(self) -> LocalLauncher:
        self._runtime_dir = make_runtime_folder(self._settings.environment)
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
        await self.provision.close()
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

        Raises InterpreterError when its Python is missing or lacks a package, or its environment
        can't be built.
        """
        interpreter = await self.find_interpreter(spec)
        number = next(self._numbers)
        check_cpus(spec)
        gpus = self._gpus.take(number, spec)
        try:
            copy = await self._spawn(spec, interpreter, number, gpus=gpus)
        except BaseException:
            self._gpus.give_back(number)
            raise
        copy.exited.add_done_callback(lambda _: self._gpus.give_back(number))
        return copy

    async def _spawn(
        self, spec: CopySpec, interpreter: Interpreter, number: int, *, gpus: Mapping[str, str]
    ) -> LocalCopy:
        keeper = await self._living_keeper()
        socket_path = self._runtime_dir / f"{number}.sock"
        page = _make_page(self._runtime_dir / f"{number}.page")
        log = self._log_folder / f"{spec.tag}.log"
        log_start = log.stat().st_size if log.exists() else 0
        environment = build_environment(
            self._settings.environment,
            nodeset_folder=self._nodeset_folder,
            deployment_env={**gpus, **spec.deployment.env},
            threads=spec.threads,
        )
        script = self._nodeset_folder / HOST_SCRIPT
        command = [
            *(str(interpreter.path), str(script), "host", str(spec.file)),
            *("--name", spec.name, "--tag", spec.tag, "--config", json.dumps(dict(spec.config))),
            *("--listen", f"unix:{socket_path}", "--page", str(page.path)),
        ]
        spawned = await keeper.spawn(command, env=environment, cwd=self._settings.folder, log=log)
        return LocalCopy(
            spec.tag, socket_path, spawned, keeper=keeper, log=Log(log, log_start), page=page
        )

    async def _living_keeper(self) -> Keeper:
        """Return the keeper; a fresh one if it was killed, and with it all copies."""
        async with self._renewing:
            if self._keeper.is_lost:
                await self._keeper.__aexit__(None, None, None)
                self._keeper = await Keeper(self._runtime_dir).__aenter__()
        return self._keeper

    def keep_logs(self, folder: Path, mask: Callable[[str], str]) -> None:
        """Keep the last that each copy has printed so far in a folder; see `Launcher.keep_logs`."""
        for log in sorted(self._log_folder.glob("*.log")):
            text = Log(log).read_end(KEPT_LOG_BYTES)
            if text:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / log.name).write_text(mask(text), encoding="utf-8")

    async def find_interpreter(self, spec: CopySpec) -> Interpreter:
        """Return the interpreter that a copy starts in; each wish is looked up once."""
        return await self.provision.get(spec.deployment.python, spec.file, spec.name)


def _make_page(path: Path) -> PageReader:
    try:
        return PageReader(path)
    except OSError as error:
        raise FleetSetupError(f"no copy can be started: {path}: {error.strerror}.") from error
