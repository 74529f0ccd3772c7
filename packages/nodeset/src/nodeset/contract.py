"""The classes that a nodeset's author derives from or fills in.

Knows nothing of processes, graphs or batching: declarations and what they do by default.
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


class EpisodeController(BaseController):
    """The controller of a nodeset that brings episodes; its author writes `start`.

    Splits and episodes are those of `get_eval_metadata` and `get_episodes`. A class with further
    fields or actions declares them beside these, serves them in `on_field_change` or `on_action`,
    and leaves the rest to `super()`.
    """

    fields: Sequence[Field] = (
        Field("split", "select", "Split"),
        Field("episode_index", "number", "Episode", min=0, step=1),
    )
    actions: Sequence[Action] = (Action("play", "Play"),)
    # Defaults of the class, so that an author's `__init__` need not call this class's.
    episode_index: int = 0
    _split: str = ""
    _episode_count: Optional[int] = None

    @property
    def split(self) -> str:
        """The chosen split; before a choice, the metadata's `default_split`."""
        return self._split or str(self._metadata().get("default_split", ""))

    def start(self, split: str, index: int) -> Any:
        """Begin an episode and return what a person sees, as a dict of passive data.

        In a run `begin_episode` has just begun this very episode: then it must change nothing.
        """
        raise NotImplementedError(f"{type(self).__name__} must define start(split, index)")

    def on_load(self) -> Any:
        """Return the choice."""
        return {"split": self.split, "episode_index": self.episode_index}

    def on_field_change(self, name: str, value: Any) -> Any:
        """Choose an episode, or a split and its first episode; nothing begins before `play`."""
        if name == "split":
            self._choose_split(value)
        elif name == "episode_index":
            self.episode_index = self._checked_index(value)
        else:
            raise ValueError(
                f"{self.nodeset.name}: field {name!r} is unknown to {type(self).__name__}."
                f"on_field_change; declared are {_names(self.fields)}"
            )
        return {"split": self.split, "episode_index": self.episode_index}

    def on_action(self, name: str, params: Mapping[str, Any]) -> Any:
        """Start the chosen episode at `play`."""
        if name != "play":
            raise ValueError(
                f"{self.nodeset.name}: action {name!r} is unknown to {type(self).__name__}."
                f"on_action; declared are {_names(self.actions)}"
            )
        return self.start(self.split, self.episode_index)

    def get_options(self, field: str) -> Any:
        """Return the splits."""
        return list(self._metadata().get("splits", ())) if field == "split" else []

    def _metadata(self) -> Mapping[str, Any]:
        return self.nodeset.get_eval_metadata() or {}

    def _choose_split(self, value: Any) -> None:
        if value != self.split:
            splits = self._metadata().get("splits", ())
            if value not in splits:
                rule = f"choose one of {', '.join(splits) or 'none'}"
                raise ValueError(f"{self.nodeset.name}: split {value!r} does not exist; {rule}")
            self.episode_index, self._episode_count = 0, None
        self._split = value

    def _checked_index(self, value: Any) -> int:
        """Return `value` if it is an episode's; the episodes of a split are counted once."""
        if self._episode_count is None:
            self._episode_count = len(list(self.nodeset.get_episodes(self.split)))
        count = self._episode_count
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count:
            return value
        rule = f"has the episodes 0 to {count - 1}; choose one by its whole number"
        if not count:
            rule = "has no episodes; choose another split"
        raise ValueError(
            f"{self.nodeset.name}: episode_index {value!r} does not exist; split {self.split!r} "
            f"{rule}"
        )


def _names(declared: Sequence[Union[Field, Action]]) -> str:
    return ", ".join(item.name for item in declared)


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
