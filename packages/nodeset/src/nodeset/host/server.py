"""Serve an app's connections: from the thread that runs author code, or from another meanwhile.

Knows nothing of frames or of the nodeset.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
from collections import deque
from typing import Any, Callable, Deque, Dict, NoReturn, Optional

from nodeset.host.address import Listener
from nodeset.host.app import AutoServerApp
from nodeset.host.bell import SharedPolling
from nodeset.host.connection import Connection
from nodeset.host.status import ExitStatus
from nodeset.spin import SpinningWait

_READ, _WRITE = select.EPOLLIN, select.EPOLLOUT
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_SEND_BUFFER_BYTES = 4 * 2**20  # an image fits; the kernel may allow less
_FEW_WORKERS = 2  # one, and whoever looks after the copy
_LONE_PATIENCE_SECONDS, _PATIENCE_SECONDS, _SHORT_PATIENCE_SECONDS = 0.050, 0.006, 0.002
MAX_STRANGERS = 64
"""Connections that may be open without having shown the token that is due."""
DRAIN_SECONDS = 2.0
"""How long the last replies may take to be sent when the copy ends."""


class SocketServer:
    """The listening socket and its connections.

    The main thread, which runs author code, serves them while it has nothing else to do; while it
    works, another thread does. `start` and `stop` belong to the main thread. A connection must
    show `token`, if there is one, before anything else.
    """

    def __init__(self, app: AutoServerApp, listener: Listener, token: Optional[str] = None) -> None:
        self._app = app
        self._listener = listener
        self._token = token
        self._epoll = select.epoll()
        self._events = SpinningWait(self._epoll.poll, steps_aside=True)
        self._handlers: Dict[int, Callable[[], None]] = {}
        self._connections: Dict[int, Connection] = {}
        self._wanted: Dict[Connection, int] = {}
        self._called: Deque[Connection] = deque()
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._spare = os.open(os.devnull, os.O_RDONLY)
        self._polling = SharedPolling(self._poll, self._ring, self._patience)
        self._thread = threading.Thread(target=self._watch, name="nodeset-sockets", daemon=True)

    def start(self) -> None:
        """Begin to serve; SIGTERM and SIGINT close the app, a second one ends the process."""
        for sock in (self._listener.socket, self._wake_reader, self._wake_writer):
            sock.setblocking(False)
        for readable, handler in (
            (self._listener.socket, self._accept),
            (self._wake_reader, self._wake),
        ):
            self._epoll.register(readable, _READ)
            self._handlers[readable.fileno()] = handler
        self._app.bell = self._polling
        signal.set_wakeup_fd(self._wake_writer.fileno(), warn_on_full_buffer=False)
        for number in _ENDING_SIGNALS:
            signal.signal(number, _let_the_next_one_kill)
        self._thread.start()

    def stop(self) -> None:
        """Send what still waits, within DRAIN_SECONDS, and close everything."""
        stops_at = time.monotonic() + DRAIN_SECONDS
        self._polling.stop()
        self._thread.join(DRAIN_SECONDS)
        while any(connection.wants_write for connection in self._wanted):
            seconds = stops_at - time.monotonic()
            if seconds <= 0:
                break
            self._poll(seconds)
        for connection in list(self._wanted):
            self._close(connection)
        self._listener.close()
        self._epoll.close()
        os.close(self._spare)
        signal.set_wakeup_fd(-1)

    def _watch(self) -> None:
        try:
            self._polling.watch()
        except BaseException:  # noqa: BLE001  printed, and the end of the process
            _end_process()

    def _patience(self) -> float:
        """Return for how long the main thread may work before another reads what arrives.

        Not long where somebody may call meanwhile. A copy of one worker is asked nothing while it
        works but for its health.
        """
        if sum(connection.channels for connection in list(self._wanted)) <= _FEW_WORKERS:
            return _LONE_PATIENCE_SECONDS
        return _SHORT_PATIENCE_SECONDS if self._app.may_be_called else _PATIENCE_SECONDS

    def _poll(self, timeout: Optional[float]) -> None:
        """Wait for events and serve them; one thread at a time."""
        try:
            for number, events in self._events.wait(timeout):
                connection = self._connections.get(number)
                if connection is not None:
                    self._attend(connection, events)
                elif number in self._handlers:
                    self._handlers[number]()
        except BaseException:  # noqa: BLE001  printed, and the end of the process
            _end_process()

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
        self._limit_strangers()
        connection = Connection(sock, self._app, token=self._token, call_owner=self._call)
        self._wanted[connection] = _READ
        self._connections[sock.fileno()] = connection
        self._epoll.register(sock, _READ)

    def _limit_strangers(self) -> None:
        """Close who has kept its token back the longest, so that nobody keeps workers out."""
        strangers = [connection for connection in self._wanted if connection.is_stranger]
        if len(strangers) >= MAX_STRANGERS:
            self._close(strangers[0])

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
        if events & _WRITE:
            connection.flush()
        if events & ~_WRITE:
            connection.read()
        self._settle(connection)

    def _settle(self, connection: Connection) -> None:
        """Close a connection that is over, else wait for what it wants now."""
        if connection.only_reads and self._wanted[connection] == _READ:
            return
        if connection.is_over:
            self._close(connection)
            return
        wanted = (_READ if connection.wants_read else 0) | (_WRITE * connection.wants_write)
        before = self._wanted[connection]
        if wanted == before:
            return
        if before == 0:
            self._epoll.register(connection.socket, wanted)
        elif wanted == 0:
            self._epoll.unregister(connection.socket)
        else:
            self._epoll.modify(connection.socket, wanted)
        self._wanted[connection] = wanted

    def _close(self, connection: Connection) -> None:
        del self._connections[connection.socket.fileno()]
        if self._wanted.pop(connection):
            self._epoll.unregister(connection.socket)
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
            if connection in self._wanted:
                self._settle(connection)


def _end_process() -> NoReturn:
    """End the process at a fault here: a copy would be left that lives and never answers."""
    traceback.print_exc()
    os._exit(ExitStatus.SERVER_FAILED)


def _let_the_next_one_kill(number: int, _: Any) -> None:
    """Let the wake-up descriptor tell of the first signal; Python needs a handler for that."""
    signal.signal(number, signal.SIG_DFL)
