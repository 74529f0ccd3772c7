"""Write a hall of 16 viewpoints with instructions and images, in the formats that are published.

Knows nothing of agents.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

SCAN = "hall"
SIDE, SPACING_M = 4, 2.5
VIEWS, HEIGHT, WIDTH = 36, 6, 8
PLACES = {f"{x}{y}": (x, y) for x, y in product(range(SIDE), repeat=2)}
EPISODES = 12
INSTRUCTIONS = (
    "Turn left at the red door, go straight past the white couch and wait.",
    "Go right, then left, towards the blue and yellow picture.",
    "Turn around and walk straight ahead until you see something green.",
)


def write_hall(folder: Path) -> Path:
    """Write `connectivity/`, `r2r/` and `images.npz` into `folder`; return it."""
    rng = np.random.default_rng(0)
    for name in ("connectivity", "r2r"):
        (folder / name).mkdir()
    graph = folder / "connectivity" / f"{SCAN}_connectivity.json"
    graph.write_text(json.dumps([describe(name) for name in PLACES]))
    tasks = [draw_task(number, rng) for number in range(EPISODES)]
    (folder / "r2r" / "R2R_val_unseen.json").write_text(json.dumps(tasks))
    images: dict[str, Any] = {f"{SCAN}_{name}": draw_views(rng) for name in PLACES}
    np.savez(folder / "images.npz", **images)
    return folder


def describe(name: str) -> dict[str, Any]:
    """Return one viewpoint, from which those next to it and across the corner can be reached."""
    x, y = PLACES[name]
    near = [max(abs(x - a), abs(y - b)) == 1 for a, b in PLACES.values()]
    pose = [1, 0, 0, x * SPACING_M, 0, 1, 0, y * SPACING_M, 0, 0, 1, 0, 0, 0, 0, 1]
    sights = {"visible": [True] * len(PLACES), "unobstructed": near}
    return {"image_id": name, "pose": pose, "included": True, "height": 1.5, **sights}


def draw_task(number: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return a way between two viewpoints, and what is said of it."""
    start, goal = rng.choice(list(PLACES), 2, replace=False)
    return {
        "path_id": number,
        "scan": SCAN,
        "path": [str(start), str(goal)],
        "heading": float(rng.uniform(0.0, 6.28)),
        "distance": 5.0,
        "instructions": [INSTRUCTIONS[number % len(INSTRUCTIONS)]],
    }


def draw_views(rng: np.random.Generator) -> Any:
    """Return 36 pictures, each in a colour of its own with some noise."""
    plain = rng.integers(0, 216, (VIEWS, 1, 1, 3))
    noise = rng.integers(0, 40, (VIEWS, HEIGHT, WIDTH, 3))
    return (plain + noise).astype(np.uint8)
