"""Bring calls to their tools and outcomes to their callers, digests included.

Knows nothing of a nodeset's other operations, of threads or of sockets.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any, Dict, List, Tuple

from nodeset.author import call_author
from nodeset.batching import BatchedInferenceServer
from nodeset.caller import Call, Caller, CancelledCallError, Logs, Outcome
from nodeset.digest import digest_firing
from nodeset.errors import NodeSetError, WireError
from nodeset.host.agenda import Agenda
from nodeset.host.concurrency import ConcurrentCalls
from nodeset.host.event_loop import EventLoopThread
from nodeset.host.request import Message, Reply, Sent, failed, ok, read_call, send
from nodeset.host.surroundings import Surroundings
from nodeset.loading import LoadedNodeSet
from nodeset.ports import PortDef, accept
from nodeset.rows import check_inputs, check_outputs, volatile_outputs
from nodeset.unfit import name_unfit

MAX_GROUP = 1024
"""Calls of one caller that are queued at once, however many more it announces."""

_LOG_PORT = PortDef("log", "ANY")


class ToolCalls:
    """The calls of one nodeset's tools. What only accepts or drops needs the owner's lock."""

    def __init__(
        self,
        loaded: LoadedNodeSet,
        batching: BatchedInferenceServer,
        agenda: Agenda,
        *,
        event_loop: EventLoopThread,
        surroundings: Surroundings,
    ) -> None:
        self._tools = loaded.tools
        self._concurrent_tools = {
            name
            for name, tool in loaded.tools.items()
            if loaded.parallelism == "shared" and inspect.iscoroutinefunction(tool.forward)
        }
        self._volatile_ports = {name: volatile_outputs(tool) for name, tool in loaded.tools.items()}
        self._batching = batching
        self._agenda = agenda
        self._event_loop = event_loop
        self._lock = surroundings.lock
        self._page = surroundings.page
        self._concurrent = ConcurrentCalls(event_loop, surroundings.schedule, self._page)
        self._groups: Dict[Caller, List[Call]] = {}
        self._open: Dict[Tuple[Caller, int], Call] = {}
        self._undigested: List[Tuple[Call, Dict[str, Any], Sent]] = []
        self.answered = 0

    @property
    def is_idle(self) -> bool:
        """Say whether no call runs beside the thread that runs author code."""
        return self._concurrent.is_idle

    def accept(self, caller: Caller, request: Message, reply: Reply) -> None:
        """Take a call; unless `more` of its group follow at once, queue the group."""
        group = self._groups.setdefault(caller, [])
        try:
            call = read_call(request, caller, self._tools, answer=partial(self._answer, reply))
        except NodeSetError as error:
            send(reply, failed(request["id"], error))
        else:
            group.append(call)
        if request.get("more") is not True or len(group) >= MAX_GROUP:
            self.submit_group(caller)

    def submit_group(self, caller: Caller) -> None:
        """Queue the calls that `caller` made ready together."""
        group = self._groups.pop(caller, None)
        if not group:
            return
        caller.waiting += len(group)
        batched = []
        for call in group:
            self._open[caller, call.id] = call
            if self._tools[call.tool].batched:
                batched.append(call)
            else:
                self._agenda.add(partial(self._start, call))
        if batched:
            self._batching.submit(batched)

    def cancel(self, caller: Caller, call_id: int) -> None:
        """Withdraw a call if it has not been answered; it is answered as cancelled."""
        call = self._open.get((caller, call_id))
        if call is not None:
            self._withdraw(call)

    def give_up(self) -> None:
        """Cancel what runs beside the thread that runs author code."""
        self._concurrent.give_up()

    def drop(self, caller: Caller) -> None:
        """Withdraw all calls of a caller whose connection ended."""
        self._groups.pop(caller, None)
        for call in [call for call in self._open.values() if call.caller is caller]:
            self._withdraw(call)

    def after_step(self) -> None:
        """Digest what the last step sent, before author code can touch its arrays again."""
        for call, outputs, sent in self._undigested:
            kept, volatile = outputs, self._volatile_ports[call.tool]
            if volatile:
                kept = {name: outputs[name] for name in outputs if name not in volatile}
            if sent is not None and sent.placed:
                kept = {name: sent.find_sent(value) for name, value in kept.items()}
            call.caller.digests.append((call.id, digest_firing(call.path, call.turns, kept)))
            if sent is not None:
                sent.release_kept()
        self._undigested.clear()

    def _withdraw(self, call: Call) -> None:
        call.is_dropped = True
        if self._batching.discard(call):
            self._agenda.add(partial(call.answer, call, CancelledCallError.of(call), []))
        self._concurrent.cancel(call)

    def _start(self, call: Call) -> None:
        """Run an unbatched call, or let a shared nodeset's `async` one run beside others."""
        tool = self._tools[call.tool]
        if call.tool in self._concurrent_tools:
            self._concurrent.start(tool, call)
            return
        if call.is_dropped:
            call.answer(call, CancelledCallError.of(call), [])
            return
        context = call.make_context()
        where = f"{tool.node_type}.forward"
        outcome: Outcome
        try:
            inputs = check_inputs(tool, call.inputs)
            self._page.begin_tool(tool.node_type, call.id, call.caller.worker)
            try:
                result = call_author(
                    tool.forward, inputs, context, where=where, wait=self._event_loop.wait
                )
            finally:
                self._page.end_tool(tool.node_type)
            outcome = check_outputs(tool, result)
        except NodeSetError as error:
            outcome = error
        call.answer(call, outcome, context.logs)

    def _answer(self, reply: Reply, call: Call, outcome: Outcome, logs: Logs) -> None:
        with self._lock:
            call.caller.waiting -= 1
            self._open.pop((call.caller, call.id), None)
        self.answered += 1
        if isinstance(outcome, NodeSetError):
            send(reply, failed(call.id, outcome))
            return
        try:
            checked = self._check_logs(call, logs) if logs else []
        except NodeSetError as error:
            send(reply, failed(call.id, error))
            return
        digests = call.caller.take_digests()
        try:
            sent = reply(ok(call.id, outputs=outcome, logs=checked, digests=digests))
        except WireError as error:
            call.caller.digests[:0] = [(call_id, digest) for call_id, digest in digests]
            tool = self._tools[call.tool]
            where = f"{tool.node_type} output"
            told = name_unfit(error, where, outcome, ports=tool.output_ports)
            send(reply, failed(call.id, told))
        else:
            self._undigested.append((call, outcome, sent))

    def _check_logs(self, call: Call, logs: Logs) -> List[List[Any]]:
        where = f"{self._tools[call.tool].node_type} ctx.log"
        return [[key, accept(_LOG_PORT, value, where)] for key, value in logs]
