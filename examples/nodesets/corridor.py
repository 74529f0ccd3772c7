"""A corridor with a goal at one of its ends: what both versions of the environment agree on."""

import numpy as np

from nodeset import Episode

LENGTH, START, SIGHT = 17, 8, 2
EMPTY, WALL, GOAL = 0, 1, 2
LEFT, RIGHT = -1, 1
METADATA = {"splits": ["test"], "default_split": "test", "metrics": ["success"], "step_budget": 40}


def goal_of(episode_index):
    return 1 if episode_index % 2 else LENGTH - 2


def view(episode_index, at):
    cells = np.full(LENGTH, EMPTY, np.uint8)
    cells[[0, -1]] = WALL
    cells[goal_of(episode_index)] = GOAL
    return cells[max(0, at - SIGHT) : at + SIGHT + 1]


def move(at, action):
    return min(max(at + action, SIGHT), LENGTH - 1 - SIGHT)


def is_done(episode_index, at):
    return abs(goal_of(episode_index) - at) <= 1


def episodes():
    return [Episode(str(index)) for index in range(20)]
