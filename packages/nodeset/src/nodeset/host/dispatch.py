"""Turn the requests to a loaded nodeset into work for the thread that runs author code.

Knows nothing of threads or sockets: its owner holds the lock and performs the work.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Dict

from nodeset.batch_queue import BatchSettings
from nodeset.batching import BatchedInferenceServer
from nodeset.caller import Caller
from nodeset.context import NO_EPISODE
from nodeset.errors import NodeSetError, WireError
from nodeset.host.agenda import Agenda
from nodeset.host.calls import ToolCalls
from nodeset.host.event_loop import EventLoopThread
from nodeset.host.operations import Operations
from nodeset.host.request import (
    Message,
    Reply,
    failed,
    ok,
    read,
    read_episode,
    read_id,
    read_op,
    send,
)
from nodeset.host.status import ExitStatus
from nodeset.host.surroundings import Surroundings
from nodeset.loading import LoadedNodeSet
from nodeset.passive import describe
from nodeset.probe import Probe


class Dispatcher:
    """One loaded nodeset: its operations, its calls and its batches."""

    def __init__(
        self, loaded: LoadedNodeSet, surroundings: Surroundings, settings: BatchSettings
    ) -> None:
        self._end = surroundings.end
        self._page = surroundings.page
        self._event_loop = EventLoopThread()
        self._probe = Probe(loaded, self._event_loop.wait)
        self._operations = Operations(loaded, self._event_loop, self._page)
        self._batching = BatchedInferenceServer(
            loaded.tools,
            self._operations.forward,
            surroundings.clock,
            row_limit=0 if loaded.parallelism == "shared" else 1,
            settings=settings,
        )
        self.agenda = Agenda(self._batching, surroundings.clock)
        self._calls = ToolCalls(
            loaded,
            self._batching,
            self.agenda,
            event_loop=self._event_loop,
            surroundings=surroundings,
        )

    @property
    def is_ready(self) -> bool:
        """Say whether the nodeset is initialized."""
        return self._operations.is_initialized

    @property
    def is_idle(self) -> bool:
        """Say whether no call runs beside the thread that runs author code."""
        return self._calls.is_idle

    @property
    def may_be_called(self) -> bool:
        """Say whether somebody who shares batches has no call waiting."""
        return self._batching.may_be_called

    def accept(self, caller: Caller, request: Message, reply: Reply) -> None:
        """Take a request; its reply is sent now or by work on the agenda. Needs the lock."""
        op = read_op(request)
        try:
            if op == "call":
                self._operations.require_initialized("call")
                self._calls.accept(caller, request, reply)
                return
            self._calls.submit_group(caller)
            if op == "open_episode":
                self._open_episode(caller, request)
            elif op == "cancel":
                self._calls.cancel(caller, read(request, "target", int))
            else:
                self._accept_job(op, caller, request, reply=reply)
                return
        except NodeSetError as error:
            send(reply, failed(read_id(request), error))
        else:
            send(reply, ok(read_id(request)))

    def give_up(self) -> None:
        """Cancel what runs beside the thread that runs author code."""
        self._calls.give_up()

    def drop(self, caller: Caller) -> None:
        """Forget a caller whose connection ended. Needs the lock."""
        self._leave_batches(caller)
        self._calls.drop(caller)

    def after_step(self) -> None:
        """Digest what the last step sent, and take the handler for free."""
        self._calls.after_step()
        self._batching.note_free()

    def shut_down(self) -> None:
        """Call the author's `shutdown` and end the event loop's thread."""
        try:
            self._operations.shutdown()
        finally:
            self._event_loop.stop()

    def describe(self) -> Dict[str, Any]:
        """Return the counters."""
        return {
            "calls": self._calls.answered,
            "begin_episodes": self._operations.begin_episodes,
            "controller_calls": self._operations.controller_calls,
            "queues": self._batching.describe(),
        }

    def _accept_job(self, op: str, caller: Caller, request: Message, *, reply: Reply) -> None:
        operation = _OPERATIONS.get(op)
        if operation is None:
            known = ", ".join(("hello", "health", "call", "open_episode", "cancel", *_OPERATIONS))
            raise WireError(
                f"a request has op={describe(request.get('op'))}; it must be one of: {known}"
            )
        if op == "close_episode":
            self._leave_batches(caller)
        self.agenda.add(partial(self._perform, operation, caller, request, reply))

    def _perform(
        self, operation: _Operation, caller: Caller, request: Message, reply: Reply
    ) -> None:
        op = read_op(request)
        self._page.begin(op, read_id(request), caller.worker, budget=_BUDGETS.get(op, 1))
        try:
            fields = operation(self, caller, request)
        except NodeSetError as error:
            send(reply, failed(read_id(request), error))
        else:
            send(reply, ok(read_id(request), **(fields or {})))
        finally:
            self._page.end()

    def _open_episode(self, caller: Caller, request: Message) -> None:
        episode = read_episode(request)
        self._leave_batches(caller)
        caller.episode = episode
        caller.has_open_episode = True
        caller.digests.clear()

    def _leave_batches(self, caller: Caller) -> None:
        caller.has_open_episode = False
        self._batching.close_episode(caller)

    def _close_episode(self, caller: Caller, _: Message) -> Dict[str, Any]:
        caller.episode = NO_EPISODE
        return {"digests": caller.take_digests()}

    def _manifest(self, _: Caller, __: Message) -> Dict[str, Any]:
        return self._operations.manifest()

    def _episodes(self, _: Caller, request: Message) -> Dict[str, Any]:
        return self._operations.episodes(read(request, "split", str))

    def _initialize(self, _: Caller, __: Message) -> None:
        try:
            self._operations.initialize()
        except NodeSetError as error:
            self._end(ExitStatus.INITIALIZE_FAILED, error)
            raise

    def _begin_episode(self, caller: Caller, _: Message) -> None:
        self._operations.begin_episode(caller)

    def _control(self, _: Caller, request: Message) -> Dict[str, Any]:
        return self._operations.control(request)

    def _examine(self, _: Caller, request: Message) -> Dict[str, Any]:
        verb = read(request, "verb", str)
        if verb == "shift_clock":
            return self._probe.shift_clock(read(request, "seconds", float))
        self._operations.require_initialized("probe")
        if verb == "serve":
            return self._probe.serve(read(request, "calls", list))
        if verb == "sample":
            return self._probe.sample(read(request, "seed", int))
        if verb == "look":
            return self._probe.look()
        raise WireError(f"a probe has no verb {verb!r}; it has: serve, look, sample, shift_clock")

    def _shut_down(self, _: Caller, __: Message) -> None:
        try:
            self._operations.shutdown()
        except NodeSetError as error:
            self._end(ExitStatus.SHUTDOWN_FAILED, error)
            raise
        self._end(ExitStatus.OK, None)


_Operation = Callable[[Dispatcher, Caller, Message], Any]
_OPERATIONS: Dict[str, _Operation] = {
    "manifest": Dispatcher._manifest,
    "episodes": Dispatcher._episodes,
    "initialize": Dispatcher._initialize,
    "begin_episode": Dispatcher._begin_episode,
    "controller": Dispatcher._control,
    "close_episode": Dispatcher._close_episode,
    "probe": Dispatcher._examine,
    "shutdown": Dispatcher._shut_down,
}
_BUDGETS = dict.fromkeys(("manifest", "episodes", "initialize"), 0)
"""Which of the budgets an operation has where it is not that of a first call."""
