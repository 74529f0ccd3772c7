"""Generate PointNav episodes over scenes with navigation meshes, in Habitat's JSON format.

Knows nothing of Wayfare: it runs by itself in an interpreter that has `habitat_sim`.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

GEODESIC_M = (1.0, 30.0)
ISLAND_RADIUS_M = 1.5
CURVED = 1.1
"""From this ratio of geodesic to straight distance on a way counts as curved."""
MAX_TRIES = 100_000
SUCCESS_M = 0.2


class Scene:
    """A navigation mesh from which starts and goals are drawn; the same seed draws the same."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self._habitat = importlib.import_module("habitat_sim")
        self._finder = self._habitat.PathFinder()
        navmesh = path.with_suffix(".navmesh")
        if not self._finder.load_nav_mesh(str(navmesh)):
            raise SystemExit(f"{navmesh} can't be loaded; each scene needs its .navmesh beside it")
        self._finder.seed(seed)

    def draw(self) -> Any:
        """Return a random place on the mesh."""
        return self._finder.get_random_navigable_point()

    def is_roomy(self, place: Any) -> bool:
        """Say whether a place lies on a large enough part of the mesh."""
        return bool(self._finder.island_radius(place) >= ISLAND_RADIUS_M)

    def geodesic_m(self, start: Any, goal: Any) -> float:
        """Return the length of the shortest way, infinite where there is none."""
        way = self._habitat.ShortestPath()
        way.requested_start, way.requested_end = start, goal
        return float(way.geodesic_distance) if self._finder.find_path(way) else math.inf

    def find_pair(self, *, is_curved: bool) -> tuple[Any, Any, float]:
        """Return a start, a goal and the length of the way between them."""
        for _ in range(MAX_TRIES):
            start, goal = self.draw(), self.draw()
            if not (self.is_roomy(start) and self.is_roomy(goal)):
                continue
            length_m = self.geodesic_m(start, goal)
            if not GEODESIC_M[0] <= length_m <= GEODESIC_M[1]:
                continue
            if not is_curved or length_m >= CURVED * float(np.linalg.norm(start - goal)):
                return start, goal, length_m
        wanted = "curved way" if is_curved else "way"
        raise SystemExit(f"{self.path} has no {wanted} of {GEODESIC_M[0]} to {GEODESIC_M[1]} m")

    def find_apart(self) -> tuple[Any, Any, float] | None:
        """Return a start and a goal that no way leads to, if the mesh has such places."""
        for _ in range(MAX_TRIES):
            start, goal = self.draw(), self.draw()
            if self.is_roomy(start) and math.isinf(self.geodesic_m(start, goal)):
                return start, goal, math.inf
        return None


def generate(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the episodes: any ways over all scenes in turn, curved ones, unreachable goals."""
    rng = np.random.default_rng(options.seed)
    scenes = [Scene(path, options.seed + i) for i, path in enumerate(options.scenes)]
    pairs = [
        (scenes[i % len(scenes)], scenes[i % len(scenes)].find_pair(is_curved=False))
        for i in range(options.count - options.curved - options.unreachable)
    ]
    labyrinths = [scene for scene in scenes if scene.path.name not in options.flat]
    for i in range(options.curved):
        scene = labyrinths[i % len(labyrinths)]
        pairs.append((scene, scene.find_pair(is_curved=True)))
    pairs.extend(_find_apart(labyrinths) for _ in range(options.unreachable))
    return [
        _episode(number, pair, options.prefix + scene.path.name, rng=rng)
        for number, (scene, pair) in enumerate(pairs)
    ]


def _find_apart(scenes: list[Scene]) -> tuple[Scene, tuple[Any, Any, float]]:
    for scene in scenes:
        pair = scene.find_apart()
        if pair is not None:
            return scene, pair
    raise SystemExit("no scene has two places without a way between them")


def _episode(
    number: int, pair: tuple[Any, Any, float], scene_id: str, *, rng: np.random.Generator
) -> dict[str, Any]:
    start, goal, length_m = pair
    half = 0.5 * float(rng.uniform(0.0, 2.0 * math.pi))
    return {
        "episode_id": str(number),
        "scene_id": scene_id,
        "start_position": [float(value) for value in start],
        "start_rotation": [0.0, math.sin(half), 0.0, math.cos(half)],
        "info": {"geodesic_distance": length_m} if math.isfinite(length_m) else {},
        "goals": [{"position": [float(value) for value in goal], "radius": SUCCESS_M}],
    }


def main() -> None:
    """Write the episodes to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="+", type=Path, help="scenes (.glb) with their .navmesh")
    parser.add_argument("--out", type=Path, required=True, help="file to write: NAME.json.gz")
    parser.add_argument("--count", type=int, default=50, help="episodes in all")
    parser.add_argument("--curved", type=int, default=10, help="of these with a curved way")
    parser.add_argument("--unreachable", type=int, default=1, help="of these without any way")
    parser.add_argument("--flat", nargs="*", default=[], help="scenes too plain for the last two")
    parser.add_argument("--prefix", default="", help="what scene ids begin with, such as habitat/")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    document = {"episodes": generate(options)}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        file.write(json.dumps(document).encode())


if __name__ == "__main__":
    main()
