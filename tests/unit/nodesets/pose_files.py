"""Write a finished store of poses, as `wayfare bake` does, without a simulator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nodeset.digest import digest_value
from wayfare.store.pose_header import SceneRows, StoredOutput, StoreHeader
from wayfare.store.pose_store import PoseStore
from wayfare.store.records import NodesetRecord


def make_header(
    scenes: Mapping[str, Any], outputs: Mapping[str, tuple[str, Any]], **fields: Any
) -> StoreHeader:
    """Return a header: poses by scene, each with one episode; each output's type and rows."""
    rows, first = [], 0
    for number, (scene_id, poses) in enumerate(scenes.items()):
        rows.append(SceneRows(scene_id, (number,), first, len(poses)))
        first += len(poses)
    ports = [
        StoredOutput(name, kind, "", np.asarray(data).dtype.str, np.asarray(data).shape[1:])
        for name, (kind, data) in outputs.items()
    ]
    episode = {"group": "", "step_budget": None, "info": {}}
    record = NodesetRecord(
        class_name="Gallery", file="env_gallery.py", source_hash="0", parallelism="replicated"
    )
    return StoreHeader(
        source=record,
        nodeset="env_gallery",
        request={},
        versions={},
        pose_frame=fields.get("pose_frame", "habitat"),
        split="test",
        episodes=tuple(
            {**episode, "id": str(number), "scene_id": scene_id}
            for number, scene_id in enumerate(scenes)
        ),
        scenes=tuple(rows),
        poses_hash=digest_value(np.concatenate(list(scenes.values()))).hex(),
        outputs=tuple(ports),
    )


def write_store(
    folder: Path,
    scenes: Mapping[str, Any],
    outputs: Mapping[str, tuple[str, Any]],
    *,
    is_finished: bool = True,
    **fields: Any,
) -> Path:
    """Write a store in which row k of an output is row k of its data."""
    header = make_header(scenes, outputs, **fields)
    poses = np.concatenate(list(scenes.values()))
    with PoseStore.create(folder, header, poses) as store:
        for row in range(len(poses)):
            store.put(row, {name: np.asarray(data[row]) for name, (_, data) in outputs.items()})
        store.commit(range(len(poses)))
        if is_finished:
            store.finish(None)
    return folder


def make_poses(*places: tuple[float, float, float]) -> Any:
    """Return poses at (x, z, yaw in degrees), in Habitat's frame."""
    halves = np.radians([place[2] for place in places]) / 2
    poses = np.zeros((len(places), 7))
    poses[:, 0], poses[:, 2] = ([place[axis] for place in places] for axis in (0, 1))
    poses[:, 4], poses[:, 6] = np.sin(halves), np.cos(halves)
    return poses
