"""Record what an attempt's image ports give, as videos, without holding up who brings the frames.

Knows nothing of encoders; whatever they do, the episode goes on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from wayfare.evals.recorder_lane import Lane
from wayfare.evals.recorder_track import EpisodeTarget, Outputs, ToolPorts
from wayfare.evals.video import Image, VideoWriter
from wayfare.graph.calls import ToolCall
from wayfare.store.recording import PART_SUFFIX, VIDEOS_FOLDER, video_folder, video_names
from wayfare.store.recording_videos import VideoList, VideoRecord, hash_file
from wayfare.store.records import EpisodeKey, EpisodeRecord

OpenVideo = Callable[[Path], VideoWriter]
NOT_ENCODED = "not encoded by the end of the run"

_Source = tuple[str, str]
"""A node's path and the name of its port."""


@dataclass(slots=True)
class _Video:
    """One video under way; it ends with its first failure."""

    part: Path
    writer: VideoWriter | None = None
    reason: str = ""


class VideoTrack:
    """One video per image port, encoded on a lane while the episode runs."""

    def __init__(
        self,
        lane: Lane,
        ports: ToolPorts,
        target: EpisodeTarget,
        *,
        open_video: OpenVideo,
        listing: VideoList,
    ) -> None:
        self._lane = lane
        self._ports = ports.images
        self._target = target
        self._open_video = open_video
        self._listing = listing
        self._videos: dict[_Source, _Video] = {}
        self._kept: tuple[EpisodeKey, bytes] | None = None
        self.is_settled = False
        """Whether its videos are listed, or gone."""

    def begin(self, call: ToolCall) -> bool:
        """Want the calls that give images."""
        return bool(self._ports.get((call.nodeset, call.tool)))

    async def note(self, call: ToolCall, outputs: Outputs) -> None:
        """Queue the call's frames; waits while too many are queued."""
        for port in self._ports.get((call.nodeset, call.tool), ()):
            frame = outputs.get(port) if outputs is not None else None
            if frame is not None:
                await self._lane.put(partial(self._write, (call.path, port), frame), frame.nbytes)

    async def keep(self, record: EpisodeRecord, token: bytes) -> None:
        """Have the videos ended and listed if the episode is wanted; waits for neither."""
        if not self._target.choice.wants(record):
            self.discard()
            return
        self._kept = record.key, token
        self._lane.put_now(self._finish)

    def discard(self) -> None:
        """Have the videos removed."""
        self._lane.put_now(self._remove)

    def give_up(self) -> None:
        """List as failed what was kept but is not ended: the lane will not do it any more."""
        if self._kept is not None and not self.is_settled:
            self._list([self._failure(source, NOT_ENCODED) for source in sorted(self._videos)])

    def _write(self, source: _Source, frame: Image) -> None:
        video = self._videos.get(source)
        if video is None:
            video = self._videos[source] = _Video(self._part(len(self._videos)))
        if video.reason:
            return
        try:
            if video.writer is None:
                video.writer = self._open_video(video.part)
            video.writer.write(frame)
        except Exception as error:  # noqa: BLE001  an encoder's; it becomes the video's reason
            video.reason = _describe(error)
            _remove(video)

    def _finish(self) -> None:
        folder = self._target.folder / VIDEOS_FOLDER / self._folder_name
        for old in folder.glob("*.mp4"):
            old.unlink()  # of an earlier try at the episode
        if self._videos:
            folder.mkdir(exist_ok=True)
        self._list([self._seal(source, video) for source, video in sorted(self._videos.items())])

    def _seal(self, source: _Source, video: _Video) -> VideoRecord:
        """Put a video that is complete in its place; return what the run's list says of it."""
        if video.reason or video.writer is None:
            _remove(video)
            return self._failure(source, video.reason)
        try:
            done = video.writer.close()
            size_bytes, file_hash = video.part.stat().st_size, hash_file(video.part)
            file = self._place(video.part, source)
        except Exception as error:  # noqa: BLE001  an encoder's; it becomes the video's reason
            _remove(video)
            return self._failure(source, _describe(error))
        return VideoRecord(
            **self._names(source),
            file=file,
            frames=done.frames,
            width=done.width,
            height=done.height,
            size_bytes=size_bytes,
            file_hash=file_hash,
        )

    def _place(self, part: Path, source: _Source) -> str:
        """Move the video to where it is found by name; return its place among the videos."""
        root = self._target.folder / VIDEOS_FOLDER
        names = (f"{self._folder_name}/{name}" for name in video_names(*source))
        file = next(name for name in names if not (root / name).exists())
        part.replace(root / file)
        return file

    def _failure(self, source: _Source, reason: str) -> VideoRecord:
        return VideoRecord(**self._names(source), reason=reason)

    def _names(self, source: _Source) -> dict[str, Any]:
        assert self._kept is not None  # noqa: S101  only what is kept is listed
        return {"key": self._kept[0], "path": source[0], "port": source[1]}

    def _list(self, videos: Sequence[VideoRecord]) -> None:
        self.is_settled = True
        if self._kept is not None:
            self._listing.append(self._kept[1], videos)

    def _remove(self) -> None:
        self.is_settled = True
        for video in self._videos.values():
            _remove(video)

    @property
    def _folder_name(self) -> str:
        return video_folder(self._target.position, self._target.episode.id)

    def _part(self, number: int) -> Path:
        name = f"{self._target.position:06d}.{number}{PART_SUFFIX}"
        return self._target.folder / VIDEOS_FOLDER / name


def _remove(video: _Video) -> None:
    """Give a video up and remove its file."""
    if video.writer is not None:
        with contextlib.suppress(Exception):  # it is thrown away, whatever the encoder says
            video.writer.close()
    video.part.unlink(missing_ok=True)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
