"""Serve calls by as few calls of a batched handler as the tool allows, each call its own outcome.

Knows nothing of queues, of threads or of why the calls are served now.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, Iterator, List, Sequence, Tuple

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

    `reruns` are the handler's runs on parts of a batch that failed; only `handler_s` has them too.
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
            "places": self.places,
            "reruns": self.reruns,
            "fill": self.rows / self.places if self.places else 0.0,
            "histogram": {str(size): histogram[size] for size in sorted(histogram)},
            "flushes": dict(self.flushes),
            "wait_s": self.wait_s,
            "handler_s": self.handler_s,
        }


@dataclass(frozen=True)
class _Raised:
    """Stands in the place of a handler's result."""

    error: NodeSetError


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

    def _serve_batch(self, members: Sequence[Member]) -> None:
        for (call, _), (outcome, logs) in zip(members, self._run_parts(members)):
            self._answer(call, outcome, logs)

    def _run_parts(
        self, members: Sequence[Member], *, is_rerun: bool = False
    ) -> Iterator[Tuple[Outcome, Logs]]:
        """Yield each row's outcome; run on halves what fails, until the failing rows stand alone.

        A batch fails by what it raises, or by a result in which no row is well; after such a result
        all rows have failed if each is well alone. From the first row that is well, each is
        yielded before the next is looked at.
        """
        contexts = [call.make_context() for call, _ in members]
        result = self._run(members, contexts, is_rerun)
        outcomes = zip(self._split(result, len(members)), [context.logs for context in contexts])
        held: List[Tuple[Outcome, Logs]] = []
        for outcome, logs in outcomes:
            held.append((outcome, logs))
            if not _is_error(outcome):
                yield from held
                yield from outcomes
                return
        yield from self._rerun_halves(members, held, result)

    def _rerun_halves(
        self, members: Sequence[Member], together: List[Tuple[Outcome, Logs]], result: Any
    ) -> List[Tuple[Outcome, Logs]]:
        """Return the outcomes of a batch in which no row is well."""
        if len(members) == 1:
            return together
        middle = len(members) // 2
        apart = list(self._run_parts(members[:middle], is_rerun=True))
        apart += self._run_parts(members[middle:], is_rerun=True)
        if isinstance(result, _Raised) or any(_is_error(outcome) for outcome, _ in apart):
            return apart
        return together

    def _split(self, result: Any, count: int) -> Iterable[Outcome]:
        if isinstance(result, _Raised):
            return [result.error] * count
        try:
            return split(self.tool, result, self.tool.pad_batch or count, count=count)
        except NodeSetError as error:
            return [error] * count

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
        except (Exception, SystemExit) as error:  # noqa: BLE001  the author's code
            return _Raised(author_error(error, f"{self.tool.node_type}.forward"))
        finally:
            self.stats.handler_s += self.clock() - started
            if is_rerun:
                self.stats.reruns += 1
            else:
                self.stats.wait_s += sum(started - call.arrived_at for call, _ in members)
                self.stats.count(len(members), self._places(len(members)))

    def _places(self, rows: int) -> int:
        return self.tool.pad_batch or self.row_limit or self.tool.max_batch or rows


def _is_error(outcome: Outcome) -> bool:
    return isinstance(outcome, NodeSetError)
