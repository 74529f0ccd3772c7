"""The classes that a nodeset's author derives from or fills in.

Knows nothing of processes, graphs or batching: declarations and their defaults only.
"""

# The arguments of hooks with a default body belong to the author who overrides them.
# ruff: noqa: ARG002
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Sequence, Type, Union

import numpy as np

from nodeset.context import EpisodeContext
from nodeset.ports import PortDef

PARALLELISM_MODES = ("replicated", "shared")
FIELD_KINDS = ("select", "number", "slider", "text")
DEFAULT_BUDGETS: Mapping[str, float] = {
    "initialize": 600.0,
    "first_call": 120.0,
    "call": 30.0,
    "episode": 14400.0,
}


@dataclass(frozen=True)
class Deployment:
    """Where and with what a nodeset's copies run; written as a literal in the class body.

    `python`: a path, a version such as `"3.8"`, or `"conda:NAME"`; none: Wayfare's own or the
    file's inline script metadata. `gpus` may be a fraction. `threads` counts BLAS/OpenMP threads
    (none: 1 for replicated, all cores for shared). `memory_limit` is in bytes. `budgets` are in
    seconds, over the defaults `initialize` 600, `first_call` 120, `call` 30, `episode` 14400; the
    last holds for an attempt at an episode that the nodeset brings.
    """

    python: Optional[str] = None
    env: Mapping[str, str] = field(default_factory=dict)
    gpus: float = 0.0
    cpus: float = 1.0
    threads: Optional[int] = None
    memory_limit: Optional[int] = None
    max_episodes: Optional[int] = None
    budgets: Mapping[str, float] = field(default_factory=dict)

    def budget_seconds(self, name: str) -> float:
        """Return the budget called `name`, in seconds."""
        return float(self.budgets.get(name, DEFAULT_BUDGETS[name]))


@dataclass(frozen=True)
class Episode:
    """One task instance as `get_episodes` lists it.

    `group` is what reports and intervals cluster by, such as the path that three instructions
    share; `info` is passive data: instruction, goal, category and the like.
    """

    id: str
    scene_id: str = ""
    group: str = ""
    step_budget: Optional[int] = None
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Field:
    """One input of a controller; the options of a `select` come from `get_options`."""

    name: str
    kind: str
    label: str = ""
    min: Optional[float] = None
    max: Optional[float] = None
    step: Optional[float] = None


@dataclass(frozen=True)
class Action:
    """One button of a controller."""

    name: str
    label: str = ""


class BaseCanvasNode:
    """A tool: one unit of computation with typed ports.

    A batched tool gets `IMAGE`, `DEPTH`, `POSE` and `ARRAY` stacked on a new leading axis
    (`ACTION` too if the row's value is an array) and every other port as a list, B long, and
    returns the same form. `pad_batch = B` makes the handler always see exactly B rows.
    """

    node_type: ClassVar[str] = ""
    display_name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    category: ClassVar[str] = ""
    input_ports: Sequence[PortDef] = ()
    output_ports: Sequence[PortDef] = ()
    default_config: Mapping[str, Any] = {}
    batched: ClassVar[bool] = False
    batch_dim: ClassVar[str] = ""
    max_batch: ClassVar[int] = 0
    pad_batch: ClassVar[int] = 0
    batch_tolerance: ClassVar[float] = 0.0

    def forward(self, inputs: Dict[str, Any], ctx: Any) -> Any:
        """Return {port: value} for `inputs`; plain or `async`. Called by the copy only."""
        raise NotImplementedError(f"{type(self).__name__} must define forward(inputs, ctx)")


class BaseController:
    """A person's handle on a nodeset; made with it and found at `self.nodeset`.

    Methods may be `async`. The page draws it from `fields` and `actions`.
    """

    fields: Sequence[Field] = ()
    actions: Sequence[Action] = ()
    nodeset: BaseNodeSet

    def on_load(self) -> Any:
        """Return what a person sees first, as a dict of passive data."""
        return {}

    def on_field_change(self, name: str, value: Any) -> Any:
        """Take a field's new value; return what changed, as a dict of passive data."""
        return {}

    def on_action(self, name: str, params: Mapping[str, Any]) -> Any:
        """Perform the action called `name`; return a dict of passive data."""
        return {}

    def get_options(self, field: str) -> Any:
        """Return the list of options of the `select` field called `field`."""
        return []


class BaseNodeSet:
    """A group of tools that load, live and die together in one interpreter.

    `name`, `description`, `parallelism` and `deployment` must be literals: they are read from the
    source text. `config` (over `default_config`) is set before `__init__` runs. A replicated
    nodeset promises that `begin_episode` begins an episode; a shared one that its tools are pure.
    """

    name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    parallelism: ClassVar[str] = "replicated"
    controller: ClassVar[Optional[Type[BaseController]]] = None
    deployment: ClassVar[Deployment] = Deployment()
    default_config: ClassVar[Mapping[str, Any]] = {}
    config: Dict[str, Any]

    def get_tools(self) -> List[BaseCanvasNode]:
        """Return this nodeset's tools; loads no scene, GL context or weights."""
        raise NotImplementedError(f"{type(self).__name__} must define get_tools()")

    def initialize(self) -> None:
        """Load what is heavy: simulator, weights, GL context. Called once per copy."""

    def shutdown(self) -> None:
        """Release what `initialize` took. Called once, on the main thread."""

    def begin_episode(self, episode: EpisodeContext) -> None:
        """Begin `episode`; called on every replicated copy before each attempt."""

    def get_eval_metadata(self) -> Optional[Dict[str, Any]]:
        """Return `splits`, `default_split`, `metrics`, `step_budget`, if it brings episodes."""
        return None

    def get_episodes(self, split: str) -> List[Episode]:
        """Return the episodes of `split` in a fixed order."""
        raise NotImplementedError(
            f"nodeset {self.name!r} has metadata but no get_episodes(split); add it"
        )

    def sample_inputs(self, rng: np.random.Generator) -> Union[Dict[str, Dict[str, Any]], None]:
        """Return {tool: one call's inputs} for checks, or none."""
        return None
