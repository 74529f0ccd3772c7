"""Record a run: a tape per attempt, kept with its episode's record or thrown away.

Knows nothing of episodes' order, of retries or of what is recorded on which track.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from nodeset.context import EpisodeContext
from nodeset.errors import NodeSetError
from wayfare.evals.recorder_choice import RecordRequest
from wayfare.evals.recorder_lane import Lane
from wayfare.evals.recorder_lost import list_lost_videos
from wayfare.evals.recorder_pose import PosePorts, PoseTrack
from wayfare.evals.recorder_track import (
    ActionTrack,
    CallTrack,
    EpisodeTarget,
    Outputs,
    ToolPorts,
    Track,
)
from wayfare.evals.recorder_video import OpenVideo, VideoTrack
from wayfare.evals.video import Mp4Writer
from wayfare.graph.calls import InfrastructureError, Invoker, ToolCall
from wayfare.store.errors import NoRoomError
from wayfare.store.recording import (
    CALLS_FOLDER,
    VIDEOS_FOLDER,
    record_token,
    remove_parts,
    remove_strays,
)
from wayfare.store.recording_actions import ActionFile
from wayfare.store.recording_poses import PoseFile
from wayfare.store.recording_videos import VideoList
from wayfare.store.records import EpisodeRecord, PlannedEpisode, RunHeader
from wayfare.store.room import Room
from wayfare.store.truth import EPISODES_FILE

_CORES_PER_LANE = 4
"""Of so many cores recording may take one; the others belong to those who bring the frames."""


class Tape:
    """What is recorded of one attempt; `keep` or `discard` ends it."""

    def __init__(self, tracks: Sequence[Track], open_tapes: set[Tape]) -> None:
        self._tracks = tracks
        self._open_tapes = open_tapes
        open_tapes.add(self)

    def wrap(self, invoker: Invoker) -> Invoker:
        """Return an invoker that answers as `invoker` does and has its calls recorded."""
        return _RecordedInvoker(invoker, self._tracks) if self._tracks else invoker

    async def keep(self, record: EpisodeRecord) -> None:
        """Keep it for a record that is about to be committed: the disk has it before the record.

        Videos are ended later. Raises StorageWriteError when the disk refuses.
        """
        token = record_token(record) if self._tracks else b""
        for track in self._tracks:
            await track.keep(record, token)
        self._open_tapes.discard(self)

    def discard(self) -> None:
        """Forget an attempt that does not count; a second call does nothing."""
        if self in self._open_tapes:
            self._open_tapes.remove(self)
            for track in self._tracks:
                track.discard()


class Recorder:
    """Gives each attempt its tape; an async context manager that owns files and threads."""

    def __init__(
        self,
        request: RecordRequest,
        folder: Path,
        header: RunHeader,
        *,
        manifests: Mapping[str, Mapping[str, Any]],
        open_video: OpenVideo = Mp4Writer,
        room: Room | None = None,
    ) -> None:
        self._request = request
        self._folder = folder
        self._positions = {planned.key: n for n, planned in enumerate(header.episodes)}
        self._worker_count = header.worker_count
        self._ports = ToolPorts.read(manifests)
        self._pose_ports = PosePorts(header.submission) if header.submission else None
        self._open_video = open_video
        self._room = room
        self._files = ExitStack()
        self._lanes: list[Lane] = []
        self._tapes: set[Tape] = set()
        self._unsettled: list[VideoTrack] = []
        self._goes_on = False
        """Whether videos are made of a run that may have been killed before."""

    async def __aenter__(self) -> Recorder:
        if self._request.mode == "none":
            return self
        self._actions = ActionFile(self._folder, self._room)
        self._files.callback(self._actions.close)
        if self._pose_ports is not None:
            self._poses = PoseFile(self._folder, self._room)
            self._files.callback(self._poses.close)
        if self._request.mode == "actions":
            return self
        keys = list(self._positions)
        lane_count = min(self._worker_count, 1 + _count_cores() // _CORES_PER_LANE)
        self._lanes = [Lane(f"recorder {number}") for number in range(lane_count)]
        if self._request.mode == "frames":
            _make_clean(self._folder / VIDEOS_FOLDER)
            self._listing = VideoList(self._folder, self._room)
            self._files.callback(self._listing.close)
            self._goes_on = (self._folder / EPISODES_FILE).exists()
            self._list_lost()
        else:
            _make_clean(self._folder / CALLS_FOLDER)
            remove_strays(self._folder, keys)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for tape in list(self._tapes):
            tape.discard()
        await asyncio.gather(*(lane.close() for lane in self._lanes))
        with suppress(NoRoomError):  # the run was asked to end while the disk was full
            for track in self._unsettled:
                track.give_up()
            if kind is None and self._goes_on:
                self._list_lost()  # at the start no video may have been there to tell the ports by
        self._files.close()
        if kind is None:
            with suppress(NoRoomError):
                for lane in self._lanes:
                    lane.check()

    def _list_lost(self) -> None:
        keys = list(self._positions)
        list_lost_videos(self._folder, keys, self._request.only, listing=self._listing)

    def start(self, worker: int, planned: PlannedEpisode, episode: EpisodeContext) -> Tape:
        """Return the tape for an attempt of a worker at an episode."""
        target = EpisodeTarget(
            self._folder,
            self._positions[planned.key],
            episode,
            choice=self._request.only,
            room=self._room,
        )
        return Tape(list(self._make_tracks(worker, target)), self._tapes)

    def _make_tracks(self, worker: int, target: EpisodeTarget) -> Iterator[Track]:
        mode = self._request.mode
        if mode == "none":
            return
        yield ActionTrack(self._actions, self._ports, target.position)
        if self._pose_ports is not None:
            yield PoseTrack(self._poses, self._pose_ports)
        if mode == "actions" or not target.choice.may_want(target.position):
            return
        lane = self._lanes[worker % len(self._lanes)]
        if mode == "full":
            yield CallTrack(lane, self._ports, target)
            return
        video = VideoTrack(
            lane, self._ports, target, open_video=self._open_video, listing=self._listing
        )
        self._unsettled = [track for track in self._unsettled if not track.is_settled] + [video]
        yield video


class _RecordedInvoker:
    """Answers as another invoker does; tracks are told when calls begin and, if they ask, end."""

    def __init__(self, invoker: Invoker, tracks: Sequence[Track]) -> None:
        self._invoker = invoker
        self._tracks = tracks

    def invoke(self, call: ToolCall) -> Awaitable[dict[str, Any]]:
        followers = [track for track in self._tracks if track.begin(call)]
        begun = self._invoker.invoke(call)
        if not followers:
            return begun
        answer = asyncio.ensure_future(begun)
        following = asyncio.ensure_future(_follow(call, answer, followers))
        following.add_done_callback(lambda _: answer.cancel())  # if it was, before it could begin
        return following


async def _follow(
    call: ToolCall, answer: asyncio.Future[dict[str, Any]], followers: Sequence[Track]
) -> dict[str, Any]:
    try:
        outputs = await answer
    except (NodeSetError, InfrastructureError):
        await _note(call, None, followers)
        raise
    await _note(call, outputs, followers)
    return outputs


async def _note(call: ToolCall, outputs: Outputs, tracks: Sequence[Track]) -> None:
    for track in tracks:
        await track.note(call, outputs)


def _make_clean(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    remove_parts(folder)


def _count_cores() -> int:
    return len(os.sched_getaffinity(0))
