"""A request is read against what the nodeset offers, and refused with what there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodeset.loading import load_nodeset
from nodeset.manifest import describe_tool
from wayfare.evals.bake_request import (
    BakeRequest,
    check_node_config,
    check_poses,
    choose_list_tool,
    choose_render_tool,
    read_poses,
)
from wayfare.evals.errors import SetupError

POSE = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0])
KEPT = ("rgb", "depth", "far")


@pytest.fixture(scope="module")
def manifest(repo_root: Path) -> dict[str, Any]:
    path = repo_root / "tests" / "workspace" / "nodesets" / "env_gallery.py"
    tools = load_nodeset(str(path)).tools
    described = [describe_tool(name, tool) for name, tool in tools.items()]
    return {"name": "env_gallery", "tools": described}


def request(**fields: Any) -> BakeRequest:
    return BakeRequest(nodeset="env_gallery", out=Path("store"), **{"outputs": KEPT, **fields})


def test_the_tools_are_found_by_their_ports(manifest: Any) -> None:
    asked = request(node_config={"count": 3})
    render, listing = choose_render_tool(asked, manifest), choose_list_tool(asked, manifest)

    assert (render.name, render.pose_port, dict(render.config)) == ("look", "pose", {})
    assert tuple(port.name for port in render.outputs) == KEPT
    assert (listing.name, dict(listing.config)) == ("poses", {"count": 3})


def test_a_tool_may_be_named_in_full(manifest: Any) -> None:
    asked = request(tool="env_gallery__stand", outputs=())

    assert choose_render_tool(asked, manifest).name == "stand"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"tool": "poses"}, r"--tool poses.*There are: look, stand"),
        ({"tool": "nothing"}, "There are: look, stand"),
        ({"outputs": ("gold",)}, "'look' has no output 'gold'; it has: rgb, depth, far, caption"),
        ({"outputs": ()}, "'caption' of 'look' is a TEXT.*--outputs rgb,depth,far"),
    ],
)
def test_what_does_not_render_rows_is_refused(manifest: Any, fields: Any, told: str) -> None:
    with pytest.raises(SetupError, match=told):
        choose_render_tool(request(**fields), manifest)


def test_what_does_not_list_poses_is_refused(manifest: Any) -> None:
    with pytest.raises(SetupError, match=r"--poses look.*There are: poses.*FILE\.npy"):
        choose_list_tool(request(poses="look"), manifest)


def test_configuration_that_no_tool_takes_is_refused(manifest: Any) -> None:
    asked = request(node_config={"spacing": 1})
    tools = [choose_render_tool(asked, manifest), choose_list_tool(asked, manifest)]

    with pytest.raises(SetupError, match="neither of look, poses knows it; the keys are: count"):
        check_node_config(asked, manifest, tools)


def test_configuration_of_another_kind_is_refused(manifest: Any) -> None:
    asked = request(node_config={"count": "many"})
    tools = [choose_render_tool(asked, manifest), choose_list_tool(asked, manifest)]

    with pytest.raises(SetupError, match=r"poses' takes a number.*got 'many'"):
        check_node_config(asked, manifest, tools)


@pytest.mark.parametrize(
    ("poses", "told"),
    [
        (np.zeros((0, 7)), "there are no poses"),
        (POSE, r"got an array \(7,\)"),
        (np.array([POSE, POSE * 2]), "pose 1 is .*quaternion of length 1"),
        (np.array([POSE * np.nan]), "pose 0 is "),
        (np.array([POSE]).astype(str), "of <U"),
    ],
)
def test_what_are_no_poses_is_refused(poses: Any, told: str) -> None:
    with pytest.raises(SetupError, match=told):
        check_poses(poses, "there")


def test_a_file_has_poses_for_all_scenes_or_for_each(tmp_path: Path) -> None:
    np.save(tmp_path / "all.npy", np.array([POSE]))
    np.savez(tmp_path / "each.npz", hall=np.array([POSE, POSE]))

    assert [len(poses) for poses in read_poses(tmp_path / "all.npy", ["hall", "attic"])] == [1, 1]
    assert [len(poses) for poses in read_poses(tmp_path / "each.npz", ["hall"])] == [2]
    with pytest.raises(SetupError, match=r"has no array for scene 'attic'.*It has: hall"):
        read_poses(tmp_path / "each.npz", ["hall", "attic"])
    with pytest.raises(SetupError, match="can't be read"):
        read_poses(tmp_path / "none.npy", ["hall"])


@pytest.mark.parametrize(
    "fields", [{"worker_count": 0}, {"verified": -1}, {"retries": -1}, {"by": "room"}]
)
def test_numbers_have_bounds(fields: Any) -> None:
    with pytest.raises(SetupError, match="must be"):
        request(**fields)


def test_of_several_tools_that_see_the_one_that_takes_a_pose_is_chosen(manifest: Any) -> None:
    look = next(tool for tool in manifest["tools"] if tool["name"] == "look")
    aim = {**look, "name": "aim", "inputs": [{**look["inputs"][0], "name": "camera_pose"}]}
    twice = {**look, "name": "gaze"}

    def choose(*tools: Any) -> str:
        return choose_render_tool(request(), {"name": "env_gallery", "tools": tools}).name

    assert choose(aim, look) == "look"
    assert choose(aim) == "aim"
    with pytest.raises(SetupError, match="There are: look, gaze"):
        choose(look, twice)
