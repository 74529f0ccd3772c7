"""Four agents whose scores can be told beforehand, over every instruction of val_unseen."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from nodesets.env_r2r.dataset import Task
from nodesets.env_r2r.scoring import PATH_METRICS, score_path
from nodesets.env_r2r.state import start_state, step_in_panorama
from nodesets.env_r2r.view import initial_view
from nodesets.env_r2r.world import World
from nodesets.policy_planner.r2r import choose_candidate, plan_route
from tests.unit.nodeset import published_formulas as papers

EPISODES = 2349
ROUTES = ("path", "start", "but_last", "there_and_back")

# By hand, from the lengths of the legs between the viewpoints of five paths, each of them a
# shortest path: the place x_i of each viewpoint is the sum of the legs before it, T the whole.
# start:          NE = T, nDTW = exp(-sum x_i / 3n), CLS = sum exp(-x_i / 3) / 2n
# but_last:       NE = the last leg, nDTW = exp(-NE / 3n), CLS = PC * PC T / (PC T + |PC T - TL|)
#                 with PC = (n - 1 + exp(-NE / 3)) / n
# there_and_back: NE = T, TL = 2T, CLS = 1/2; the cheapest warping stays at the last viewpoint but
#                 one, x_k, from the turn on (the last leg, then x_k - x_i each) until the start is
#                 reached again, which takes the goal (T): the sum over 3n
LEGS_M = {
    "4332": (4.6371, 2.1886, 4.0322),
    "2390": (1.3301, 1.3682, 1.6455, 1.9293, 1.7644),
    "2365": (4.5688, 3.2823, 3.9655, 2.3379, 1.7724),
    "1676": (2.3477, 2.4589, 1.8125, 3.6202, 1.5263),
    "6440": (3.3354, 3.2504, 1.9610, 2.1162),
}
BY_HAND = {
    # path: route: NE, TL, SR, OSR, SPL, SoftSPL, OSPL, GP, nDTW, sDTW, CLS
    "4332": {
        "path": (0, 10.8579, 1, 1, 1, 1, 1, 10.8579, 1, 1, 1),
        "start": (10.8579, 0, 0, 0, 0, 0, 0, 0, 0.1557, 0, 0.1678),
        "but_last": (4.0322, 6.8257, 0, 0, 0, 0.6286, 0, 6.8257, 0.7146, 0, 0.6634),
        "there_and_back": (10.8579, 21.7158, 0, 1, 0, 0, 1, 0, 0.2409, 0, 0.5),
    },
    "2390": {
        "path": (0, 8.0375, 1, 1, 1, 1, 1, 8.0375, 1, 1, 1),
        "start": (8.0375, 0, 0, 0, 0, 0, 0, 0, 0.2836, 0, 0.2063),
        "but_last": (1.7644, 6.2731, 1, 1, 1, 0.7805, 1, 6.2731, 0.9066, 0.9066, 0.8002),
        "there_and_back": (8.0375, 16.0750, 0, 1, 0, 0, 1, 0, 0.3247, 0, 0.5),
    },
    "2365": {
        "path": (0, 15.9269, 1, 1, 1, 1, 1, 15.9269, 1, 1, 1),
        "start": (15.9269, 0, 0, 0, 0, 0, 0, 0, 0.0489, 0, 0.1104),
        "but_last": (1.7724, 14.1545, 1, 1, 1, 0.8887, 1, 14.1545, 0.9062, 0.9062, 0.8901),
        "there_and_back": (15.9269, 31.8538, 0, 1, 0, 0, 1, 0, 0.1359, 0, 0.5),
    },
    "1676": {
        "path": (0, 11.7656, 1, 1, 1, 1, 1, 11.7656, 1, 1, 1),
        "start": (11.7656, 0, 0, 0, 0, 0, 0, 0, 0.1370, 0, 0.1518),
        "but_last": (1.5263, 10.2393, 1, 1, 1, 0.8703, 1, 10.2393, 0.9187, 0.9187, 0.8743),
        "there_and_back": (11.7656, 23.5312, 0, 1, 0, 0, 1, 0, 0.1864, 0, 0.5),
    },
    "6440": {
        "path": (0, 10.6630, 1, 1, 1, 1, 1, 10.6630, 1, 1, 1),
        "start": (10.6630, 0, 0, 0, 0, 0, 0, 0, 0.1434, 0, 0.1527),
        "but_last": (2.1162, 8.5468, 1, 1, 1, 0.8015, 1, 8.5468, 0.8684, 0.8684, 0.8110),
        "there_and_back": (10.6630, 21.3260, 0, 1, 0, 0, 1, 0, 0.2644, 0, 0.5),
    },
}


@pytest.fixture(scope="module")
def world(data_file: Callable[[str], Path]) -> World:
    data_file("connectivity/scans.txt")
    return World(str(data_file("r2r/R2R_val_unseen.json").parent.parent))


def walk(world: World, task: Task, route: str) -> tuple[str, ...]:
    """Follow the route with the environment's own steps; return where the agent has been."""
    views = world.views(task.scan)
    state = start_state(task.path[0], initial_view(task.heading))
    for viewpoint in [*plan_route(task.path, route)[1:], None]:
        around = views.candidates(views.graph.index(state.viewpoint))
        choice = choose_candidate([one.as_json() for one in around], viewpoint)
        state = step_in_panorama(views, state, choice)
    assert state.stopped
    return state.trajectory


def read_distances(folder: Path, scan: str) -> tuple[list[str], np.ndarray]:
    """Return a scan's viewpoints and all distances, from the published file alone."""
    places = json.loads((folder / f"{scan}_connectivity.json").read_text())
    at = np.array([[place["pose"][n] for n in (3, 7, 11)] for place in places])
    edges = {
        (here, there): float(np.sqrt(((at[here] - at[there]) ** 2).sum()))
        for here, place in enumerate(places)
        for there, is_open in enumerate(place["unobstructed"])
        if is_open and place["included"] and places[there]["included"]
    }
    return [place["image_id"] for place in places], papers.all_distances(edges, len(places))


def test_five_episodes_are_as_computed_by_hand(world: World) -> None:
    tasks = {task.path_id: task for task in world.dataset.tasks("val_unseen")}
    for path_id, routes in BY_HAND.items():
        task = tasks[path_id]
        graph = world.views(task.scan).graph
        legs = [graph.distance_m(*leg) for leg in zip(task.path, task.path[1:], strict=False)]
        assert legs == pytest.approx(LEGS_M[path_id], abs=6e-5)
        for route, numbers in routes.items():
            found = score_path(task, walk(world, task, route), graph)
            wanted = dict(zip(PATH_METRICS, numbers, strict=True))
            assert {name: float(value) for name, value in found.items()} == pytest.approx(
                wanted, abs=3e-4
            )


@pytest.mark.parametrize("route", ROUTES)
def test_a_second_implementation_agrees_on_every_instruction(
    route: str, world: World, data_file: Callable[[str], Path]
) -> None:
    folder = data_file("connectivity/scans.txt").parent
    tasks = world.dataset.tasks("val_unseen")
    houses = {scan: read_distances(folder, scan) for scan in {task.scan for task in tasks}}
    for task in tasks:
        names, apart = houses[task.scan]
        trajectory = walk(world, task, route)
        walked, reference = ([names.index(at) for at in path] for path in (trajectory, task.path))
        wanted = papers.every_metric(walked, reference, apart)
        found = score_path(task, trajectory, world.views(task.scan).graph)
        assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert len(tasks) == EPISODES
