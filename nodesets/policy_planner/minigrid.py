"""Plan the next action in Minigrid's grid: explore, fetch keys, open doors, reach the goal.

Knows Minigrid's encoding of a grid, but neither Minigrid itself nor what happened before: the map
that was built so far comes in by the ports and goes out by them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Callable, Iterator, NamedTuple

import numpy as np
import numpy.typing as npt

from nodeset import BaseCanvasNode, PortDef, Settings

Cells = npt.NDArray[np.uint8]

# Minigrid encodes a cell as (object, colour, state); a door's state is open, closed or locked.
UNSEEN, EMPTY, WALL, FLOOR, DOOR, KEY, BALL, BOX, GOAL, LAVA, AGENT = range(11)
DOOR_OPEN, DOOR_CLOSED, DOOR_LOCKED = range(3)
# Ours is one byte, object + 16 * colour. An open door is as good as an empty cell; a locked one
# has an object number of its own.
LOCKED_DOOR = 11
MAX_MAP_SIZE = 1023
COLOUR_SHIFT = 4
OBJECT_MASK = 15

LEFT, RIGHT, FORWARD, PICK_UP, _DROP, TOGGLE, DONE = range(7)
# By Minigrid's direction: 0 right, 1 down, 2 left, 3 up, where y grows downwards.
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))


class Pose(NamedTuple):
    x: int
    y: int
    direction: int

    def front(self) -> tuple[int, int]:
        dx, dy = STEPS[self.direction]
        return self.x + dx, self.y + dy


@dataclass(frozen=True)
class Memory:
    """What the agent knows: the map seen so far, its cell on it, and what it holds (0: nothing)."""

    cells: Cells
    x: int
    y: int
    carrying: int = 0


def start_memory(map_size: int) -> Memory:
    """Return an empty map with the agent at its centre, since where it starts is not observed."""
    return Memory(np.zeros((map_size, map_size), np.uint8), map_size // 2, map_size // 2)


def plan(image: Cells, direction: int, memory: Memory) -> tuple[int, Memory]:
    """Choose an action and return it with the memory that holds once it has been carried out.

    `image` is either Minigrid's egocentric view (view, view, 3), indexed [x, y], with the agent at
    the middle of its last row, looking along falling y; or the whole grid of `FullyObsWrapper`,
    told by the agent that stands in it.
    """
    memory = observe(image, direction, memory)
    pose = Pose(memory.x, memory.y, direction)
    action = choose_action(Chart(memory.cells.tolist(), memory.carrying), pose)
    return action, foresee(action, pose, memory)


def observe(image: Cells, direction: int, memory: Memory) -> Memory:
    agent = np.argwhere(image[:, :, 0] == AGENT)
    if len(agent):
        cells = encode(image)
        x, y = int(agent[0][0]), int(agent[0][1])
        cells[x, y] = EMPTY
        return Memory(cells, x, y, memory.carrying)
    return observe_view(encode(image), direction, memory)


def observe_view(view: Cells, direction: int, memory: Memory) -> Memory:
    """Write an egocentric view into the map; the agent's own cell shows what it carries."""
    width, depth = view.shape
    own = int(view[width // 2, depth - 1])
    right = np.arange(width)[:, None] - width // 2
    down = np.arange(depth)[None, :] - (depth - 1)
    (ahead_x, ahead_y), (right_x, right_y) = STEPS[direction], STEPS[(direction + 1) % 4]
    x = memory.x + right * right_x - down * ahead_x
    y = memory.y + right * right_y - down * ahead_y
    size_x, size_y = memory.cells.shape
    seen = (view != UNSEEN) & (x >= 0) & (x < size_x) & (y >= 0) & (y < size_y)
    cells = memory.cells.copy()
    cells[x[seen], y[seen]] = view[seen]
    cells[memory.x, memory.y] = EMPTY
    return Memory(cells, memory.x, memory.y, 0 if own == EMPTY else own)


def encode(image: Cells) -> Cells:
    """Turn Minigrid's (w, h, 3) encoding into one byte per cell."""
    kind, colour, state = (image[:, :, channel] for channel in range(3))
    is_door = kind == DOOR
    kind = np.where(is_door & (state == DOOR_LOCKED), LOCKED_DOOR, kind)
    cells = kind + (colour << COLOUR_SHIFT)
    cells = np.where(is_door & (state == DOOR_OPEN), EMPTY, cells)
    return np.where((kind == UNSEEN) | (kind == EMPTY), kind, cells).astype(np.uint8)


class Chart(NamedTuple):
    """The map as nested lists, which a search reads faster than an array, and the agent's load."""

    rows: list[list[int]]
    carrying: int

    def cell(self, place: tuple[int, int]) -> int:
        """Return the cell at `place`; beyond the map there is wall."""
        x, y = place
        is_inside = 0 <= x < len(self.rows) and 0 <= y < len(self.rows[0])
        return self.rows[x][y] if is_inside else WALL


class Purpose(NamedTuple):
    """What must be in front of the agent, and the action to take when it is."""

    is_met_by: Callable[[int], bool]
    action: int


def choose_action(chart: Chart, pose: Pose) -> int:
    """Pursue the first purpose that can be: the goal, a key for a locked door, an unseen cell."""
    for purpose in purposes(chart):
        action = first_action(chart, pose, purpose)
        if action is not None:
            return action
    return DONE


def purposes(chart: Chart) -> Iterator[Purpose]:
    """Yield what the agent is after, most urgent first."""
    yield Purpose(lambda cell: cell & OBJECT_MASK == GOAL, FORWARD)
    keys = wanted_keys(chart)
    if keys and not chart.carrying:
        yield Purpose(keys.__contains__, PICK_UP)
    yield Purpose(lambda cell: cell == UNSEEN, DONE)
    if not chart.carrying:  # what can be carried may stand in the only way
        yield Purpose(lambda cell: cell & OBJECT_MASK in (KEY, BALL, BOX), PICK_UP)


def wanted_keys(chart: Chart) -> list[int]:
    known = set().union(*chart.rows)
    return [cell - LOCKED_DOOR + KEY for cell in known if cell & OBJECT_MASK == LOCKED_DOOR]


def first_action(chart: Chart, start: Pose, purpose: Purpose) -> int | None:
    """Search poses, nearest first, for one that faces what is wanted; None if there is none.

    Ties are broken by the order left, right, forward, so equal knowledge gives equal actions.
    """
    first: dict[Pose, int] = {start: purpose.action}
    queue = deque([start])
    while queue:
        pose = queue.popleft()
        if purpose.is_met_by(chart.cell(pose.front())):
            return first[pose]
        for action, after in moves(chart, pose):
            if after not in first:
                first[after] = action if pose == start else first[pose]
                queue.append(after)
    return None


def moves(chart: Chart, pose: Pose) -> Iterator[tuple[int, Pose]]:
    x, y, direction = pose
    yield LEFT, Pose(x, y, (direction + 3) % 4)
    yield RIGHT, Pose(x, y, (direction + 1) % 4)
    front = pose.front()
    entry = entry_action(chart.cell(front), chart.carrying)
    if entry is not None:
        yield entry, Pose(*front, direction)


def entry_action(cell: int, carrying: int) -> int | None:
    """Return the action that brings the agent nearer to standing on this cell, if one does."""
    kind = cell & OBJECT_MASK
    if kind in (EMPTY, FLOOR, GOAL):
        return FORWARD
    if kind == DOOR or (kind == LOCKED_DOOR and carrying == cell - LOCKED_DOOR + KEY):
        return TOGGLE
    return None


def foresee(action: int, pose: Pose, memory: Memory) -> Memory:
    """Return the memory after an action that the map says will succeed."""
    x, y = pose.front()
    if action == FORWARD:
        return Memory(memory.cells, x, y, memory.carrying)
    if action == PICK_UP:
        return Memory(memory.cells, memory.x, memory.y, int(memory.cells[x, y]))
    return memory


class MinigridAction(BaseCanvasNode):
    node_type = "policy_planner__minigrid_action"
    display_name = "Minigrid planner"
    description = (
        "Reach Minigrid's goal: shortest path on the map seen so far, else fetch the key of a "
        "locked door, else look at the nearest unseen cell. Solves Empty, FourRooms, DoorKey, "
        "MultiRoom, LavaGap and the Crossings, from the partial view as from the whole grid. Wire "
        "`map` and `body` from one turn to the next."
    )
    category = "policy"
    input_ports = (
        PortDef(
            "image", "IMAGE", "the encoded grid: the agent's view, or all of it (FullyObsWrapper)"
        ),
        PortDef("direction", "INT", "0 right, 1 down, 2 left, 3 up"),
        PortDef("map", "ARRAY", "the map of the turn before; absent in the first", optional=True),
        PortDef("body", "JSON", "the agent's cell and load, of the turn before", optional=True),
    )
    output_ports = (
        PortDef("action", "ACTION"),
        PortDef("map", "ARRAY", "uint8 (map_size, map_size): object + 16 * colour, 0 where unseen"),
        PortDef("body", "JSON", "x, y, carrying"),
    )
    default_config = {"map_size": 51}
    batched = True
    batch_dim = "image"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        map_size = Settings(ctx.config, self.node_type).whole("map_size", 1, MAX_MAP_SIZE)
        memories = self._memories(inputs, map_size)
        planned = [
            plan(image, int(direction), memory)
            for image, direction, memory in zip(inputs["image"], inputs["direction"], memories)
        ]
        return {
            "action": [action for action, _ in planned],
            "map": [memory.cells for _, memory in planned],
            "body": [{"x": m.x, "y": m.y, "carrying": m.carrying} for _, m in planned],
        }

    def _memories(self, inputs: dict[str, Any], map_size: int) -> list[Memory]:
        if inputs.get("map") is None or inputs.get("body") is None:
            return [start_memory(map_size) for _ in inputs["image"]]
        return [
            Memory(cells, int(body["x"]), int(body["y"]), int(body["carrying"]))
            for cells, body in zip(inputs["map"], inputs["body"])
        ]


TOOLS = (MinigridAction,)
