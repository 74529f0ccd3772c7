"""Fuzz the reading and reopening of run folders: damaged, cut, mixed up and missing files.

Knows nothing of how runs are made; one is written here, as a run writes it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.fuzz.mutation import mutate
from tests.fuzz.tally import Tally

from wayfare.evals.report import summarise_run
from wayfare.store.errors import NotRecordedError, StoreError
from wayfare.store.listing import list_runs
from wayfare.store.recording import record_token
from wayfare.store.recording_actions import ActionFile, RecordedAction, pack_action
from wayfare.store.recording_videos import VideoList, VideoRecord
from wayfare.store.records import (
    Attempt,
    EpisodeKey,
    EpisodeRecord,
    ErrorRecord,
    Firing,
    PlannedEpisode,
    RunHeader,
)
from wayfare.store.resumption import Resumption, read_resumptions
from wayfare.store.run import RunReader
from wayfare.store.writer import RunWriter

RULES = {
    "checksum": "is damaged: its checksum",
    "no JSON": "can't be read: .",
    "no object": "it must hold an object",
    "version": "has format version",
    "no run": "there is no run",
    "missing": "can't be read: No such file",
    "head": "the file does not begin as",
    "length": "a record's length is damaged",
    "content": "a record's content is damaged",
    "firings of another": "of another episode than the record",
    "firings cut": "no whole record stands at byte",
    "another's": "is another run's",
    "no record": "no episode record",
    "unreadable": "unreadable",
}
EPISODES = 12
MAX_DAMAGES = 3


class Original:
    """A whole run: its files, its records in every version that was written, its firings."""

    def __init__(self, root: Path, name: str) -> None:
        keys = [
            EpisodeKey("env", "ab" * 8, "val", f"s{n % 2}", f"{name}{n}") for n in range(EPISODES)
        ]
        planned = tuple(PlannedEpisode(key=key, index=n) for n, key in enumerate(keys))
        writer = RunWriter.create(root, _header(planned))
        self.folder, self.header = writer.folder, writer.header
        self.versions: dict[EpisodeKey, list[EpisodeRecord]] = {key: [] for key in keys}
        self.firings = {key: [Firing("step", (n,), bytes([n] * 16))] for n, key in enumerate(keys)}
        records = [_record(n, key) for n, key in enumerate(keys)]
        tries = records[3].attempts * 2
        again = replace(
            records[3], outcome="completed", error=None, digest="0f" * 16, attempts=tries
        )
        actions, videos = ActionFile(self.folder), VideoList(self.folder)
        with writer:
            for record in records[:-2]:
                self._write(writer, record, actions, videos)
        with RunWriter.reopen(self.folder) as writer:
            note = Resumption(at="2026-01-02T03:04:05Z", worker_count=2, kept=10)
            writer.begin_again(note, writer.list_left())
            for record in [again, *records[-2:]]:
                self._write(writer, record, actions, videos)
            self.summary = summarise_run(RunReader(self.folder, self.header))
            writer.finish(self.summary)
        actions.close()
        videos.close()
        self.files = {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def _write(
        self, writer: RunWriter, record: EpisodeRecord, actions: ActionFile, videos: VideoList
    ) -> None:
        token = record_token(record)
        packed = pack_action(RecordedAction("step", (0,), "action", record.index))
        actions.append_episode(record.index, token, actions=packed)
        videos.append(token, [VideoRecord(key=record.key, path="look", port="rgb", file="a.mp4")])
        writer.append(record, self.firings[record.key])
        self.versions[record.key].append(record)


def fuzz_folders(seed: int, count: int) -> Tally:
    """Damage a run folder `count` times; it is refused by a rule, or holds what was written."""
    tally = Tally(RULES)
    with tempfile.TemporaryDirectory(prefix="wayfare-fuzz-") as folder:
        root = Path(folder)
        original, other = Original(root / "original", "a"), Original(root / "other", "b")
        place = root / "runs" / original.folder.name

        def one(number: int) -> None:
            rng = Random(f"{seed} {number}")
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            for name, content in _damage(rng, original.files, other.files).items():
                (place / name).write_bytes(content)
            for check in (_read, _reopen):
                try:
                    check(original, place)
                except StoreError as error:
                    tally.refused(str(error), number)
                else:
                    tally.accepted()

        tally.run(count, one)
    return tally


def _damage(rng: Random, files: dict[str, bytes], others: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files with some of them damaged, gone or another run's."""
    result = dict(files)
    for _ in range(rng.randint(1, MAX_DAMAGES)):
        name = rng.choice(sorted(files))
        match rng.choice(("mutate", "mutate", "mutate", "cut", "cut", "gone", "other", "zeros")):
            case "mutate":
                result[name] = mutate(rng, result.get(name, b""))
            case "cut":
                result[name] = result.get(name, b"")[: rng.randint(0, len(files[name]))]
            case "gone":
                result.pop(name, None)
            case "other":
                result[name] = others[name]
            case "zeros":
                result[name] = result.get(name, b"") + bytes(rng.randint(1, 9000))
    return result


def _read(original: Original, place: Path) -> None:
    """Read everything; what is there was written."""
    list_runs(place.parent)
    reader = RunReader.open(place, place.parent)
    records = reader.records()
    _check_records(original, records)
    assert sorted(r.key for r in reader.iter_records()) == sorted(r.key for r in records)
    summary = summarise_run(reader)
    assert summary.episodes.total == EPISODES
    for record, firings in reader.all_firings():
        assert firings == original.firings[record.key]
        try:
            (action,) = reader.actions(record.key)
        except NotRecordedError:
            continue
        assert action.value == record.index
    assert {video.path for video in reader.videos()} <= {"look"}
    assert len(read_resumptions(place)) <= 1


def _reopen(original: Original, place: Path) -> None:
    """Go on with the run; it ends as it did before, each episode once."""
    with RunWriter.reopen(place) as writer:
        left = writer.list_left()
        note = Resumption(at="2026-01-02T03:04:06Z", worker_count=1, kept=EPISODES - len(left))
        writer.begin_again(note, left)
        keys = [writer.header.episodes[position].key for position in left]
        for key in keys:
            writer.append(original.versions[key][-1], original.firings[key])
        assert writer.is_complete
    reader = RunReader.open(place, place.parent)
    assert reader.records() == [versions[-1] for versions in original.versions.values()]
    for record, firings in reader.all_firings():
        assert firings == original.firings[record.key]


def _check_records(original: Original, records: Sequence[EpisodeRecord]) -> None:
    assert len({record.key for record in records}) == len(records)
    for record in records:
        assert record in original.versions[record.key]


def _record(number: int, key: EpisodeKey) -> EpisodeRecord:
    error = ErrorRecord(kind="infrastructure", type="CopyDied", message="gone", exit_status=-9)
    is_lost = number == 3
    return EpisodeRecord(
        key=key,
        index=number,
        outcome="error" if is_lost else "completed",
        worker=number % 2,
        attempts=(Attempt(number=1, worker=0, started_seconds=0.0, ended_seconds=number + 0.5),),
        metrics={} if is_lost else {"success": number % 3 == 0, "steps": number},
        digest=f"{number:032x}",
        error=error if is_lost else None,
    )


def _header(planned: tuple[PlannedEpisode, ...]) -> RunHeader:
    return RunHeader(
        created="2026-01-02T03:04:05Z",
        graph={"version": 1, "nodes": [], "edges": []},
        graph_hash="aa",
        graph_name="agent",
        seed=7,
        worker_count=2,
        split="val",
        episodes=planned,
        episodes_hash="bb",
        settings={"record": "actions"},
    )
