"""What is seen from a viewpoint, by the numbers of the simulator's documentation and source."""

from __future__ import annotations

import math

import pytest
from nodesets.env_r2r.navigation import NavigationGraph
from nodesets.env_r2r.view import (
    HALF_WINDOW_RAD,
    Views,
    elevation_rad,
    heading_rad,
    initial_view,
    turned_view,
)
from tests.unit.nodesets.r2r_world import SCAN, connectivity

DOWN, LEVEL, UP = 0, 12, 24
NORTH, EAST, WEST = 0, 3, 9


@pytest.fixture
def views() -> Views:
    return Views(NavigationGraph(SCAN, connectivity()))


def seen(views: Views, viewpoint: str, view: int) -> list[str]:
    return [sight.viewpoint for sight in views.navigable(views.graph.index(viewpoint), view)]


def test_a_view_is_twelve_times_its_row_plus_its_heading() -> None:
    assert (heading_rad(LEVEL + EAST), elevation_rad(LEVEL + EAST)) == (math.pi / 2, 0.0)
    assert elevation_rad(DOWN) == -math.pi / 6
    assert elevation_rad(UP) == math.pi / 6
    assert math.isclose(HALF_WINDOW_RAD, math.radians(40))


@pytest.mark.parametrize(
    ("degrees", "column"), [(0, 0), (14.9, 0), (15.1, 1), (355, 0), (344, 11), (-90, 9), (725, 0)]
)
def test_an_episode_begins_level_at_the_nearest_heading(degrees: float, column: int) -> None:
    assert initial_view(math.radians(degrees)) == LEVEL + column


def test_headings_go_round_and_elevations_end() -> None:
    assert turned_view(LEVEL + 11, 0.1, 0) == LEVEL
    assert turned_view(LEVEL, -7, 0) == LEVEL + 11
    assert turned_view(UP, 0, 1) == UP
    assert turned_view(DOWN, 1, -1) == DOWN + 1
    assert turned_view(LEVEL, 0, -1) == DOWN


def test_the_current_place_comes_first_then_the_most_central(views: Views) -> None:
    assert seen(views, "b", LEVEL + NORTH) == ["b", "d"]
    assert seen(views, "b", LEVEL + EAST) == ["b", "c"]
    assert seen(views, "b", LEVEL + WEST) == ["b"]
    here = views.navigable(views.graph.index("b"), LEVEL)[0]
    assert (here.rel_heading, here.rel_elevation, here.rel_distance) == (0.0, 0.0, 0.0)


def test_only_the_heading_decides_what_is_in_view(views: Views) -> None:
    assert seen(views, "c", DOWN + EAST) == ["c", "u"]
    _, above = views.navigable(views.graph.index("c"), DOWN + EAST)
    assert above.rel_elevation == pytest.approx(math.atan2(3, 2) + math.pi / 6)
    assert above.rel_distance == pytest.approx(math.sqrt(13))


def test_a_neighbour_to_the_right_has_a_positive_heading(views: Views) -> None:
    _, right = views.navigable(views.graph.index("b"), LEVEL + 2)
    assert right.viewpoint == "c"
    assert right.rel_heading == pytest.approx(math.pi / 6)
    assert seen(views, "b", LEVEL + 1) == ["b", "d"]


def test_candidates_are_all_neighbours_each_in_its_most_central_view(views: Views) -> None:
    candidates = views.candidates(views.graph.index("b"))
    assert [(c.sight.viewpoint, c.view) for c in candidates] == [
        ("a", LEVEL + 6),
        ("c", LEVEL + EAST),
        ("d", LEVEL + NORTH),
    ]
    up = next(c for c in views.candidates(views.graph.index("c")) if c.sight.viewpoint == "u")
    assert up.view == UP + EAST


def test_a_neighbour_straight_above_is_in_no_view() -> None:
    locations = connectivity()
    top = next(item for item in locations if item["image_id"] == "u")
    top["pose"][3], top["pose"][7] = 2.0, 2.0
    views = Views(NavigationGraph(SCAN, locations))
    assert all("u" not in seen(views, "c", view) for view in range(36))
