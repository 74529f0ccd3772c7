"""Read a scan's connectivity graph; answer who is next to whom, how far, and which way.

Knows nothing of cameras, episodes or agents.

Distances are geodesic on the graph, its edges as long as the straight line between two viewpoints,
in metres.
"""

from __future__ import annotations

import heapq
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np


class NavigationGraphError(ValueError):
    """A connectivity file is malformed, or a viewpoint is not part of its graph."""


@dataclass(frozen=True)
class ShortestWays:
    """The shortest ways from everywhere to one goal: length in metres and the next viewpoint.

    Infinite and -1 where no way leads to the goal; the goal itself has 0 and -1.
    """

    distance_m: tuple[float, ...]
    next_hop: tuple[int, ...]


class NavigationGraph:
    """The included viewpoints of one scan, in the file's order, and the edges between them.

    Two viewpoints are adjacent if both are included and the way between them is unobstructed.
    Indices count all viewpoints of the file, excluded ones too, as the simulator's do.
    """

    def __init__(self, scan: str, locations: Sequence[Mapping[str, Any]]) -> None:
        self.scan = scan
        self.viewpoints = tuple(str(item["image_id"]) for item in locations)
        self.included = tuple(bool(item["included"]) for item in locations)
        self.positions = np.array([_position(item) for item in locations], dtype=np.float64)
        self._index = {name: index for index, name in enumerate(self.viewpoints)}
        unobstructed = np.array([item["unobstructed"] for item in locations], dtype=bool)
        self._adjacent = self._connect(unobstructed)
        self._ways: dict[int, ShortestWays] = {}

    def index(self, viewpoint: str) -> int:
        """Return the index of an included viewpoint; raises NavigationGraphError."""
        index = self._index.get(viewpoint, -1)
        if index < 0:
            raise NavigationGraphError(f"viewpoint {viewpoint!r} is not in scan {self.scan!r}")
        if not self.included[index]:
            raise NavigationGraphError(
                f"viewpoint {viewpoint!r} of scan {self.scan!r} is excluded from the graph; "
                f"episodes may neither start nor pass there"
            )
        return index

    def adjacent(self, index: int) -> tuple[int, ...]:
        """Return the neighbours of a viewpoint in the file's order."""
        return self._adjacent[index]

    def edge_length_m(self, here: int, there: int) -> float:
        """Return the length of the straight line between two viewpoints."""
        x, y, z = self.positions[there] - self.positions[here]
        return math.sqrt(x * x + y * y + z * z)

    def ways_to(self, goal: int) -> ShortestWays:
        """Return the shortest ways from everywhere to `goal`, worked out once per goal."""
        ways = self._ways.get(goal)
        if ways is None:
            ways = self._ways[goal] = self._dijkstra(goal)
        return ways

    def distance_m(self, here: str, there: str) -> float:
        """Return the geodesic distance between two viewpoints; infinite without a way."""
        return self.ways_to(self.index(there)).distance_m[self.index(here)]

    def _connect(self, unobstructed: np.ndarray) -> tuple[tuple[int, ...], ...]:
        included = np.array(self.included, dtype=bool)
        edges = unobstructed & included[:, None] & included[None, :]
        np.fill_diagonal(edges, False)
        one_way = np.argwhere(edges & ~edges.T)
        if len(one_way):
            here, there = (self.viewpoints[int(index)] for index in one_way[0])
            raise NavigationGraphError(
                f"scan {self.scan!r} has a way from {here!r} to {there!r} and none back; "
                f"a connectivity graph is undirected"
            )
        return tuple(tuple(int(index) for index in np.flatnonzero(row)) for row in edges)

    def _dijkstra(self, goal: int) -> ShortestWays:
        """Search outwards from the goal; of ways equally long the lower next index wins."""
        count = len(self.viewpoints)
        distance_m, next_hop, settled = [math.inf] * count, [-1] * count, [False] * count
        distance_m[goal] = 0.0
        frontier: list[tuple[float, int]] = [(0.0, goal)]
        while frontier:
            here_m, here = heapq.heappop(frontier)
            if settled[here]:
                continue
            settled[here] = True
            for there in self._adjacent[here]:
                there_m = here_m + self.edge_length_m(here, there)
                if not settled[there] and (there_m, here) < (distance_m[there], next_hop[there]):
                    distance_m[there], next_hop[there] = there_m, here
                    heapq.heappush(frontier, (there_m, there))
        return ShortestWays(tuple(distance_m), tuple(next_hop))


class GraphStore:
    """The graphs of a folder of `<scan>_connectivity.json` files, each read when asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._graphs: dict[str, NavigationGraph] = {}

    def graph(self, scan: str) -> NavigationGraph:
        """Return a scan's graph; raises FileNotFoundError, NavigationGraphError."""
        graph = self._graphs.get(scan)
        if graph is None:
            graph = self._graphs[scan] = read_graph(self.folder, scan)
        return graph


def read_graph(folder: Path, scan: str) -> NavigationGraph:
    """Read `<folder>/<scan>_connectivity.json` as Matterport3DSimulator publishes it."""
    path = folder / f"{scan}_connectivity.json"
    if not path.is_file():
        raise FileNotFoundError(
            f"no connectivity graph of scan {scan!r}: {path} is missing; the graphs of all scans "
            f"are in the folder 'connectivity' of github.com/peteanderson80/Matterport3DSimulator"
        )
    try:
        return NavigationGraph(scan, json.loads(path.read_text(encoding="utf-8")))
    except (KeyError, TypeError, IndexError, json.JSONDecodeError) as error:
        raise NavigationGraphError(f"{path} is not a connectivity file: {error!r}") from error


def _position(location: Mapping[str, Any]) -> tuple[float, float, float]:
    pose = location["pose"]
    return float(pose[3]), float(pose[7]), float(pose[11])
