"""Say what a run comes to: the document that `wayfare eval --json` prints.

Knows nothing of how its numbers are made.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from pydantic.dataclasses import dataclass

from wayfare.store.records import STRICT_FIELDS

RunStatus = Literal["done", "incomplete", "failed", "uncertified"]
"""`uncertified`: every episode ended, but what stands on the disk does not prove it."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class EpisodeCounts:
    """How many episodes a run has and how they ended.

    `attempts` counts all tries at them, `retried` the finished ones that took more than one.
    """

    total: int
    completed: int = 0
    truncated: int = 0
    error: int = 0
    attempts: int = 0
    retried: int = 0

    @property
    def finished(self) -> int:
        """Episodes that ended, however."""
        return self.completed + self.truncated + self.error


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class Coverage:
    """Whether the run's records prove that each episode of its fixed list counts exactly once.

    `list_hash` is the hash of the list (hex), made anew from its keys. `problems` says what stands
    against the proof; where only `missing` episodes do, the run is not at its end.
    """

    certified: bool
    list_hash: str
    episodes: int
    recorded: int
    missing: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class ClusterSummary:
    """A metric over groups or scenes, `count` of which have a value.

    `macro_mean` is the mean of their means, each weighing the same, with its interval; `ci_low`
    and `ci_high` are those of the mean over episodes if these units, not episodes, were sampled.
    """

    count: int
    macro_mean: float
    macro_ci_low: float | None
    macro_ci_high: float | None
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class RepeatSummary:
    """How a metric varies between episodes, and within one from repeat to repeat.

    `means` has the mean of each repeat. `standard_error` is that of the mean if the episodes are a
    sample, `standard_error_rerun` if the same ones were run again with other seeds.
    """

    repeats: int
    episodes: int
    means: tuple[float | None, ...]
    variance_between: float
    variance_within: float
    icc: float | None
    standard_error: float
    standard_error_rerun: float


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class MetricSummary:
    """A metric over the episodes in which it is defined; `undefined` counts the others by reason.

    `mean` is None where n is 0; the interval's ends are None where it can't be estimated.
    `errors_as_failures` is a BOOL's share if `error` episodes count as failures; None: no errors.
    `clusters` are by `group` and by `scene`, where there are such; `repeats` where there are.
    `definition` is what the environment says of the metric: kind of distance, threshold, source.
    """

    n: int
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    undefined: dict[str, int] = field(default_factory=dict)
    interval: Literal["wilson", "bootstrap"] | None = None
    errors_as_failures: float | None = None
    clusters: dict[str, ClusterSummary] = field(default_factory=dict)
    repeats: RepeatSummary | None = None
    definition: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class Invariance:
    """Whether the run claims that its worker count changes nothing; `tools` forbid the claim."""

    claimed: bool
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class CopyReport:
    """One copy's counters at the end of a run; `workers` are those whose calls it served.

    `restarts` counts deaths, `recycled` how often it had served for long enough. Of a run that went
    on they are sums over its parts, and `pid` is the last one's.
    """

    tag: str
    pid: int
    workers: tuple[int, ...] = ()
    calls: int = 0
    preflights: int = 0
    restarts: int = 0
    recycled: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class ToolBatches:
    """What the handler of a batched tool was given; `mean_batch` is rows per batch.

    `places` are the rows that would have found room, `histogram` counts batches by their rows,
    `flushes` by why they were served, `reruns` the further runs on parts of batches that failed.
    `wait_s` is what the rows waited, summed; only `handler_s` has the reruns too.
    """

    rows: int
    batches: int
    mean_batch: float
    places: int
    histogram: dict[str, int]
    flushes: dict[str, int]
    reruns: int = 0
    wait_s: float = 0.0
    handler_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class ShutdownReport:
    """A copy that did not shut down as it should; no result depends on it.

    `traceback` is the author's; where that of another copy is the same, only the first has it.
    """

    tag: str
    reason: str
    traceback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class NodesetReport:
    """A nodeset's copies and its batches; `mean_batch` is rows per batch, None without any.

    `tools` are the batched ones that were called. What is said of batches leaves `uncounted_copies`
    out: they died, or did not answer, before they had said what they had served.
    """

    parallelism: Literal["replicated", "shared"]
    copies: tuple[CopyReport, ...] = ()
    batches: int = 0
    mean_batch: float | None = None
    flushes: dict[str, int] = field(default_factory=dict)
    tools: dict[str, ToolBatches] = field(default_factory=dict)
    shutdown_faults: tuple[ShutdownReport, ...] = ()
    uncounted_copies: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class FailedVideo:
    """A video that could not be made, and why; its episode counts like any other."""

    key: str
    node: str
    port: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class RecordingReport:
    """What a run recorded; `only` says of which episodes, "" of all."""

    mode: str
    only: str = ""
    videos: int = 0
    failed: tuple[FailedVideo, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class RunSummary:
    """A run in short: what `wayfare eval --json` prints.

    `nodesets` sums up over the parts of a run that went on, but for `uncounted_parts`: they were
    killed or are under way, so that nobody has their counters.
    """

    run_id: str
    status: RunStatus
    worker_count: int
    elapsed_s: float
    episodes: EpisodeCounts
    metrics: dict[str, MetricSummary]
    digest: str
    invariance: Invariance
    nodesets: dict[str, NodesetReport]
    out: str
    coverage: Coverage | None = None
    uncounted_parts: int = 0
    recording: RecordingReport = field(default_factory=lambda: RecordingReport(mode="none"))
