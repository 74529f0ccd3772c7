"""Write small files in the formats that env_habitat and hmeqa read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any


def write_json(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document)
    if path.suffix == ".gz":
        with gzip.open(path, "wt", encoding="utf-8") as file:
            file.write(text)
    else:
        path.write_text(text, encoding="utf-8")
    return path


def episode(number: int = 1, scene: str = "a/a.glb", **fields: Any) -> dict[str, Any]:
    """Return an entry as all of Habitat's formats have it; `fields` go over it."""
    return {
        "episode_id": number,
        "scene_id": scene,
        "start_position": [1.0, 0.0, 2.0],
        "start_rotation": [0.0, 0.5, 0.0, 0.8660254037844386],
        "info": {"geodesic_distance": 5.5},
        "goals": [{"position": [4.0, 0.0, 2.0], "radius": None}],
        **fields,
    }


def r2r_episode(number: int = 1, **fields: Any) -> dict[str, Any]:
    return episode(
        number,
        **{
            "trajectory_id": 7,
            "goals": [{"position": [4.0, 0.0, 2.0], "radius": 3.0}],
            "instruction": {"instruction_text": " Go to the sofa. ", "instruction_tokens": [1, 2]},
            "reference_path": [[1.0, 0.0, 2.0], [4.0, 0.0, 2.0]],
            **fields,
        },
    )


def object_goal(*view_points: tuple[float, float, float]) -> dict[str, Any]:
    return {
        "object_id": 3,
        "position": [9.0, 1.0, 9.0],
        "view_points": [{"agent_state": {"position": list(p)}, "iou": 0.5} for p in view_points],
    }
