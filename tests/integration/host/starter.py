"""Start copies for tests, and connect to them: real processes, real sockets.

Knows nothing of what the tests ask of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.deadline import wait_until
from tests.integration.host.client import Client

END_SECONDS = 20.0
"""How long a copy may take to end before it is killed; no test hangs on it."""
NODESETS = Path(__file__).parent / "nodesets"


class Host:
    """Processes of `python -m nodeset host`, and their ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[str]] = []
        self.clients: list[Client] = []

    def start(self, file: str, *options: str, listen: str = "", **environment: str):
        """Start a copy; return its process, once it listens, and the address."""
        number = len(self.processes)
        errors = self.folder / f"{number}.err"
        command = [sys.executable, "-m", "nodeset", "host", str(NODESETS / file)]
        with errors.open("w") as stream:
            process = subprocess.Popen(
                [
                    *command,
                    "--listen",
                    listen or f"unix:{self.folder / f'{number}.sock'}",
                    *options,
                ],
                stdout=subprocess.PIPE,
                stderr=stream,
                text=True,
                env={**os.environ, **environment},
            )
        self.processes.append(process)
        wait_until(lambda: "\n" in errors.read_text())
        return process, errors.read_text().partition("\n")[0].rpartition(" listens at ")[2]

    def read_errors(self, number: int = 0) -> str:
        """Return what a copy, by the order of their starts, has written to stderr."""
        return (self.folder / f"{number}.err").read_text()

    def connect(self, url: str, **hello: Any) -> Client:
        """Return a client that is closed with the test."""
        self.clients.append(Client(url, **hello))
        return self.clients[-1]

    def open_clients(self, url: str, count: int) -> list[Client]:
        """Return clients that have each an episode open: worker 0 episode "0", and so on."""
        clients = [self.connect(url, worker=worker) for worker in range(count)]
        for index, client in enumerate(clients):
            client.open_episode(index)
        return clients

    def stop(self) -> None:
        for client in self.clients:
            client.socket.close()
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            process.communicate()
