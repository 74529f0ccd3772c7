"""Serve calls for a check of the contract, in exact batches, and say what they left behind.

Knows nothing of what is compared with what: it reports what one copy did.
"""

from __future__ import annotations

import inspect
import random
import sys
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import numpy as np

from nodeset.author import call_author
from nodeset.batch import BatchRunner, BatchStats
from nodeset.caller import Call, Caller, Logs, Outcome
from nodeset.context import NO_EPISODE, episode_from_wire
from nodeset.contract import BaseCanvasNode
from nodeset.digest import digest_value
from nodeset.errors import NodeSetError, to_payload
from nodeset.loading import LoadedNodeSet
from nodeset.ports import PortDef, accept
from nodeset.probe_clock import shift_clock
from nodeset.probe_state import list_state
from nodeset.rows import check_inputs, check_outputs

Fields = Mapping[str, Any]
_ANY = PortDef("value", "ANY")


class Probe:
    """One loaded nodeset under examination; `wait` gives the result of an awaitable."""

    def __init__(self, loaded: LoadedNodeSet, wait: Callable[[Any], Any]) -> None:
        self._loaded = loaded
        self._wait = wait
        self._changes: List[Dict[str, Any]] = []

    def serve(self, calls: Sequence[Fields]) -> Dict[str, Any]:
        """Serve calls of one tool and configuration: in one batch if the tool is batched.

        Returns the rows' outcomes, inputs that the tool changed in place, and the names of the
        interpreter's global random states that are other ones now.
        """
        self._changes = []
        before = digest_random_states()
        outcomes: Dict[int, Outcome] = {}
        served = [self._make_call(index, call, outcomes) for index, call in enumerate(calls)]
        tool = self._loaded.tools[served[0].tool]
        if tool.batched:
            limit = 0 if self._loaded.parallelism == "shared" else 1
            runner = BatchRunner(tool, self._forward, time.monotonic, BatchStats(), limit)
            runner.serve(served)
        else:
            for call in served:
                call.answer(call, self._serve_alone(tool, call), [])
        after = digest_random_states()
        return {
            "rows": [_describe(outcomes[index]) for index in range(len(served))],
            "changes": self._changes,
            "random": sorted(name for name in after if after[name] != before.get(name)),
        }

    def look(self) -> Dict[str, Any]:
        """Return what nodeset, tools and controller keep, and the global random states.

        `concurrent` are the tools whose calls run beside others.
        """
        return {
            "state": list_state(self._loaded),
            "random": digest_random_states(),
            "concurrent": [
                name
                for name, tool in self._loaded.tools.items()
                if inspect.iscoroutinefunction(tool.forward)
            ],
        }

    def sample(self, seed: int) -> Dict[str, Any]:
        """Return what the author's `sample_inputs` gives, by tool; nothing if it gives none."""
        name = self._loaded.declaration.name
        rng = np.random.Generator(np.random.PCG64(seed))
        where = f"{name} sample_inputs"
        given = call_author(self._loaded.nodeset.sample_inputs, rng, where=where, wait=self._wait)
        return {"inputs": accept(_ANY, given if given is not None else {}, where)}

    def shift_clock(self, seconds: float) -> Dict[str, Any]:
        """Let the nodeset's code see a wall clock that is so far ahead, from now on."""
        shift_clock(seconds)
        return {}

    def _make_call(self, index: int, fields: Fields, outcomes: Dict[int, Outcome]) -> Call:
        def answer(call: Call, outcome: Outcome, _: Logs) -> None:
            outcomes[call.id] = outcome

        tool = self._loaded.tools[fields["tool"]]
        episode = fields.get("episode")
        return Call(
            caller=Caller(),
            id=index,
            tool=fields["tool"],
            path=fields.get("path", ""),
            config={**tool.default_config, **fields.get("config", {})},
            inputs=dict(fields["inputs"]),
            answer=answer,
            step=fields.get("step", 0),
            turns=tuple(fields.get("turns", ())),
            seed=fields.get("seed", 0),
            episode=NO_EPISODE if episode is None else episode_from_wire(episode),
        )

    def _serve_alone(self, tool: BaseCanvasNode, call: Call) -> Outcome:
        where = f"{tool.node_type}.forward"
        try:
            inputs = check_inputs(tool, call.inputs)
            result = call_author(
                self._forward, tool, inputs, call.make_context(), where=where, wait=self._wait
            )
            return check_outputs(tool, result)
        except NodeSetError as error:
            return error

    def _forward(self, tool: BaseCanvasNode, inputs: Dict[str, Any], ctx: Any) -> Any:
        """Call the author's handler, and note which of its inputs it changed."""
        before = {name: copy_value(value) for name, value in inputs.items()}
        values = dict(inputs)
        try:
            result = tool.forward(inputs, ctx)
            return self._wait(result) if hasattr(result, "__await__") else result
        finally:
            self._note_changes(tool, before, values)

    def _note_changes(self, tool: BaseCanvasNode, before: Fields, values: Fields) -> None:
        for name, value in values.items():
            try:
                now = accept(_ANY, value, "input")
                is_changed = digest_value(now) != digest_value(before[name])
            except NodeSetError:  # it put something else than passive data into the input
                now, is_changed = repr(type(value)), True
            if is_changed:
                note = {"tool": tool.node_type, "port": name, "before": before[name], "after": now}
                self._changes.append(note)


def copy_value(value: Any) -> Any:
    """Return a copy of passive data that nobody else holds."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, Mapping):
        return {key: copy_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [copy_value(item) for item in value]
    return value


def digest_random_states() -> Dict[str, bytes]:
    """Return the digests of the global random states of this interpreter, by name."""
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002  to see whether others use it
    states: Dict[str, Any] = {
        "random": repr(random.getstate()),
        "numpy.random": [kind, np.asarray(keys), repr(rest)],
    }
    torch: Optional[Any] = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_rng_state"):
        states["torch"] = torch.get_rng_state().numpy()
    return {name: digest_value(state) for name, state in states.items()}


def _describe(outcome: Outcome) -> Dict[str, Any]:
    if isinstance(outcome, NodeSetError):
        return {"error": to_payload(outcome)}
    return {"outputs": outcome}
