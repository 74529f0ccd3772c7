"""Serve an app's connections from one thread, which sleeps until a socket needs it.

Knows nothing of frames or of the nodeset.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys
import threading
import time
import traceback
from collections import deque
from typing import Any, Deque, Dict, Optional

from nodeset.host.address import Listener
from nodeset.host.app import AutoServerApp
from nodeset.host.connection import Connection
from nodeset.host.status import ExitStatus

_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_SEND_BUFFER_BYTES = 4 * 2**20  # an image fits; the kernel may allow less
DRAIN_SECONDS = 2.0
"""How long the last replies may take to be sent when the copy ends."""


class SocketServer:
    """The listening socket and its connections, served by a thread of their own.

    `start` and `stop` belong to the main thread. A connection must show `token`, if there is one,
    before anything else.
    """

    def __init__(self, app: AutoServerApp, listener: Listener, token: Optional[str] = None) -> None:
        self._app = app
        self._listener = listener
        self._token = token
        self._selector = selectors.DefaultSelector()
        self._connections: Dict[Connection, int] = {}
        self._called: Deque[Connection] = deque()
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._spare = os.open(os.devnull, os.O_RDONLY)
        self._stops_at: Optional[float] = None
        self._thread = threading.Thread(target=self._run, name="nodeset-sockets", daemon=True)

    def start(self) -> None:
        """Begin to serve; SIGTERM and SIGINT close the app, a second one ends the process."""
        for sock in (self._listener.socket, self._wake_reader, self._wake_writer):
            sock.setblocking(False)
        self._selector.register(self._listener.socket, _READ, self._accept)
        self._selector.register(self._wake_reader, _READ, self._wake)
        signal.set_wakeup_fd(self._wake_writer.fileno(), warn_on_full_buffer=False)
        for number in _ENDING_SIGNALS:
            signal.signal(number, _let_the_next_one_kill)
        self._thread.start()

    def stop(self) -> None:
        """Send what still waits, within DRAIN_SECONDS, and close everything."""
        self._stops_at = time.monotonic() + DRAIN_SECONDS
        self._ring()
        self._thread.join(2 * DRAIN_SECONDS)
        signal.set_wakeup_fd(-1)

    def _run(self) -> None:
        """Serve; a fault here would leave a copy that lives and never answers, so it ends it."""
        try:
            self._serve()
        except BaseException:  # noqa: BLE001  printed, and the end of the process
            traceback.print_exc()
            os._exit(ExitStatus.SERVER_FAILED)

    def _serve(self) -> None:
        while not self._is_done():
            timeout = None if self._stops_at is None else self._stops_at - time.monotonic()
            for key, events in self._selector.select(timeout):
                if isinstance(key.data, Connection):
                    self._attend(key.data, events)
                else:
                    key.data()
        for connection in list(self._connections):
            self._close(connection)
        self._listener.close()
        os.close(self._spare)

    def _is_done(self) -> bool:
        if self._stops_at is None:
            return False
        waiting = any(connection.wants_write for connection in self._connections)
        return not waiting or time.monotonic() >= self._stops_at

    def _accept(self) -> None:
        try:
            sock, _ = self._listener.socket.accept()
        except BlockingIOError:
            return
        except OSError as error:
            self._turn_away(error)
            return
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(sock, self._app, token=self._token, call_owner=self._call)
        self._connections[connection] = _READ
        self._selector.register(sock, _READ, connection)

    def _turn_away(self, error: OSError) -> None:
        """Close a connection for which no descriptor is left; it would be announced for ever."""
        print(f"nodeset host: cannot accept a connection: {error}", file=sys.stderr)  # noqa: T201
        os.close(self._spare)
        try:
            self._listener.socket.accept()[0].close()
        except OSError:
            pass
        finally:
            self._spare = os.open(os.devnull, os.O_RDONLY)

    def _attend(self, connection: Connection, events: int) -> None:
        if connection not in self._connections:
            return  # closed since the selector returned
        if events & _WRITE:
            connection.flush()
        if events & _READ:
            connection.read()
        self._settle(connection)

    def _settle(self, connection: Connection) -> None:
        """Close a connection that is over, else wait for what it wants now."""
        if connection.is_over:
            self._close(connection)
            return
        wanted = (_READ if connection.wants_read else 0) | (_WRITE * connection.wants_write)
        before = self._connections[connection]
        if wanted == before:
            return
        if before == 0:
            self._selector.register(connection.socket, wanted, connection)
        elif wanted == 0:
            self._selector.unregister(connection.socket)
        else:
            self._selector.modify(connection.socket, wanted, connection)
        self._connections[connection] = wanted

    def _close(self, connection: Connection) -> None:
        if self._connections.pop(connection):
            self._selector.unregister(connection.socket)
        connection.close()

    def _call(self, connection: Connection) -> None:
        """Have the serving thread settle a connection; called from any thread."""
        self._called.append(connection)
        self._ring()

    def _ring(self) -> None:
        try:
            self._wake_writer.send(b"\0")
        except BlockingIOError:
            return  # it rings already

    def _wake(self) -> None:
        rung = self._wake_reader.recv(4096)
        if any(number in rung for number in _ENDING_SIGNALS):
            self._app.close()
        while self._called:
            connection = self._called.popleft()
            if connection in self._connections:
                self._settle(connection)


def _let_the_next_one_kill(number: int, _: Any) -> None:
    """Let the wake-up descriptor tell of the first signal; Python needs a handler for that."""
    signal.signal(number, signal.SIG_DFL)
