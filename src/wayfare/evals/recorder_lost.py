"""List as failed the videos that a run had not ended when it was killed.

Knows nothing of encoders. Their episodes are finished and not run again, so they can't be made.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wayfare.evals.recorder_choice import EpisodeChoice
from wayfare.store.recording import record_token
from wayfare.store.recording_videos import VideoList, VideoRecord, read_listed
from wayfare.store.records import EpisodeKey
from wayfare.store.truth import read_latest

LOST = "not encoded when the run was killed"


def list_lost_videos(
    folder: Path, keys: Sequence[EpisodeKey], choice: EpisodeChoice, *, listing: VideoList
) -> None:
    """List every wanted episode that is on record but not on the list of videos.

    `keys` are those of the run's list. Which videos an episode would have had is taken from the
    others. Raises StorageWriteError, CorruptFileError.
    """
    listed = read_listed(folder)
    sources = sorted({(video.path, video.port) for videos in listed.values() for video in videos})
    if not sources:
        return
    for entry in read_latest(folder, keys):
        token = record_token(entry.record)
        if token in listed or not choice.may_want(entry.position):
            continue
        if choice.wants(entry.record):
            key = entry.record.key
            listing.append(
                token,
                [VideoRecord(key=key, path=path, port=port, reason=LOST) for path, port in sources],
            )
