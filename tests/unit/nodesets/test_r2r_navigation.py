"""Who is next to whom in a connectivity graph, and how far it is."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from nodesets.env_r2r.navigation import GraphStore, NavigationGraph, NavigationGraphError
from tests.unit.nodesets.r2r_world import SCAN, connectivity, write_world


@pytest.fixture
def graph() -> NavigationGraph:
    return NavigationGraph(SCAN, connectivity())


def neighbours(graph: NavigationGraph, viewpoint: str) -> list[str]:
    return [graph.viewpoints[index] for index in graph.adjacent(graph.index(viewpoint))]


def test_neighbours_stand_in_the_files_order(graph: NavigationGraph) -> None:
    assert neighbours(graph, "b") == ["a", "c", "d"]


def test_an_excluded_viewpoint_is_nobodys_neighbour_and_has_no_index(
    graph: NavigationGraph,
) -> None:
    assert "x" not in neighbours(graph, "a")
    with pytest.raises(NavigationGraphError, match="excluded"):
        graph.index("x")
    with pytest.raises(NavigationGraphError, match="not in scan 'house'"):
        graph.index("nowhere")


def test_distances_follow_the_graph_and_are_infinite_without_a_way(graph: NavigationGraph) -> None:
    assert graph.distance_m("a", "d") == 5.0
    assert graph.distance_m("d", "c") == 5.0
    assert graph.distance_m("a", "a") == 0.0
    assert math.isinf(graph.distance_m("a", "i"))


def walk(graph: NavigationGraph, start: str, goal: str) -> list[str]:
    """Follow the shortest way until it leads no further."""
    path, ways = [graph.index(start)], graph.ways_to(graph.index(goal))
    while (following := ways.next_hop[path[-1]]) >= 0:
        path.append(following)
    return [graph.viewpoints[index] for index in path]


def test_the_next_viewpoints_make_the_shortest_way_and_none_leads_nowhere(
    graph: NavigationGraph,
) -> None:
    assert walk(graph, "a", "u") == ["a", "b", "c", "u"]
    assert walk(graph, "a", "a") == ["a"]
    assert walk(graph, "a", "i") == ["a"]


def test_of_two_ways_equally_long_the_earlier_viewpoint_wins() -> None:
    corners = {"s": (0, 0), "late": (1, 0), "early": (0, 1), "goal": (1, 1)}
    order = ["early", "goal", "late", "s"]
    ring = [("s", "late"), ("s", "early"), ("late", "goal"), ("early", "goal")]
    ways = {*ring, *((there, here) for here, there in ring)}
    locations = [
        {
            "image_id": name,
            "included": True,
            "pose": [0, 0, 0, corners[name][0], 0, 0, 0, corners[name][1], 0, 0, 0, 0],
            "unobstructed": [(name, other) in ways for other in order],
        }
        for name in order
    ]
    assert walk(NavigationGraph("ring", locations), "s", "goal") == ["s", "early", "goal"]


def test_a_way_without_a_way_back_is_refused() -> None:
    with pytest.raises(NavigationGraphError, match="from 'i' to 'a' and none back"):
        NavigationGraph(SCAN, connectivity(one_way=("i", "a")))


def test_a_missing_or_malformed_file_is_named(tmp_path: Path) -> None:
    folder = write_world(tmp_path) / "connectivity"
    with pytest.raises(FileNotFoundError, match=r"attic_connectivity\.json is missing"):
        GraphStore(folder).graph("attic")
    (folder / "attic_connectivity.json").write_text('[{"image_id": "a"}]')
    with pytest.raises(NavigationGraphError, match="not a connectivity file"):
        GraphStore(folder).graph("attic")
