"""Write a house of six viewpoints and a few instructions, in the formats that are published.

d            heights are 0 but for `u`, which is high above `c`
|            `x` lies between `a` and `b` and is excluded
b -- c -- u  `i` is an island
|
a (x) i
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BatchContext, Context, EpisodeContext

SCAN = "house"
PLACES = {
    "a": (0.0, 0.0, 0.0),
    "x": (0.0, 1.0, 0.0),
    "b": (0.0, 2.0, 0.0),
    "c": (2.0, 2.0, 0.0),
    "d": (0.0, 5.0, 0.0),
    "u": (4.0, 2.0, 3.0),
    "i": (9.0, 0.0, 0.0),
}
EDGES = [("a", "x"), ("x", "b"), ("a", "b"), ("b", "c"), ("b", "d"), ("c", "u")]
TASKS = {
    "val_unseen": [("7", ["a", "b", "d"], 0.0, 2), ("8", ["a", "b", "c", "u"], 3.1, 3)],
    "test": [("9", ["b"], 0.0, 1)],
}


def connectivity(*, one_way: tuple[str, str] | None = None) -> list[dict[str, Any]]:
    names = list(PLACES)
    ways = {*EDGES, *((there, here) for here, there in EDGES)}
    if one_way is not None:
        ways.add(one_way)
    return [
        {
            "image_id": name,
            "pose": [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z, 0, 0, 0, 1],
            "included": name != "x",
            "visible": [True] * len(names),
            "unobstructed": [(name, other) in ways for other in names],
            "height": 1.5,
        }
        for name, (x, y, z) in PLACES.items()
    ]


def write_world(folder: Path) -> Path:
    (folder / "connectivity").mkdir(parents=True)
    (folder / "r2r").mkdir()
    graph = folder / "connectivity" / f"{SCAN}_connectivity.json"
    graph.write_text(json.dumps(connectivity()))
    for split, tasks in TASKS.items():
        items = [
            {
                "path_id": int(path_id),
                "scan": SCAN,
                "path": path,
                "heading": heading,
                "distance": 5.0,
                "instructions": [f"instruction {number}" for number in range(count)],
            }
            for path_id, path, heading, count in tasks
        ]
        (folder / "r2r" / f"R2R_{split}.json").write_text(json.dumps(items))
    return folder


def call(tool: BaseCanvasNode, *, seed: int = 0, **columns: Any) -> dict[str, Any]:
    """Call a batched tool with one column per port, as a copy would."""
    count = len(next(iter(columns.values())))
    episode = EpisodeContext(0, "", split="val_unseen")
    rows = [Context({}, episode, seed=seed + row) for row in range(count)]
    result: dict[str, Any] = tool.forward(columns, BatchContext(tool.default_config, rows))
    return result


def write_features(path: Path) -> None:
    views = np.arange(36, dtype=np.float32)[:, None]
    arrays: dict[str, Any] = {f"{SCAN}_{name}": views + 100 * n for n, name in enumerate(PLACES)}
    np.savez(path, **arrays)
