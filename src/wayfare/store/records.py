"""Say what a run is made of: its header, its episodes and their attempts.

Knows nothing of files; what may be left out has a default, unknown fields are refused.
"""

from __future__ import annotations

import functools
from dataclasses import field
from typing import Any, Literal
from urllib.parse import quote

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

Outcome = Literal["completed", "truncated", "error"]
OUTCOMES: tuple[Outcome, ...] = ("completed", "truncated", "error")

ErrorKind = Literal[
    "author",
    "port",
    "contract",
    "wire",
    "unknown_tool",
    "unavailable",
    "nodeset",
    "rule",
    "infrastructure",
]
Claim = Literal["padded", "bit-stable", "not claimed"]
Metric = bool | int | float

STRICT_FIELDS = ConfigDict(extra="forbid")


@functools.total_ordering
@dataclass(frozen=True, slots=True, config=STRICT_FIELDS)
class EpisodeKey:
    """What tells an episode of a run from all others, over runs too.

    `list_hash` is the hash of the environment's list of episodes (hex). Keys are ordered field by
    field.
    """

    environment: str
    list_hash: str
    split: str
    scene_id: str
    id: str
    repeat: int = 0

    @property
    def parts(self) -> tuple[str, str, str, str, str, int]:
        """The fields in their order, as digests, seeds and sorting take them."""
        return (
            self.environment,
            self.list_hash,
            self.split,
            self.scene_id,
            self.id,
            self.repeat,
        )

    @property
    def text(self) -> str:
        """The key for people: `environment@hash/split/scene/id/repeat`, percent-quoted."""
        environment = quote(self.environment, safe="")
        rest = (self.split, self.scene_id, self.id, str(self.repeat))
        quoted = "/".join(quote(part, safe="") for part in rest)
        return f"{environment}@{self.list_hash[:8]}/{quoted}"

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, EpisodeKey):
            return NotImplemented
        return self.parts < other.parts


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class PlannedEpisode:
    """One entry of a run's fixed list. `index` counts in the environment's list of the split."""

    key: EpisodeKey
    index: int
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class ErrorRecord:
    """What ended an attempt.

    `node` and `turns` name the failing firing, `call` what was in flight when a copy ended.
    `exit_status` is the copy's; below 0 it is minus the number of the signal that ended it.
    """

    kind: ErrorKind
    type: str
    message: str
    node: str = ""
    turns: tuple[int, ...] = ()
    traceback: str = ""
    exit_status: int | None = None
    call: str = ""
    log_tail: str = ""

    @property
    def is_final(self) -> bool:
        """Whether the same would happen again; only faults of infrastructure are tried again."""
        return self.kind != "infrastructure"


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class Attempt:
    """One try at an episode; times are seconds since the run began."""

    number: int
    worker: int
    started_seconds: float
    ended_seconds: float
    error: ErrorRecord | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class EpisodeRecord:
    """One finished episode: how it ended, all attempts at it, what it measured.

    `worker`, `steps`, `seconds`, `metrics`, `undefined` and `digest` are the final attempt's. An
    `error` episode has no metrics. `step_budget` is the one that held; None: there was none.
    """

    key: EpisodeKey
    index: int
    outcome: Outcome
    worker: int
    group: str = ""
    attempts: tuple[Attempt, ...] = ()
    steps: int = 0
    seconds: float = 0.0
    step_budget: int | None = None
    metrics: dict[str, Metric] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)
    digest: str = ""
    error: ErrorRecord | None = None

    @property
    def episode_id(self) -> str:
        """The episode's id within its scene and split."""
        return self.key.id

    @property
    def scene_id(self) -> str:
        """The scene that the episode takes place in."""
        return self.key.scene_id

    @property
    def is_final(self) -> bool:
        """Whether a resumed run keeps the episode as it is."""
        return self.error is None or self.error.is_final


@dataclass(frozen=True, slots=True)
class Firing:
    """One firing of a node in an episode; `digest` is 16 bytes long."""

    path: str
    turns: tuple[int, ...]
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class NodesetRecord:
    """What a nodeset was in a run. `threads` is None where the deployment left all cores to it."""

    class_name: str
    file: str
    source_hash: str
    parallelism: Literal["replicated", "shared"]
    config: dict[str, Any] = field(default_factory=dict)
    python: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    environment: str = ""
    """The hash of what its environment was locked to, if its file has a script header."""
    threads: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class SubmissionRecord:
    """What an environment's leaderboard takes: the format's name, the ports that give its poses.

    `nodeset` is the environment's name in the graph, `poses` are TOOL.PORT. `keeps_all`: of each
    episode poses are kept, if only none; older runs kept nothing of one that had none.
    """

    nodeset: str
    format: str
    poses: tuple[str, ...]
    keeps_all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class RunHeader:
    """What a run is about to do; fixed before its first episode.

    `RunWriter.create` fills in `run_id`. `created` is a time in UTC (ISO 8601). `overrides` is
    what `--set` changed, `settings` the other options that the run was given, `claims` what each
    batched tool says of its bits, `versions` those of wayfare, nodeset, python, numpy and platform,
    `metrics` the names that the environment declares, `metric_definitions` what it says of them.
    """

    created: str
    graph: dict[str, Any]
    graph_hash: str
    graph_name: str
    seed: int
    worker_count: int
    split: str
    episodes: tuple[PlannedEpisode, ...]
    episodes_hash: str
    run_id: str = ""
    repeats: int = 1
    selection: str = ""
    overrides: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    nodesets: dict[str, NodesetRecord] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    claims: dict[str, Claim] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    metric_definitions: dict[str, dict[str, Any]] = field(default_factory=dict)
    submission: SubmissionRecord | None = None
