"""Record the poses that an environment's leaderboard asks for, from the ports that give them.

Knows nothing of how files of leaderboards look.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from nodeset.submission import FORMATS
from wayfare.evals.recorder_track import Outputs, Tool
from wayfare.graph.calls import ToolCall
from wayfare.store.recording_poses import PoseFile
from wayfare.store.records import EpisodeRecord, SubmissionRecord


class PosePorts:
    """The output ports that give poses, by tool, and what is kept of a pose."""

    def __init__(self, submission: SubmissionRecord) -> None:
        self._keys = FORMATS[submission.format].keys
        self.ports: dict[Tool, list[str]] = defaultdict(list)
        for text in submission.poses:
            tool, _, port = text.partition(".")
            self.ports[submission.nodeset, tool].append(port)

    def trim(self, pose: Any) -> Any:
        """Return what the format needs of a pose, as plain numbers and texts."""
        if isinstance(pose, Mapping):
            return {key: _as_plain(pose[key]) for key in self._keys if key in pose}
        return _as_plain(pose)


class PoseTrack:
    """The poses of one attempt, in the order in which the calls that gave them were answered."""

    def __init__(self, file: PoseFile, ports: PosePorts) -> None:
        self._file = file
        self._ports = ports
        self._poses: list[Any] = []

    def begin(self, call: ToolCall) -> bool:
        """Want the calls of tools that give poses."""
        return (call.nodeset, call.tool) in self._ports.ports

    async def note(self, call: ToolCall, outputs: Outputs) -> None:
        """Take the poses; a call that failed gave none."""
        for port in self._ports.ports[call.nodeset, call.tool]:
            if outputs is not None and outputs.get(port) is not None:
                self._poses.append(self._ports.trim(outputs[port]))

    async def keep(self, record: EpisodeRecord, token: bytes) -> None:  # noqa: ARG002
        """Wait until the disk has the poses, if only none. Raises StorageWriteError."""
        await asyncio.to_thread(self._file.append_episode, token, self._poses)

    def discard(self) -> None:
        """Forget the poses."""
        self._poses.clear()


def _as_plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
