"""Fix what a store will hold before anything is rendered: scenes, their episodes, the tools.

Knows nothing of copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import nodeset
import wayfare
from nodeset.context import EpisodeContext
from nodeset.digest import digest_value
from wayfare.evals.bake_crew import Job
from wayfare.evals.bake_request import (
    BakeRequest,
    ListTool,
    Poses,
    RenderTool,
    hash_poses,
    read_poses,
)
from wayfare.evals.comparison_header import compare_facts, facts_of
from wayfare.evals.episodes import EpisodePlan
from wayfare.evals.errors import ResumeRefusedError
from wayfare.store.pose_header import SceneRows, StoredOutput, StoreHeader
from wayfare.store.pose_store import PoseStore
from wayfare.store.records import NodesetRecord

JOB_ROWS = 64
"""Rows that a worker renders between two looks at whether its copy is still a good one."""


class BakePlan:
    """What is to be rendered: episodes in their scenes, by which tools.

    `listing` is the tool that lists poses; None: they are in a file.
    """

    def __init__(
        self,
        request: BakeRequest,
        source: NodesetRecord,
        episodes: EpisodePlan,
        *,
        render: RenderTool,
        listing: ListTool | None,
        pose_frame: str,
    ) -> None:
        self.request = request
        self.render, self.listing = render, listing
        self.scenes = _group(episodes, by_scene=request.by == "scene")
        """Each scene's scene_id and its episodes, as places in the selection."""
        self._source = source
        self._episodes = episodes
        self._pose_frame = pose_frame
        self._listed = tuple(dict(episodes.listed[p.index]) for p in episodes.planned)

    def job(self, scene: int, rows: Sequence[int] = (), *, position: int | None = None) -> Job:
        """Return a job in a scene: in its first episode, or that at `position` of the selection."""
        place = self.scenes[scene][1][0] if position is None else position
        episode: EpisodeContext = self._episodes.context(self._episodes.planned[place], 0)
        return Job(scene, episode, tuple(rows))

    def list_jobs(self, store: PoseStore) -> list[Job]:
        """Return the jobs that finish the store."""
        jobs = []
        for number, scene in enumerate(store.header.scenes):
            missing = store.list_missing(scene)
            parts = (missing[at : at + JOB_ROWS] for at in range(0, len(missing), JOB_ROWS))
            jobs += [self.job(number, part) for part in parts]
        return jobs

    def sample_jobs(self, header: StoreHeader, count: int, seed: int) -> list[Job]:
        """Return the jobs that look at `count` rows again, drawn by `seed`, in another order.

        In a scene of several episodes any of them may be the one that begins.
        """
        rng = np.random.default_rng(seed)
        rows = rng.choice(header.rows, count, replace=False).tolist()
        jobs = []
        for number, scene in enumerate(header.scenes):
            own = [row for row in rows if scene.first_row <= row < scene.stop_row]
            position = scene.episodes[int(rng.integers(len(scene.episodes)))]
            if own:
                jobs.append(self.job(number, own, position=position))
        return jobs

    def read_poses(self) -> list[Poses]:
        """Return each scene's poses from the file. Raises SetupError."""
        file = self.request.poses_file
        assert file is not None  # noqa: S101  only asked for where no tool lists them
        return read_poses(file, [scene_id for scene_id, _ in self.scenes])

    def header(self, poses: Sequence[Poses], outputs: Sequence[StoredOutput]) -> StoreHeader:
        """Return the header of a store that is about to be made."""
        scenes, first = [], 0
        for (scene_id, own), rows in zip(self.scenes, map(len, poses), strict=True):
            scenes.append(SceneRows(scene_id, own, first, rows))
            first += rows
        return replace(
            self._empty_header(),
            scenes=tuple(scenes),
            poses_hash=hash_poses(np.concatenate(poses)),
            outputs=tuple(outputs),
        )

    def refuse_another(self, there: StoreHeader) -> None:
        """Refuse to go on with a store of another request. Raises ResumeRefusedError."""
        before, now = _list_facts(there), _list_facts(self._empty_header())
        differences = [str(entry) for entry in compare_facts("setting", before, now)]
        if differences:
            lines = "\n".join(f"  {text}" for text in differences)
            raise ResumeRefusedError(
                f"store {self.request.out} was asked for otherwise:\n{lines}\n"
                f"Ask for the same again, or name another folder."
            )

    def _empty_header(self) -> StoreHeader:
        """Return the header without what poses and rows say."""
        return StoreHeader(
            source=self._source,
            nodeset=self._episodes.environment,
            request=self._describe_request(),
            versions={"wayfare": wayfare.__version__, "nodeset": nodeset.__version__},
            pose_frame=self._pose_frame,
            split=self._episodes.split,
            episodes=self._listed,
            scenes=(),
            poses_hash="",
            outputs=(),
        )

    def _describe_request(self) -> dict[str, Any]:
        return {
            "tool": self.render.name,
            "configuration of the tool": dict(self.render.config),
            "outputs": [port.name for port in self.render.outputs],
            "rows by": self.request.by,
            "hash of the episodes": digest_value(list(self._listed)).hex(),
            **self._describe_poses(),
        }

    def _describe_poses(self) -> dict[str, Any]:
        listing = self.listing
        if listing is not None:
            return {"poses": listing.name, "configuration of the poses": dict(listing.config)}
        return {"poses": f"a file: {hash_poses(np.concatenate(self.read_poses()))}"}


def _group(plan: EpisodePlan, *, by_scene: bool) -> list[tuple[str, tuple[int, ...]]]:
    """Return scene_id and places in the selection of each scene's episodes, in their order."""
    keys = [planned.key.scene_id for planned in plan.planned]
    if not by_scene:
        return [(scene_id, (position,)) for position, scene_id in enumerate(keys)]
    groups: dict[str, list[int]] = {}
    for position, scene_id in enumerate(keys):
        groups.setdefault(scene_id, []).append(position)
    return [(scene_id, tuple(positions)) for scene_id, positions in groups.items()]


def _list_facts(header: StoreHeader) -> Mapping[str, Any]:
    return {
        "nodeset": header.nodeset,
        "split": header.split,
        **header.request,
        **facts_of(header.source, "of the nodeset"),
        **{f"version of {name}": text for name, text in header.versions.items()},
    }
