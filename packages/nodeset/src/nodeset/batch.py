"""Serve calls by as few calls of a batched handler as the tool allows, each call its own outcome.

Knows nothing of queues, of threads or of why the calls are served now.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from nodeset.author import author_error
from nodeset.caller import Call, CancelledCallError, Logs, Outcome
from nodeset.context import BatchContext, Context
from nodeset.contract import BaseCanvasNode
from nodeset.errors import NodeSetError, PortError
from nodeset.rows import Row, Signature, check_inputs, sign, split, stack

Forward = Callable[[BaseCanvasNode, Dict[str, Any], Any], Any]
Member = Tuple[Call, Row]


@dataclass
class BatchStats:
    """What a batched tool's handler was given, and how long that took.

    `reruns` are the handler's runs on parts of a batch that raised; only `handler_s` has them too.
    """

    rows: int = 0
    batches: int = 0
    places: int = 0
    reruns: int = 0
    histogram: Dict[int, int] = field(default_factory=dict)
    flushes: Dict[str, int] = field(default_factory=dict)
    wait_s: float = 0.0
    handler_s: float = 0.0

    def count(self, rows: int, places: int) -> None:
        """Count one batch of `rows` calls where `places` were free."""
        self.rows += rows
        self.batches += 1
        self.places += places
        self.histogram[rows] = self.histogram.get(rows, 0) + 1

    def describe(self) -> Dict[str, Any]:
        """Return the counters as passive data; `fill` is rows per place of a bounded batch."""
        histogram = dict(self.histogram)
        return {
            "rows": self.rows,
            "batches": self.batches,
            "reruns": self.reruns,
            "fill": self.rows / self.places if self.places else 0.0,
            "histogram": {str(size): histogram[size] for size in sorted(histogram)},
            "flushes": dict(self.flushes),
            "wait_s": self.wait_s,
            "handler_s": self.handler_s,
        }


@dataclass(frozen=True)
class BatchRunner:
    """Runs one batched tool. `forward` calls the author's handler and lets its exception pass.

    `row_limit` bounds the calls per batch; 0 leaves it to the tool.
    """

    tool: BaseCanvasNode
    forward: Forward
    clock: Callable[[], float]
    stats: BatchStats
    row_limit: int = 0

    def serve(self, calls: Sequence[Call]) -> None:
        """Answer every call; those with equal ports, shapes and dtypes share batches."""
        for members in self._partition(calls):
            size = self._batch_size(len(members))
            for start in range(0, len(members), size):
                chunk = self._still_wanted(members[start : start + size])
                if chunk:
                    self._serve_batch(chunk)

    def _still_wanted(self, members: Sequence[Member]) -> List[Member]:
        for call, _ in members:
            if call.is_dropped:
                self._answer(call, CancelledCallError.of(call), [])
        return [member for member in members if not member[0].is_dropped]

    def _partition(self, calls: Sequence[Call]) -> Iterator[List[Member]]:
        parts: Dict[Signature, List[Member]] = {}
        for call in calls:
            try:
                row = check_inputs(self.tool, call.inputs)
            except PortError as error:
                self._answer(call, error, [])
                continue
            parts.setdefault(sign(self.tool, row), []).append((call, row))
        yield from parts.values()

    def _batch_size(self, waiting: int) -> int:
        bounds = (self.row_limit, self.tool.max_batch, self.tool.pad_batch, waiting)
        return min(bound for bound in bounds if bound)

    def _serve_batch(self, members: Sequence[Member], *, is_rerun: bool = False) -> None:
        """Run the handler; where it raises run it on halves, until the failing rows stand alone."""
        contexts = [call.make_context() for call, _ in members]
        failure: Optional[BaseException] = None
        result: Any = None
        try:
            result = self._run(members, contexts, is_rerun)
        except (Exception, SystemExit) as error:  # noqa: BLE001  the author's code
            failure = error
        if failure is not None:  # not in the handler above: the halves' errors would chain
            self._isolate(members, failure, contexts)
            return
        size = self.tool.pad_batch or len(members)
        outcomes: Sequence[Any]
        try:
            outcomes = split(self.tool, result, size, count=len(members))
        except NodeSetError as error:
            outcomes = [error] * len(members)
        for (call, _), outcome, context in zip(members, outcomes, contexts):
            self._answer(call, outcome, context.logs)

    def _isolate(
        self, members: Sequence[Member], error: BaseException, contexts: Sequence[Context]
    ) -> None:
        if len(members) == 1:
            where = f"{self.tool.node_type}.forward"
            call = members[0][0]
            self._answer(call, author_error(error, where), contexts[0].logs)
            return
        middle = len(members) // 2
        self._serve_batch(members[:middle], is_rerun=True)
        self._serve_batch(members[middle:], is_rerun=True)

    def _answer(self, call: Call, outcome: Outcome, logs: Logs) -> None:
        call.finish(outcome, logs, self.clock())

    def _run(self, members: Sequence[Member], contexts: Sequence[Context], is_rerun: bool) -> Any:
        started = self.clock()
        padding = max(self.tool.pad_batch - len(members), 0)
        rows = [row for _, row in members] + [members[0][1]] * padding
        all_contexts = list(contexts) + [members[0][0].make_context() for _ in range(padding)]
        inputs = stack(self.tool, rows)
        try:
            return self.forward(self.tool, inputs, BatchContext(contexts[0].config, all_contexts))
        finally:
            self.stats.handler_s += self.clock() - started
            if is_rerun:
                self.stats.reruns += 1
            else:
                self.stats.wait_s += sum(started - call.arrived_at for call, _ in members)
                self.stats.count(len(members), self._places(len(members)))

    def _places(self, rows: int) -> int:
        return self.tool.pad_batch or self.row_limit or self.tool.max_batch or rows
