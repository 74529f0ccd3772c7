"""Plan the next action in Minigrid's grid: explore, fetch keys, open doors, reach the goal.

Knows Minigrid's encoding of a grid, but neither Minigrid itself nor what happened before: the map
that was built so far comes in by the ports and goes out by them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np
import numpy.typing as npt

from nodeset import BaseCanvasNode, PortDef

Cells = npt.NDArray[np.uint8]

# Minigrid encodes a cell as (object, colour, state); a door's state is open, closed or locked.
UNSEEN, EMPTY, WALL, FLOOR, DOOR, KEY, BALL, BOX, GOAL, LAVA, AGENT = range(11)
DOOR_OPEN, DOOR_CLOSED, DOOR_LOCKED = range(3)
# Ours is one byte, object + 16 * colour. An open door is as good as an empty cell; a locked one
# has an object number of its own.
LOCKED_DOOR = 11
COLOUR_SHIFT = 4
OBJECT_MASK = 15

LEFT, RIGHT, FORWARD, PICK_UP, _DROP, TOGGLE, DONE = range(7)
# By Minigrid's direction: 0 right, 1 down, 2 left, 3 up, where y grows downwards.
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))


class Pose(NamedTuple):
    x: int
    y: int
    direction: int

    def front(self) -> Tuple[int, int]:
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


def plan(image: Cells, direction: int, memory: Memory) -> Tuple[int, Memory]:
    """Choose an action and return it with the memory that holds once it has been carried out.

    `image` is either Minigrid's egocentric view (view, view, 3), indexed [x, y], with the agent at
    the middle of its last row, looking along falling y; or the whole grid of `FullyObsWrapper`,
    told by the agent that stands in it.
    """
    memory = observe(image, direction, memory)
    pose = Pose(memory.x, memory.y, direction)
    action = choose_action(memory, pose)
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


def choose_action(memory: Memory, pose: Pose) -> int:
    """Pursue the first purpose that can be: the goal, a key for a locked door, an unseen cell."""
    for is_reached, arrival in purposes(memory):
        action = first_action(memory, pose, is_reached, arrival)
        if action is not None:
            return action
    return DONE


def purposes(memory: Memory) -> Iterator[Tuple[Callable[[int], bool], int]]:
    """Yield, most urgent first, what the agent must face and the action to take there."""
    yield (lambda cell: cell & OBJECT_MASK == GOAL), FORWARD
    keys = wanted_keys(memory)
    if keys and not memory.carrying:
        yield keys.__contains__, PICK_UP
    yield (lambda cell: cell == UNSEEN), DONE
    if not memory.carrying:  # what can be carried may stand in the only way
        yield (lambda cell: cell & OBJECT_MASK in (KEY, BALL, BOX)), PICK_UP


def wanted_keys(memory: Memory) -> List[int]:
    known = np.unique(memory.cells)
    locked = known[known & OBJECT_MASK == LOCKED_DOOR]
    return [int(door) - LOCKED_DOOR + KEY for door in locked]


def first_action(
    memory: Memory, start: Pose, is_reached: Callable[[int], bool], arrival: int
) -> Optional[int]:
    """Search poses, nearest first, for one that faces what is wanted; None if there is none.

    Ties are broken by the order left, right, forward, so equal knowledge gives equal actions.
    """
    first: Dict[Pose, int] = {start: arrival}
    queue = deque([start])
    while queue:
        pose = queue.popleft()
        if is_reached(cell_at(memory, pose.front())):
            return first[pose]
        for action, after in moves(memory, pose):
            if after not in first:
                first[after] = action if pose == start else first[pose]
                queue.append(after)
    return None


def moves(memory: Memory, pose: Pose) -> Iterator[Tuple[int, Pose]]:
    yield LEFT, pose._replace(direction=(pose.direction + 3) % 4)
    yield RIGHT, pose._replace(direction=(pose.direction + 1) % 4)
    entry = entry_action(cell_at(memory, pose.front()), memory.carrying)
    if entry is not None:
        x, y = pose.front()
        yield entry, Pose(x, y, pose.direction)


def entry_action(cell: int, carrying: int) -> Optional[int]:
    """Return the action that brings the agent nearer to standing on this cell, if one does."""
    kind = cell & OBJECT_MASK
    if kind in (EMPTY, FLOOR, GOAL):
        return FORWARD
    if kind == DOOR or (kind == LOCKED_DOOR and carrying == cell - LOCKED_DOOR + KEY):
        return TOGGLE
    return None


def cell_at(memory: Memory, place: Tuple[int, int]) -> int:
    size_x, size_y = memory.cells.shape
    x, y = place
    return int(memory.cells[x, y]) if 0 <= x < size_x and 0 <= y < size_y else WALL


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

    def forward(self, inputs: Dict[str, Any], ctx: Any) -> Dict[str, Any]:
        memories = self._memories(inputs, int(ctx.config["map_size"]))
        planned = [
            plan(image, int(direction), memory)
            for image, direction, memory in zip(inputs["image"], inputs["direction"], memories)
        ]
        return {
            "action": [action for action, _ in planned],
            "map": [memory.cells for _, memory in planned],
            "body": [{"x": m.x, "y": m.y, "carrying": m.carrying} for _, m in planned],
        }

    def _memories(self, inputs: Dict[str, Any], map_size: int) -> List[Memory]:
        if inputs.get("map") is None or inputs.get("body") is None:
            return [start_memory(map_size) for _ in inputs["image"]]
        return [
            Memory(cells, int(body["x"]), int(body["y"]), int(body["carrying"]))
            for cells, body in zip(inputs["map"], inputs["body"])
        ]


TOOLS = (MinigridAction,)
