"""Serve one nodeset: author code on the thread that calls `run`, requests from any other.

Knows nothing of sockets, frames or processes.
"""

from __future__ import annotations

import math
import os
import platform
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from nodeset.author import author_error
from nodeset.batch_queue import DEFAULT_SETTINGS, BatchSettings
from nodeset.caller import Caller
from nodeset.errors import AuthorError, NodeSetError
from nodeset.host.agenda import Step
from nodeset.host.bell import Bell
from nodeset.host.dispatch import Dispatcher
from nodeset.host.page import CallPage
from nodeset.host.request import Message, Reply, failed, ok, read_id, read_op, send
from nodeset.host.status import ExitStatus
from nodeset.host.surroundings import Surroundings
from nodeset.loading import LoadedNodeSet

PROTOCOL = 1
ASYNC_CLOSE_SECONDS = 5.0
"""How long async calls that run may hold up the end of a copy before they are cancelled."""
CANCEL_SECONDS = 1.0
"""How long they may take to be cancelled before the copy ends without their answers."""


class ClosingError(NodeSetError):
    """The copy is about to end and takes no more requests."""


class AutoServerApp:
    """One copy of a nodeset. `load` is called by `run`, on its thread.

    In a process of its own, `run` is called by the main thread and everything else by the thread
    that serves sockets. In-process there is one thread: `submit`, then `run_pending`.
    """

    def __init__(
        self,
        load: Callable[[], LoadedNodeSet],
        *,
        name: str = "",
        tag: str = "",
        clock: Callable[[], float] = time.monotonic,
        settings: BatchSettings = DEFAULT_SETTINGS,
        page: Optional[CallPage] = None,
    ) -> None:
        self._load = load
        self._name = name
        self._tag = tag or name
        self._clock = clock
        self._settings = settings
        self._page = page or CallPage()
        self.bell = Bell()
        """Wakes the thread that runs author code; its owner may put another in its place."""
        self._lock = threading.RLock()
        self._sleeps_until: Optional[float] = None
        self._running_thread: Optional[int] = None
        self._backlog: List[Tuple[Caller, Message, Reply]] = []
        self._dispatcher: Optional[Dispatcher] = None
        self._is_closing = False
        self._closes_at = math.inf
        self._has_given_up = False
        self._status = ExitStatus.OK
        self.failure: Optional[NodeSetError] = None

    def connect(self, worker: int = -1) -> Caller:
        """Return the handle of a new connection."""
        return Caller(worker)

    def disconnect(self, caller: Caller) -> None:
        """Forget a connection; its waiting calls are not dispatched, nobody waits for it."""
        with self._lock:
            caller.is_connected = False
            if self._dispatcher is not None:
                self._dispatcher.drop(caller)
            self._wake_if_due()

    def submit(self, caller: Caller, request: Message, reply: Reply) -> None:
        """Take a request; `reply` is called once, from this or the author code's thread.

        Raises WireError if the request has no id to reply to.
        """
        request_id = read_id(request)
        op = read_op(request)
        if op == "hello":
            send(reply, ok(request_id, **self._describe_self()))
        elif op == "health":
            send(reply, ok(request_id, **self.health()))
        else:
            with self._lock:
                self._accept(caller, request, reply)
                self._wake_if_due()

    def health(self) -> Dict[str, Any]:
        """Return state and counters; never waits for author code."""
        dispatcher = self._dispatcher
        counters = {"calls": 0, "begin_episodes": 0, "controller_calls": 0, "queues": {}}
        return {"state": self._state(), **(dispatcher.describe() if dispatcher else counters)}

    @property
    def may_be_called(self) -> bool:
        """Say whether a worker in an episode has no call waiting here."""
        return self._dispatcher is not None and self._dispatcher.may_be_called

    def close(
        self, status: ExitStatus = ExitStatus.OK, failure: Optional[NodeSetError] = None
    ) -> None:
        """Make `run` return `status` once everything that waits has been answered.

        `failure` says why, where there is something to say; the first call counts.
        """
        with self._lock:
            if not self._is_closing:
                self._is_closing = True
                self._closes_at = self._clock() + ASYNC_CLOSE_SECONDS
                self._status = status
                self.failure = failure
            self.bell.ring()

    def run(self) -> ExitStatus:
        """Load the nodeset and serve it until it is closed; return how the process should end."""
        self._running_thread = threading.get_ident()
        try:
            dispatcher = self._start()
        except NodeSetError as error:
            return self._refuse_all(error)
        while True:
            step = self._wait_for_step(dispatcher)
            if step is None:
                break
            step()
            dispatcher.after_step()
        self.stop()
        return self._status

    def run_pending(self) -> None:
        """Serve everything that was submitted, on the calling thread; load the nodeset first.

        All replies are sent by the calling thread before this returns.
        """
        dispatcher = self._dispatcher or self._start()
        while True:
            with self._lock:
                step = self._take_any(dispatcher)
                if step is None and dispatcher.is_idle:
                    return
            if step is None:
                self.bell.wait()
                continue
            step()
            dispatcher.after_step()

    def stop(self) -> None:
        """Call the author's `shutdown` if it is due; `run` does this itself."""
        if self._dispatcher is None:
            return
        try:
            self._dispatcher.shut_down()
        except NodeSetError as error:
            self._status, self.failure = ExitStatus.SHUTDOWN_FAILED, error

    def _start(self) -> Dispatcher:
        """Load the nodeset and take up the requests that came meanwhile."""
        self._page.begin("import", budget=0)
        try:
            loaded = self._load()
        except SystemExit as error:
            raise author_error(error, f"importing nodeset {self._name!r}") from error
        self._page.end()
        surroundings = Surroundings(
            lock=self._lock,
            schedule=self._schedule,
            end=self.close,
            clock=self._clock,
            page=self._page,
        )
        dispatcher = Dispatcher(loaded, surroundings, self._settings)
        with self._lock:
            self._dispatcher = dispatcher
            backlog, self._backlog = self._backlog, []
            for caller, request, reply in backlog:
                if caller.is_connected:
                    self._accept(caller, request, reply)
        return dispatcher

    def _refuse_all(self, error: NodeSetError) -> ExitStatus:
        is_import = isinstance(error, AuthorError)
        status = ExitStatus.IMPORT_FAILED if is_import else ExitStatus.CONTRACT_REFUSED
        self.close(status, error)
        with self._lock:
            backlog, self._backlog = self._backlog, []
        for _, request, reply in backlog:
            send(reply, failed(read_id(request), error))
        return status

    def _accept(self, caller: Caller, request: Message, reply: Reply) -> None:
        if self._is_closing:
            error = self.failure or ClosingError(f"copy {self._tag!r} is closing")
            send(reply, failed(read_id(request), error))
        elif self._dispatcher is None:
            self._backlog.append((caller, request, reply))
        else:
            self._dispatcher.accept(caller, request, reply)

    def _schedule(self, step: Step) -> None:
        with self._lock:
            if self._dispatcher is not None:
                self._dispatcher.agenda.add(step)
            self.bell.ring()

    def _take_any(self, dispatcher: Dispatcher) -> Optional[Step]:
        """Take the next step; where nothing else can arrive, also a batch that is not due yet."""
        return dispatcher.agenda.take() or dispatcher.agenda.take(is_closing=True)

    def _wait_for_step(self, dispatcher: Dispatcher) -> Optional[Step]:
        """Return the next step; None when closing and nothing is left to do."""
        while True:
            with self._lock:
                self._sleeps_until = None
                step = dispatcher.agenda.take(self._is_closing)
                if step is not None:
                    return step
                if self._is_closing and (dispatcher.is_idle or self._is_overdue(dispatcher)):
                    return None
                wakeup = dispatcher.agenda.next_wakeup()
                if self._is_closing:
                    wakeup = min(self._closes_at, math.inf if wakeup is None else wakeup)
                self._sleeps_until = math.inf if wakeup is None else wakeup
            self.bell.wait(None if wakeup is None else max(0.0, wakeup - self._clock()))

    def _is_overdue(self, dispatcher: Dispatcher) -> bool:
        """Say whether calls that were cancelled hold up the end; cancel them when it is time."""
        if self._clock() < self._closes_at:
            return False
        if self._has_given_up:
            return True
        self._has_given_up = True
        self._closes_at = self._clock() + CANCEL_SECONDS
        dispatcher.give_up()
        return False

    def _wake_if_due(self) -> None:
        """Wake the other thread only if it has something to do, or to do sooner than it knows."""
        if self._sleeps_until is None or self._dispatcher is None:
            return
        if threading.get_ident() == self._running_thread:
            return  # it looks itself before it sleeps again
        agenda = self._dispatcher.agenda
        wakeup = agenda.next_wakeup()
        is_sooner = wakeup is not None and wakeup < self._sleeps_until
        if is_sooner or agenda.is_due():
            self.bell.ring()

    def _state(self) -> str:
        if self._is_closing:
            return "failed" if self.failure is not None else "closing"
        if self._dispatcher is None:
            return "loading"
        return "ready" if self._dispatcher.is_ready else "loaded"

    def _describe_self(self) -> Dict[str, Any]:
        return {
            "name": self._name,
            "tag": self._tag,
            "pid": os.getpid(),
            "python": platform.python_version(),
            "protocol": PROTOCOL,
        }
