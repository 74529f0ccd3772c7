"""Look around with env_habitat's tools, and write a walk as VLN-CE's files have it.

Runs under an interpreter that has habitat_sim: `habitat_walk.py EPISODES OUT`, with PointNav
episodes of two scenes, and OUT a data folder. Prints JSON.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from nodesets.env_habitat.pose import rotate

from nodeset.loading import load_nodeset

ROOT = Path(__file__).resolve().parents[2]
WALK = (2, 2, 1, 1, 1, 3, 1, 1, 1, 1, 0)


class Settings:
    """What a tool asks of its context."""

    def __init__(self, **config: Any) -> None:
        self.config = config


def load(calibre: str, episodes: str) -> Any:
    config = {"calibre": calibre, "episodes": episodes, "gpu": -1}
    return load_nodeset(str(ROOT / "nodesets/env_habitat"), "env_habitat", config)


def digest(answer: dict[str, Any]) -> str:
    """Return a hash over all arrays of an answer."""
    texts = [answer[name].tobytes() for name in sorted(answer)]
    return hashlib.sha256(b"".join(texts)).hexdigest()


def look(episodes: str) -> dict[str, Any]:
    """Look at one place in all ways, by teleport and after another scene."""
    loaded = load("pointnav", episodes)
    tools, nodeset = loaded.tools, loaded.nodeset
    nodeset.initialize()

    def call(tool: str, **inputs: Any) -> dict[str, Any]:
        answer: dict[str, Any] = tools[tool].forward(inputs, Settings(views=4))
        return answer

    nodeset.begin("test", 1)
    away = call("observe_egocentric")["pose"]
    nodeset.begin("test", 0)
    first = call("observe_egocentric")
    from_camera = call("observe_camera_pose", camera_pose=first["camera_pose"])
    from_pose = call("observe_pose", pose=first["pose"])
    around = call("observe_panorama")
    again = call("observe_egocentric")
    call("step_discrete", action=1)
    call("step_pose", pose=first["pose"])
    back = call("observe_egocentric")
    nodeset.begin("test", 1)
    nodeset.simulator.renew()
    nodeset.begin("test", 0)
    call("step_pose", pose=first["pose"])
    anew = call("observe_egocentric")
    report = {
        "shapes": {name: list(value.shape) for name, value in first.items()},
        "same_from_camera": all(np.array_equal(first[k], from_camera[k]) for k in ("rgb", "depth")),
        "same_from_pose": all(np.array_equal(first[k], from_pose[k]) for k in ("rgb", "depth")),
        "same_ahead": bool(np.array_equal(around["rgb"][0], first["rgb"])),
        "ways_differ": len({view.tobytes() for view in around["depth"]}),
        "same_after_looking": digest(first) == digest(again),
        "same_after_teleport": digest(back) == digest(anew) == digest(first),
        "is_lit": bool(first["rgb"].any()) and bool(first["depth"].max() > 1.0),
        "moved": bool(np.linalg.norm(away[:3] - first["pose"][:3]) > 0.0),
        "refused": refusal_of(lambda: call("step_pose", pose=[99.0, 0, 0, 0, 0, 0, 1.0])),
    }
    nodeset.shutdown()
    return report


def look_up_and_down(episodes: str) -> dict[str, Any]:
    """Tilt the camera and look aside: the tilt is there again afterwards."""
    loaded = load("rxr_habitat", episodes)
    nodeset = loaded.nodeset
    nodeset.initialize()
    nodeset.begin("rxr", 0)
    body = nodeset.simulator.body
    level = body.camera_pose()
    for action in (4, 5, 5):
        nodeset.rollout.act(action)
    down, seen = body.camera_pose(), body.look()
    body.look_from(level)
    after = body.look()
    nodeset.shutdown()
    return {
        "tilt": float(np.degrees(np.arcsin(rotate(down[3:], (0.0, 0.0, -1.0))[1]))),
        "height": float(level[1] - nodeset.dataset.tasks("rxr")[0].position[1]),
        "same_after_looking": bool(np.array_equal(seen.rgb, after.rgb)),
        "depth": [float(seen.depth.min()), float(seen.depth.max())],
    }


def refusal_of(attempt: Any) -> str:
    """Return what an attempt is refused with."""
    try:
        attempt()
    except ValueError as error:
        return str(error)
    return ""


def write_walk(episodes: Path, out: Path) -> None:
    """Walk in episode 0's scene and write an R2R-CE episode with that walk as ground truth."""
    with gzip.open(str(episodes), "rt", encoding="utf-8") as file:
        entry = json.load(file)["episodes"][0]
    entry["instruction"] = {"instruction_text": "Walk."}
    entry["trajectory_id"] = 1
    entry["goals"][0]["radius"] = 3.0
    entry["reference_path"] = [entry["start_position"], entry["goals"][0]["position"]]
    out.mkdir(parents=True, exist_ok=True)
    write(out / "val.json.gz", {"episodes": [entry]})
    loaded = load("vlnce_r2r", str(out / "{split}.json.gz"))
    loaded.nodeset.initialize()
    loaded.nodeset.begin("val", 0)
    rollout = loaded.nodeset.rollout
    places = [rollout.simulator.body.pose()[:3].tolist()]
    for action in WALK:
        rollout.act(action)
        here = rollout.simulator.body.pose()[:3].tolist()
        places.extend([here] if here != places[-1] else [])
    loaded.nodeset.shutdown()
    entry["goals"][0]["position"] = places[-1]
    write(out / "val.json.gz", {"episodes": [entry]})
    truth = {str(entry["episode_id"]): {"actions": list(WALK), "locations": places}}
    write(out / "val_gt.json.gz", truth)
    entry["instruction"]["language"] = "en-US"
    write(out / "rxr.json.gz", {"episodes": [entry]})


def write(path: Path, document: Any) -> None:
    with gzip.open(str(path), "wt", encoding="utf-8") as file:
        json.dump(document, file)


if __name__ == "__main__":
    source, folder = (Path(argument).resolve() for argument in sys.argv[1:3])
    write_walk(source, folder / "r2r_ce")
    print(
        json.dumps(
            {
                "ahead": look(str(source.parent / "{split}.json.gz")),
                "tilted": look_up_and_down(str(folder / "r2r_ce/{split}.json.gz")),
            }
        )
    )
