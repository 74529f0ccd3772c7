"""Write a run's episodes until stopped; the process that the tests beside it kill or starve."""

import resource
import sys
from pathlib import Path

from wayfare.store.errors import StorageWriteError
from wayfare.store.records import EpisodeKey, EpisodeRecord, Firing, PlannedEpisode, RunHeader
from wayfare.store.run import RunReader
from wayfare.store.writer import RunWriter

EPISODES = 5000


def key(number):
    return EpisodeKey("env", "0123456789", "val", "scene", str(number))


def open_run(root, folder):
    if folder != "-":
        return RunWriter.reopen(Path(folder))
    planned = tuple(PlannedEpisode(key=key(n), index=n) for n in range(EPISODES))
    header = RunHeader(
        created="2026-01-02T03:04:05Z",
        graph={},
        graph_hash="aa",
        graph_name="agent",
        seed=7,
        worker_count=1,
        split="val",
        episodes=planned,
        episodes_hash="bb",
    )
    return RunWriter.create(root, header)


def write(writer):
    done = {record.index for record in RunReader(writer.folder, writer.header).records()}
    for number in sorted(set(range(EPISODES)) - done):
        firings = [Firing("step", (turn,), number.to_bytes(16)) for turn in range(20)]
        record = EpisodeRecord(key=key(number), index=number, outcome="completed", worker=0)
        writer.append(record, firings)
        print(number, flush=True)


def main(root, folder, room):
    with open_run(Path(root), folder) as writer:
        print(writer.folder, flush=True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(room), resource.RLIM_INFINITY))
        try:
            write(writer)
        except StorageWriteError as error:
            print(error, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
