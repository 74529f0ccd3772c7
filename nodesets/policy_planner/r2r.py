"""Agents that calibrate Room-to-Room: shortest-path oracle, reference path, random, and stop.

Knows nothing of episodes in progress: what an agent remembers comes in and goes out by its ports.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from nodeset import BaseCanvasNode, BatchContext, Context, PortDef, Settings

from ..env_r2r.dataset import find_data_folder
from ..env_r2r.navigation import GraphStore, NavigationGraph
from ..env_r2r.state import STOP

MOVES = 5
MAX_TURNS = 11
ROUTES = ("path", "start", "but_last", "there_and_back")
STOP_IN_VIEW = (0, 0, 0)
_FORWARD, _RIGHT = (1, 0, 0), (0, 1, 0)

_CANDIDATES = PortDef("candidates", "JSON", "the neighbours, as the panorama lists them")
_CHOICE = PortDef("action", "INT", "a candidate's index, or -1: stop")
_NAVIGABLE = PortDef("navigable", "JSON", "the current place, then the neighbours in view")
_TRIPLE = PortDef("action", "ACTION", "(index, turn right, look up); (0, 0, 0): stop")


class R2ROracle(BaseCanvasNode):
    """Take the shortest way to the goal (Dijkstra), the earlier viewpoint where two are equal."""

    node_type = "policy_planner__r2r_oracle"
    display_name = "R2R shortest-path oracle"
    category = "policy"
    batched = True
    batch_dim = "viewpoint"
    input_ports = [
        PortDef("scan", "TEXT"),
        PortDef("viewpoint", "TEXT", "where the agent is"),
        PortDef("goal", "TEXT", "the viewpoint to reach"),
        _CANDIDATES,
    ]
    output_ports = [_CHOICE]
    default_config = {"data_dir": ""}

    def __init__(self) -> None:
        self._stores: dict[str, GraphStore] = {}

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        settings = Settings(ctx.config, self.node_type)
        store = self._store(settings.path("data_dir", may_be_empty=True))
        rows = zip(inputs["scan"], inputs["viewpoint"], inputs["goal"])
        wanted = [next_on_way(store.graph(scan), here, goal) for scan, here, goal in rows]
        return {"action": [choose_candidate(*row) for row in zip(inputs["candidates"], wanted)]}

    def _store(self, data_dir: str) -> GraphStore:
        store = self._stores.get(data_dir)
        if store is None:
            folder = find_data_folder(data_dir) / "connectivity"
            store = self._stores[data_dir] = GraphStore(folder)
        return store


class R2RReference(BaseCanvasNode):
    """Follow the reference path from viewpoint to viewpoint, one per turn, and stop at its end.

    `route` makes other agents of it whose scores can be told beforehand: `start` stops at once,
    `but_last` leaves the last viewpoint out, `there_and_back` returns to the start.
    """

    node_type = "policy_planner__r2r_reference"
    display_name = "R2R reference path"
    category = "policy"
    batched = True
    batch_dim = "viewpoint"
    input_ports = [
        PortDef("path", "LIST[TEXT]", "the viewpoints to visit, start first"),
        PortDef("step", "INT", "turns taken so far"),
        PortDef("viewpoint", "TEXT", "where the agent is"),
        _CANDIDATES,
    ]
    output_ports = [_CHOICE]
    default_config = {"route": "path"}

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        route = Settings(ctx.config, self.node_type).choice("route", ROUTES)
        routes = [plan_route(path, route) for path in inputs["path"]]
        wanted = [_next_on_path(*row) for row in zip(routes, inputs["step"], inputs["viewpoint"])]
        return {"action": [choose_candidate(*row) for row in zip(inputs["candidates"], wanted)]}


class R2RStop(BaseCanvasNode):
    """Stop at once, at the start."""

    node_type = "policy_planner__r2r_stop"
    display_name = "R2R stop agent"
    category = "policy"
    batched = True
    batch_dim = "navigable"
    input_ports = [_NAVIGABLE]
    output_ports = [_TRIPLE]

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        return {"action": [list(STOP_IN_VIEW) for _ in inputs["navigable"]]}


class R2RRandom(BaseCanvasNode):
    """Turn right 0 to 11 times, then go forward five times, turning right where nobody is in view.

    The random agent of Anderson et al., CVPR 2018. `turns` fixes the first turns; without it they
    are drawn in an episode's first call, which is the one whose memory is absent or empty.
    """

    node_type = "policy_planner__r2r_random"
    display_name = "R2R random agent"
    category = "policy"
    batched = True
    batch_dim = "navigable"
    input_ports = [
        _NAVIGABLE,
        PortDef("memory", "JSON", "what the last call gave", optional=True),
    ]
    output_ports = [_TRIPLE, PortDef("memory", "JSON", "turns_left and moves")]
    default_config = {"turns": None}

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        settings = Settings(ctx.config, self.node_type)
        turns = settings.whole("turns", 0, MAX_TURNS) if settings.is_given("turns") else None
        navigable = inputs["navigable"]
        memories = inputs.get("memory") or [None] * len(navigable)
        actions, remembered = [], []
        for sights, memory, row in zip(navigable, memories, ctx.rows):
            action, kept = wander(sights, memory or _first_memory(turns, row))
            actions.append(list(action))
            remembered.append(kept)
        return {"action": actions, "memory": remembered}


TOOLS: list[type[BaseCanvasNode]] = [R2ROracle, R2RReference, R2RStop, R2RRandom]


def next_on_way(graph: NavigationGraph, viewpoint: str, goal: str) -> str | None:
    """Return the next viewpoint to go to; none at the goal, or where no way leads there."""
    next_hop = graph.ways_to(graph.index(goal)).next_hop[graph.index(viewpoint)]
    return None if next_hop < 0 else graph.viewpoints[next_hop]


def plan_route(path: Sequence[str], route: str) -> list[str]:
    """Return the viewpoints that a reference agent visits; raises ValueError for no route."""
    whole = list(path)
    routes = {
        "path": whole,
        "start": whole[:1],
        "but_last": whole[:-1] or whole,
        "there_and_back": whole + whole[-2::-1],
    }
    if route not in routes:
        raise ValueError(f"route is {route!r}; it must be one of {', '.join(routes)}")
    return routes[route]


def _next_on_path(path: Sequence[str], step: int, viewpoint: str) -> str | None:
    if not 0 <= step < len(path) or path[step] != viewpoint:
        raise ValueError(
            f"the agent is at {viewpoint!r} in turn {step}, which is not where the reference path "
            f"{list(path)!r} is then; 'step' must count the turns since the start"
        )
    return None if step + 1 == len(path) else path[step + 1]


def choose_candidate(candidates: Sequence[Any], viewpoint: str | None) -> int:
    """Return the index of the candidate at `viewpoint`, or stop where that is none."""
    if viewpoint is None:
        return STOP
    names = [candidate["viewpoint"] for candidate in candidates]
    if viewpoint not in names:
        raise ValueError(f"viewpoint {viewpoint!r} is next, but the candidates are {names!r}")
    return names.index(viewpoint)


def wander(
    sights: Sequence[Any], memory: Mapping[str, int]
) -> tuple[tuple[int, int, int], dict[str, int]]:
    """Return the random agent's action and memory; `sights` holds the current place first."""
    turns_left, moves = memory["turns_left"], memory["moves"]
    if moves >= MOVES:
        return STOP_IN_VIEW, {"turns_left": 0, "moves": moves}
    if turns_left > 0:
        return _RIGHT, {"turns_left": turns_left - 1, "moves": moves}
    if len(sights) > 1:
        return _FORWARD, {"turns_left": 0, "moves": moves + 1}
    return _RIGHT, {"turns_left": 0, "moves": moves}


def _first_memory(turns: int | None, row: Context) -> dict[str, int]:
    drawn = int(row.rng.integers(0, MAX_TURNS + 1)) if turns is None else turns
    return {"turns_left": drawn, "moves": 0}
