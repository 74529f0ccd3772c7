"""Say what an agent sees from a viewpoint: 36 views, and the neighbours in each of them.

Knows nothing of episodes or images.

The numbers are those of Matterport3DSimulator with discretised viewing angles and Room-to-Room's
camera: headings are clockwise from +y, elevations upwards, both in radians. Its arithmetic on
positions is single precision, and so is ours, for a neighbour at the very edge of a view.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .navigation import NavigationGraph

HEADINGS = 12
ROWS = 3
VIEWS = HEADINGS * ROWS
INCREMENT_RAD = math.pi / 6.0
IMAGE_WIDTH, IMAGE_HEIGHT = 640, 480
VFOV_RAD = math.radians(60.0)
HALF_WINDOW_RAD = VFOV_RAD * IMAGE_WIDTH / IMAGE_HEIGHT / 2.0
"""40 degrees: the simulator scales the vertical field of view by the aspect ratio."""
_COS_HALF_WINDOW = math.cos(HALF_WINDOW_RAD)


def heading_rad(view: int) -> float:
    """Return the heading of a view, 0 to 11/6 pi."""
    return (view % HEADINGS) * INCREMENT_RAD


def elevation_rad(view: int) -> float:
    """Return the elevation of a view: -30, 0 or 30 degrees; row 0 looks down."""
    return (view // HEADINGS - 1) * INCREMENT_RAD


def initial_view(heading: float) -> int:
    """Return the level view nearest to a heading in radians, halves away from zero."""
    steps = math.floor(math.fmod(heading, 2.0 * math.pi) % (2.0 * math.pi) / INCREMENT_RAD + 0.5)
    return HEADINGS + steps % HEADINGS


def turned_view(view: int, heading: float, elevation: float) -> int:
    """Return the view after a turn; only the signs count: right and up are positive.

    Headings go round, elevations end at the outer rows.
    """
    column = (view % HEADINGS + _sign(heading)) % HEADINGS
    row = min(max(view // HEADINGS + _sign(elevation), 0), ROWS - 1)
    return HEADINGS * row + column


@dataclass(frozen=True)
class Sight:
    """A place as seen from a view: angles relative to the view's, distance in metres."""

    viewpoint: str
    rel_heading: float
    rel_elevation: float
    rel_distance: float

    @property
    def offset_rad(self) -> float:
        """How far from the middle of the view, as the simulator sorts by."""
        return math.sqrt(self.rel_heading**2 + self.rel_elevation**2)

    def as_json(self) -> dict[str, Any]:
        """Return the fields under the simulator's names, angles in radians."""
        return {
            "viewpoint": self.viewpoint,
            "rel_heading": self.rel_heading,
            "rel_elevation": self.rel_elevation,
            "rel_distance": self.rel_distance,
        }


@dataclass(frozen=True)
class Candidate:
    """A neighbour in the panorama, as seen from the view in which it is most central."""

    view: int
    sight: Sight

    def as_json(self) -> dict[str, Any]:
        """Return the sight's fields and the view's index."""
        return {**self.sight.as_json(), "view": self.view}


class Views:
    """What is seen from each viewpoint of one graph, worked out once per viewpoint and view."""

    def __init__(self, graph: NavigationGraph) -> None:
        self.graph = graph
        self._positions = graph.positions.astype(np.float32)
        self._navigable: dict[tuple[int, int], tuple[Sight, ...]] = {}
        self._candidates: dict[int, tuple[Candidate, ...]] = {}

    def navigable(self, place: int, view: int) -> tuple[Sight, ...]:
        """Return the place itself, then the neighbours within the view, the most central first.

        Only the heading decides what is within: neighbours above and below the image count.
        """
        found = self._navigable.get((place, view))
        if found is None:
            here = Sight(self.graph.viewpoints[place], 0.0, 0.0, 0.0)
            seen = sorted(self._seen(place, view), key=lambda sight: sight.offset_rad)
            found = self._navigable[place, view] = (here, *seen)
        return found

    def candidates(self, place: int) -> tuple[Candidate, ...]:
        """Return every neighbour in the file's order, each with its best view.

        The best of the 36 views is the one in which the neighbour is most central; of two equally
        good ones, the first.
        """
        found = self._candidates.get(place)
        if found is None:
            found = self._candidates[place] = tuple(self._best_views(place))
        return found

    def _best_views(self, place: int) -> list[Candidate]:
        best: dict[str, Candidate] = {}
        for view in range(VIEWS):
            for sight in self._seen(place, view):
                known = best.get(sight.viewpoint)
                if known is None or sight.offset_rad < known.sight.offset_rad:
                    best[sight.viewpoint] = Candidate(view, sight)
        names = (self.graph.viewpoints[index] for index in self.graph.adjacent(place))
        return [best[name] for name in names if name in best]

    def _seen(self, place: int, view: int) -> list[Sight]:
        """Return the neighbours within a view, in the file's order."""
        azimuth = math.pi / 2.0 - heading_rad(view)
        ahead_x, ahead_y = np.float32(math.cos(azimuth)), np.float32(math.sin(azimuth))
        seen = []
        for index in self.graph.adjacent(place):
            x, y, z = self._positions[index] - self._positions[place]
            flat = np.sqrt(x * x + y * y)
            if flat == 0.0:
                # Straight above or below: no heading, so the simulator shows it in no view.
                continue
            scale = np.float32(1.0) / flat
            if float(x * scale * ahead_x + y * scale * ahead_y) < _COS_HALF_WINDOW:
                continue
            seen.append(
                Sight(
                    self.graph.viewpoints[index],
                    math.atan2(x * ahead_y - y * ahead_x, x * ahead_x + y * ahead_y),
                    math.atan2(z, flat) - elevation_rad(view),
                    float(np.sqrt(x * x + y * y + z * z)),
                )
            )
        return seen


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
