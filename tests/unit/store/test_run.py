"""A run's folder: every episode once, whatever happens to the writer."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from wayfare.store.errors import (
    CorruptFileError,
    FormatVersionError,
    RecordRefusedError,
    RunLockedError,
    RunNotFoundError,
    StorageWriteError,
)
from wayfare.store.listing import list_runs
from wayfare.store.records import (
    Attempt,
    EpisodeKey,
    EpisodeRecord,
    ErrorRecord,
    Firing,
    NodesetRecord,
    PlannedEpisode,
    RunHeader,
)
from wayfare.store.resumption import Resumption, read_resumptions
from wayfare.store.run import RunReader
from wayfare.store.summary import EpisodeCounts, Invariance, RunSummary
from wayfare.store.writer import RunWriter


def key(number):
    return EpisodeKey("env", "0123456789abcdef", "val", "scene", str(number))


def header(count=4, **changes):
    planned = tuple(PlannedEpisode(key=key(n), index=n, group=f"g{n}") for n in range(count))
    fields = {
        "created": "2026-01-02T03:04:05Z",
        "graph": {"nodes": [], "edges": []},
        "graph_hash": "aa",
        "graph_name": "agent",
        "seed": 7,
        "worker_count": 2,
        "split": "val",
        "episodes": planned,
        "episodes_hash": "bb",
        "nodesets": {
            "env": NodesetRecord(
                class_name="Env", file="env.py", source_hash="cc", parallelism="replicated"
            )
        },
        "claims": {"env__step": "padded"},
    }
    return RunHeader(**{**fields, **changes})


def resumption():
    return Resumption(at="2026-01-03T03:04:05Z", worker_count=3, kept=1, forced=("~ seed: 1 -> 2",))


def reopen(folder):
    return lambda: RunWriter.reopen(folder)


def record(number, outcome="completed", error=None):
    attempt = Attempt(number=1, worker=0, started_seconds=0.5, ended_seconds=1.5, error=error)
    return EpisodeRecord(
        key=key(number),
        index=number,
        outcome=outcome,
        worker=0,
        attempts=(attempt,),
        metrics={} if error else {"success": True},
        error=error,
    )


def firings(number):
    return [Firing("a", (turn,), bytes([number, turn]) * 8) for turn in range(3)]


def fault(kind):
    return ErrorRecord(kind=kind, type="Lost", message="gone")


def summary(run_id, status="done"):
    return RunSummary(
        run_id=run_id,
        status=status,
        worker_count=2,
        elapsed_s=1.0,
        episodes=EpisodeCounts(total=4),
        metrics={},
        digest="",
        invariance=Invariance(claimed=True),
        nodesets={},
        out="",
    )


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


def test_going_on_removes_a_summary_that_would_soon_be_wrong(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        writer.finish(summary(writer.header.run_id, "incomplete"))
    with RunWriter.reopen(writer.folder) as again:
        assert RunReader.open(writer.folder, tmp_path).summary() is not None
        again.begin_again(resumption(), again.list_left())
    assert RunReader.open(writer.folder, tmp_path).summary() is None
    assert read_resumptions(writer.folder) == (resumption(),)


def test_runs_are_listed_newest_first_with_their_state(tmp_path):
    with RunWriter.create(tmp_path, header()) as done:
        done.finish(summary(done.header.run_id))
    RunWriter.create(tmp_path, header(created="2026-01-02T03:04:06Z")).close()
    with RunWriter.create(tmp_path, header(created="2026-01-02T03:04:07Z")):
        (tmp_path / "something else").mkdir()
        listed = [entry.status for entry in list_runs(tmp_path)]
    assert listed == ["running", "incomplete", "done"]
    assert list_runs(tmp_path / "nowhere") == []


def test_a_run_of_another_format_says_so_and_the_list_goes_on(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        path = writer.folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 2}))
    with pytest.raises(FormatVersionError, match="written by a newer one"):
        RunReader.open(writer.folder, tmp_path)
    (entry,) = list_runs(tmp_path)
    assert entry.status == "unreadable"
    assert "newer" in entry.problem


def test_a_missing_run_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(RunNotFoundError, match=r"no run 'x'.*wayfare runs"):
        RunReader.open("x", tmp_path)


def test_a_damaged_header_names_its_file(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        (writer.folder / "run.json").write_text("{")
    with pytest.raises(CorruptFileError, match=r"run\.json"):
        RunReader.open(writer.folder, tmp_path)


@pytest.mark.parametrize("name", ["run.json", "plan.json", "summary.json"])
def test_a_changed_byte_in_a_document_is_told(tmp_path, name):
    with RunWriter.create(tmp_path, header()) as writer:
        writer.finish(summary(writer.header.run_id))
    path = writer.folder / name
    content = path.read_text()
    path.write_text(content.replace("agent", "agenu") if name != "plan.json" else content[::-1])
    with pytest.raises(CorruptFileError, match=name.replace(".", r"\.")):
        RunReader.open(writer.folder, tmp_path).summary()


def test_a_list_of_another_run_is_told(tmp_path):
    folders = []
    for count in (3, 4):
        with RunWriter.create(tmp_path, header(count)) as writer:
            folders.append(writer.folder)
    (folders[0] / "plan.json").write_bytes((folders[1] / "plan.json").read_bytes())
    with pytest.raises(CorruptFileError, match=r"plan\.json is another run's"):
        RunReader.open(folders[0], tmp_path)


def test_records_of_another_run_are_told(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        writer.append(record(3), firings(3))
    with RunWriter.create(tmp_path, header(3)) as other:
        pass
    name = "episodes.frames"
    (other.folder / name).write_bytes((writer.folder / name).read_bytes())
    for use in (lambda: RunReader.open(other.folder, tmp_path).records(), reopen(other.folder)):
        with pytest.raises(CorruptFileError, match="is another run's"):
            use()


@pytest.mark.parametrize("name", ["episodes.frames", "firings.frames"])
def test_a_missing_file_is_told(tmp_path, name):
    with RunWriter.create(tmp_path, header()) as writer:
        writer.append(record(0), firings(0))
    (writer.folder / name).unlink()
    with pytest.raises(CorruptFileError, match=f"{name} can't be read"):
        RunWriter.reopen(writer.folder)


def test_firings_of_another_episode_are_not_taken_for_an_episodes_own(tmp_path):
    folders = []
    for order in ((0, 1), (1, 0)):
        with RunWriter.create(tmp_path, header()) as writer:
            for number in order:
                writer.append(record(number), firings(0))
            folders.append(writer.folder)
    (folders[0] / "firings.frames").write_bytes((folders[1] / "firings.frames").read_bytes())
    with pytest.raises(CorruptFileError, match="of another episode"):
        RunReader.open(folders[0], tmp_path).firings(key(0))


def test_what_is_left_are_episodes_without_a_record_and_lost_copies(tmp_path):
    with RunWriter.create(tmp_path, header(4)) as writer:
        writer.append(record(0), firings(0))
        writer.append(record(1, "error", fault("infrastructure")), [])
        writer.append(record(2, "error", fault("author")), [])
    with RunWriter.reopen(writer.folder) as again:
        assert again.list_left() == [1, 3]
        assert again.list_left(retry_errors=True) == [1, 2, 3]
        again.begin_again(resumption(), [1, 3])
        assert not again.is_complete
        again.append(record(1), firings(1))
        again.append(record(3), firings(3))
        assert again.is_complete


def test_a_dropped_record_is_told(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        writer.append(record(0), firings(0))
    path = writer.folder / "episodes.frames"
    path.write_bytes(path.read_bytes()[:-1])
    with RunWriter.reopen(writer.folder) as again:
        (line,) = again.dropped
    assert "a last record was cut short" in line
    with RunWriter.reopen(writer.folder) as again:
        assert again.dropped == []


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
    with pytest.raises(ValueError, match="JSON"):
        RunWriter.create(tmp_path, header(settings={"x": float("nan")}))
