"""What a check comes to: properties with a verdict each, and the counter-example of one that fails.

Knows nothing of how they are found or shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from nodeset.errors import NodeSetError

Verdict = Literal["pass", "fail", "warning", "hint", "not applicable"]
Result = Literal["pass", "fail"]


class FaultyCodeError(NodeSetError):
    """The author's code raised where it may not; the check can't go on.

    `traceback_text` is the author's traceback.
    """

    def __init__(self, message: str, traceback_text: str = "") -> None:
        super().__init__(message)
        self.traceback_text = traceback_text


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterExample:
    """The smallest that was found: what was done, where two values part, and what that means.

    `calls` in their order, the last one gave `b` where `a` was due; `place` is the first element
    that differs, "" for the whole value.
    """

    tool: str
    meaning: str
    cause: str
    port: str = ""
    place: str = ""
    a: str = ""
    b: str = ""
    note: str = ""
    calls: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    """Paths of what the nodeset keeps and the calls changed, with the values before and after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One property: its verdict, and in `says` what that rests on or why it does not apply."""

    name: str
    verdict: Verdict
    says: str
    examples: tuple[CounterExample, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCheck:
    """What was measured of one tool.

    `claim` is what an evaluation's report says of its bits; None: it is not batched or not shared.
    `largest_difference` is between a row alone and in a batch; None: not measured.
    """

    name: str
    calls: int
    volatile: tuple[str, ...] = ()
    claim: str | None = None
    pad_batch: int = 0
    batch_tolerance: float = 0.0
    largest_difference: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesetCheck:
    """What the check of one nodeset came to."""

    name: str
    parallelism: str
    file: str
    python: str
    threads: str
    config: Mapping[str, Any]
    inputs: tuple[str, ...]
    """Where the inputs come from."""
    copies: int
    hash_seeds: tuple[int, ...]
    tools: tuple[ToolCheck, ...]
    properties: tuple[Property, ...]
    kind: str = field(default="nodeset", init=False)

    @property
    def result(self) -> Result:
        """Return whether no property fails."""
        return judge(self.properties)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way in which the episodes of a graph were run."""

    name: str
    worker_count: int
    launcher: str
    order: str
    digest: str
    is_equal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCheck:
    """What the check of one graph came to."""

    name: str
    episodes: int
    claimed: bool
    unclaimed: tuple[str, ...]
    threads: Mapping[str, str]
    variants: tuple[Variant, ...]
    properties: tuple[Property, ...]
    kind: str = field(default="graph", init=False)

    @property
    def result(self) -> Result:
        """Return whether no property fails."""
        return judge(self.properties)


def judge(properties: Iterable[Property]) -> Result:
    """Return `fail` if one property does."""
    return "fail" if any(found.verdict == "fail" for found in properties) else "pass"


def check_document(check: NodesetCheck | GraphCheck) -> dict[str, Any]:
    """Return what `wayfare check --json` prints."""
    return {"result": check.result, **asdict(check)}


def conclude(
    name: str, examples: Sequence[CounterExample], says: str, *, verdict: Verdict = "fail"
) -> Property:
    """Return a property that passes as `says` describes, or has counter-examples."""
    if not examples:
        return Property(name=name, verdict="pass", says=says)
    tools = ", ".join(dict.fromkeys(example.tool for example in examples))
    return Property(name=name, verdict=verdict, says=f"see {tools}", examples=tuple(examples))
