"""A run's folder: every episode once, whatever happens to the writer."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.unit.store.example import fault, firings, header, key, record, summary

from wayfare.store.errors import (
    RecordRefusedError,
    RunLockedError,
    RunNotFoundError,
    StorageWriteError,
)
from wayfare.store.listing import list_runs
from wayfare.store.records import PlannedEpisode
from wayfare.store.run import RunReader
from wayfare.store.writer import RunWriter


def test_a_run_reads_back_as_it_was_written(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        for number in (2, 0):
            writer.append(record(number), firings(number))
        writer.finish(summary(writer.header.run_id))
    reader = RunReader.open(writer.header.run_id, tmp_path)
    assert reader.header == writer.header
    assert reader.records() == [record(0), record(2)]
    assert reader.firings(key(2)) == firings(2)
    assert next(reader.all_firings()) == (record(0), firings(0))
    assert reader.summary() == summary(writer.header.run_id)


def test_a_run_can_be_read_while_it_is_written(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        writer.append(record(1), [])
        reader = RunReader.open(writer.folder, tmp_path)
        assert (reader.records(), reader.summary()) == ([record(1)], None)
        assert reader.is_running
    assert not reader.is_running


def test_an_episode_counts_once(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        writer.append(record(1), [])
        with pytest.raises(RecordRefusedError, match="recorded already"):
            writer.append(record(1), [])
        with pytest.raises(RecordRefusedError, match="not on the run's list of 4"):
            writer.append(record(9), [])
    with RunWriter.reopen(writer.folder) as again, pytest.raises(RecordRefusedError):
        again.append(record(1), [])


def test_an_error_gives_way_to_a_new_try(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        writer.append(record(1, "error", fault("infrastructure")), firings(0))
    with RunWriter.reopen(writer.folder) as again:
        again.append(record(1), firings(1))
    reader = RunReader.open(writer.folder, tmp_path)
    assert reader.records() == [record(1)]
    assert reader.firings(key(1)) == firings(1)


def test_a_second_writer_is_refused(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        with pytest.raises(RunLockedError, match=f"is being written by pid {os.getpid()}"):
            RunWriter.reopen(writer.folder)
        writer.append(record(0), [])
    RunWriter.reopen(writer.folder).close()


def test_twenty_runs_of_one_second_get_twenty_folders(tmp_path):
    with ThreadPoolExecutor(20) as threads:
        writers = list(threads.map(lambda _: RunWriter.create(tmp_path, header()), range(20)))
    assert len({writer.folder for writer in writers}) == 20
    assert writers[0].header.run_id.startswith("20260102T030405Z-agent-")
    for writer in writers:
        writer.close()


def test_a_graphs_name_cannot_lead_out_of_the_root(tmp_path):
    with RunWriter.create(tmp_path, header(graph_name="../../etc/über")) as writer:
        assert writer.folder.parent == tmp_path
        assert "etc" in writer.folder.name


def test_a_writer_killed_anywhere_keeps_what_was_committed(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        writer.append(record(0), firings(0))
        writer.append(record(1), firings(1))
    truth = writer.folder / "episodes.frames"
    content = truth.read_bytes()
    for size in range(0, len(content), 5):
        truth.write_bytes(content[:size])
        kept = RunReader.open(writer.folder, tmp_path).records()
        assert kept in ([], [record(0)])
        with RunWriter.reopen(writer.folder) as again:
            for number in range(len(kept), 2):
                again.append(record(number), firings(number))
        reader = RunReader.open(writer.folder, tmp_path)
        assert reader.records() == [record(0), record(1)]
        assert reader.firings(key(1)) == firings(1)


def test_a_full_disk_keeps_nothing_of_the_episode_and_lets_it_be_repeated(tmp_path, monkeypatch):
    def no_room(descriptor):
        raise OSError(28, "No space left on device")

    with RunWriter.create(tmp_path, header()) as writer:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fdatasync", no_room)
            with pytest.raises(StorageWriteError, match="No space left") as caught:
                writer.append(record(0), firings(0))
        assert caught.value.errno == 28
        assert RunReader.open(writer.folder, tmp_path).records() == []
        writer.append(record(0), firings(0))
    assert RunReader.open(writer.folder, tmp_path).firings(key(0)) == firings(0)


def test_episodes_that_finish_at_once_are_all_written(tmp_path):
    with RunWriter.create(tmp_path, header(200)) as writer, ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda n: writer.append(record(n), firings(n)), range(200)))
    reader = RunReader.open(writer.folder, tmp_path)
    assert [found.index for found, _ in reader.all_firings()] == list(range(200))
    assert all(found == firings(entry.index) for entry, found in reader.all_firings())


def test_runs_are_listed_newest_first_with_their_state(tmp_path):
    with RunWriter.create(tmp_path, header()) as done:
        done.finish(summary(done.header.run_id))
    RunWriter.create(tmp_path, header(created="2026-01-02T03:04:06Z")).close()
    with RunWriter.create(tmp_path, header(created="2026-01-02T03:04:07Z")):
        (tmp_path / "something else").mkdir()
        listed = [entry.status for entry in list_runs(tmp_path)]
    assert listed == ["running", "incomplete", "done"]
    assert list_runs(tmp_path / "nowhere") == []


def test_a_missing_run_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(RunNotFoundError, match=r"no run 'x'.*wayfare runs"):
        RunReader.open("x", tmp_path)


def test_a_root_that_is_no_folder_says_how_to_name_another(tmp_path):
    (tmp_path / "file").touch()
    for root in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(StorageWriteError, match=r"it is no folder\. .* --out or WAYFARE_RUNS"):
            RunWriter.create(root, header())


def test_a_list_with_an_episode_twice_is_refused(tmp_path):
    planned = PlannedEpisode(key=key(0), index=0)
    with pytest.raises(ValueError, match="not all different"):
        RunWriter.create(tmp_path, header(episodes=(planned, planned)))


def test_the_header_is_strict_json(tmp_path):
    with pytest.raises(StorageWriteError, match=r"settings\.x is nan, and JSON has finite"):
        RunWriter.create(tmp_path, header(settings={"x": float("nan")}))
