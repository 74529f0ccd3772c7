"""A store that was baked of Matterport3DSimulator stands for it, under an agent that looks.

Its images are drawn here, in the format that the simulator reads: those of the scans are licensed.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from tests.unit.nodesets.r2r_world import PLACES, SCAN, connectivity, write_world

import wayfare
from nodeset.digest import hash64
from wayfare.evals.errors import RunFailedError

pytestmark = pytest.mark.usefixtures("mattersim")
WORKSPACES = [Path(__file__).resolve().parents[2] / "workspace"]
FACE = 64
"""Pixels on a side of each of a skybox's six faces."""
VIEWS_OF_HOUSE = 36 * 6
ALL_ROWS = 100_000


def encode(codec: str, pixel_format: str, frame: av.VideoFrame) -> bytes:
    """Return a picture as a file of that codec has it."""
    context: Any = av.CodecContext.create(codec, "w")
    context.width, context.height, context.pix_fmt = frame.width, frame.height, pixel_format
    context.time_base = Fraction(1)
    packets = [*context.encode(frame.reformat(format=pixel_format)), *context.encode(None)]
    return b"".join(bytes(packet) for packet in packets)


def write_skybox(folder: Path, viewpoint: str) -> None:
    """Write what is seen around a viewpoint: noise in blocks of 8 pixels, and its depth."""
    rng = np.random.default_rng(hash64(viewpoint))
    blocks = rng.integers(0, 256, (FACE // 8, 6 * FACE // 8, 3), np.uint8)
    colours = blocks.repeat(8, axis=0).repeat(8, axis=1)
    picture = av.VideoFrame.from_ndarray(colours, format="rgb24")
    (folder / f"{viewpoint}_skybox_small.jpg").write_bytes(encode("mjpeg", "yuvj444p", picture))
    quarters = rng.integers(2_000, 40_000, (FACE, 6 * FACE)).astype(np.uint16)
    depth = av.VideoFrame.from_ndarray(quarters, format="gray16le")
    (folder / f"{viewpoint}_skybox_depth_small.png").write_bytes(encode("png", "gray16be", depth))


@pytest.fixture
def house(tmp_path: Path) -> dict[str, Any]:
    """Give the configuration of the nodeset in a house of six viewpoints with images."""
    data = write_world(tmp_path / "data")
    (data / "connectivity" / "scans.txt").write_text(f"{SCAN}\n")
    images = tmp_path / "scans" / SCAN / "matterport_skybox_images"
    images.mkdir(parents=True)
    for viewpoint in PLACES:
        write_skybox(images, viewpoint)
    folders = {"data_dir": str(data), "dataset": str(tmp_path / "scans")}
    return {**folders, "width": 64, "height": 48, "depth": True}


def bake(out: Path, config: dict[str, Any], **options: Any) -> wayfare.Bake:
    given = {"by": "scene", "verify": ALL_ROWS, **options}
    return wayfare.bake("env_mp3d", out=out, config=config, **given)


def live_agent(config: dict[str, Any]) -> wayfare.Graph:
    """Build the agent that goes where the panorama draws it, on the simulator."""
    graph = wayfare.Graph("gaze_live", environment="env_mp3d", step_budget=6)
    graph.nodeset("env_mp3d", config=config)
    reset = graph.add("env_mp3d__reset", "reset")
    with graph.loop("turn", after=reset.viewpoint) as turn:
        seen = graph.add("env_mp3d__observe_panorama", "observe", after=turn.step)
        gaze = graph.add("policy_gaze__choose", "gaze", rgb=seen.rgb, candidates=seen.candidates)
        moved = graph.add("env_mp3d__step_waypoint", "step", action=gaze.action)
        turn.stop(moved.done)
    scored = graph.add("env_mp3d__evaluate_path", "evaluate", after=turn.final_step)
    graph.output("metrics", scored.metrics)
    return graph


def served_agent(config: dict[str, Any]) -> wayfare.Graph:
    """Build the same agent on images from a store."""
    graph = wayfare.Graph("gaze_served", environment="env_panorama", step_budget=6)
    graph.nodeset("env_panorama", config=config)
    index = graph.episode().episode_index
    reset = graph.add("env_panorama__reset", "reset", episode_index=index)
    with graph.loop("turn", state=reset.state) as turn:
        row = {"episode_index": index, "state": turn.state}
        seen = graph.add("env_panorama__observe_panorama", "observe", **row)
        gaze = graph.add("policy_gaze__choose", "gaze", rgb=seen.rgb, candidates=seen.candidates)
        moved = graph.add("env_panorama__step_panorama", "step", action=gaze.action, **row)
        turn.carry(state=moved.state)
        turn.stop(moved.done)
    scored = graph.add(
        "env_panorama__evaluate_path", "evaluate", episode_index=index, state=turn.final.state
    )
    graph.output("metrics", scored.metrics)
    return graph


def gazes(run: wayfare.Run) -> list[list[tuple[tuple[int, ...], bytes]]]:
    """Return the digests of what was seen, and of what was done about it, in each episode."""
    return [
        [(f.turns, f.digest) for f in run.trajectory(episode) if f.path == "gaze"]
        for episode in run.episodes
    ]


def test_all_rows_are_what_a_fresh_simulator_draws_and_an_agent_goes_the_same_way(
    house: dict[str, Any], tmp_path: Path
) -> None:
    baked = bake(tmp_path / "store", house, workers=2)
    assert (baked.status, baked.rows, baked.different) == ("done", VIEWS_OF_HOUSE, ())
    assert baked.verified == VIEWS_OF_HOUSE
    pictures = np.load(baked.folder / "outputs" / "rgb.npy")
    assert len({picture.tobytes() for picture in pictures}) == VIEWS_OF_HOUSE

    around = {"workspaces": WORKSPACES, "out": tmp_path / "runs"}
    live = wayfare.evaluate(live_agent(house), workers=2, **around)
    images = {"data_dir": house["data_dir"], "images": str(baked.folder)}
    served = [wayfare.evaluate(served_agent(images), workers=n, **around) for n in (1, 2, 8)]
    assert len({run.digest for run in served}) == 1
    assert gazes(served[0]) == gazes(live)
    assert served[0].metrics == live.metrics
    assert sum(map(len, gazes(live))) > 2 * len(live.episodes), "the agent walks"


def test_depth_is_baked_where_it_is_rendered_and_only_there(
    house: dict[str, Any], tmp_path: Path
) -> None:
    both = bake(tmp_path / "both", house)
    colour = bake(tmp_path / "colour", {**house, "depth": False}, verify=0)

    assert [output.name for output in both.header.outputs] == ["rgb", "depth"]
    assert [output.name for output in colour.header.outputs] == ["rgb"]
    assert both.different == ()
    one, other = (np.load(baked.folder / "outputs/rgb.npy") for baked in (both, colour))
    assert np.array_equal(one, other)
    assert float(np.load(both.folder / "outputs/depth.npy").max()) > 1.0


def test_a_pose_that_is_no_view_is_refused_and_named(house: dict[str, Any], tmp_path: Path) -> None:
    np.save(tmp_path / "poses.npy", np.array([[0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 1.0]]))

    with pytest.raises(RunFailedError, match=r"no viewpoint of scan 'house': the nearest, 'a'"):
        bake(tmp_path / "store", house, poses=tmp_path / "poses.npy")


def test_without_images_it_is_said_what_is_missing(house: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(RunFailedError, match=r"renders nothing.*env_mp3d\.dataset=FOLDER"):
        bake(tmp_path / "store", {**house, "dataset": ""})


def test_the_excluded_viewpoint_is_not_rendered(house: dict[str, Any], tmp_path: Path) -> None:
    baked = bake(tmp_path / "store", house, verify=0)
    places = np.unique(np.load(baked.folder / "poses.npy")[:, :3], axis=0)
    graph = json.loads(
        (Path(house["data_dir"]) / f"connectivity/{SCAN}_connectivity.json").read_text()
    )

    assert graph == connectivity()
    assert len(places) == 6
    assert list(PLACES["x"]) not in places.tolist()
