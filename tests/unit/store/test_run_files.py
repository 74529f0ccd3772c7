"""A run's files are held to one another: what is damaged, missing or another run's is told."""

import json
from dataclasses import replace

import pytest
from tests.unit.store.example import (
    fault,
    firings,
    header,
    key,
    record,
    reopen,
    resumption,
    summary,
)

from wayfare.store.errors import (
    CorruptFileError,
    FormatVersionError,
    StorageWriteError,
)
from wayfare.store.folder import read_header, read_summary
from wayfare.store.labels import read_labels
from wayfare.store.listing import list_runs
from wayfare.store.resumption import add_resumption, find_resumptions, read_resumptions
from wayfare.store.run import RunReader
from wayfare.store.writer import RunWriter


def test_going_on_removes_a_summary_that_would_soon_be_wrong(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        writer.finish(summary(writer.header.run_id, "incomplete"))
    with RunWriter.reopen(writer.folder) as again:
        assert RunReader.open(writer.folder, tmp_path).summary() is not None
        again.begin_again(resumption(), again.list_left())
    assert RunReader.open(writer.folder, tmp_path).summary() is None
    assert read_resumptions(writer.folder) == (resumption(),)


def test_a_run_of_another_format_says_so_and_the_list_goes_on(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        path = writer.folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 2}))
    with pytest.raises(FormatVersionError, match="written by a newer one"):
        RunReader.open(writer.folder, tmp_path)
    (entry,) = list_runs(tmp_path)
    assert entry.status == "unreadable"
    assert "newer" in entry.problem


def test_a_damaged_header_names_its_file(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        (writer.folder / "run.json").write_text("{")
    with pytest.raises(CorruptFileError, match=r"run\.json"):
        RunReader.open(writer.folder, tmp_path)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("run.json", read_header),
        ("plan.json", read_header),
        ("summary.json", read_summary),
        ("resumptions.json", read_resumptions),
    ],
)
def test_a_changed_byte_in_a_document_is_told(tmp_path, name, read):
    with RunWriter.create(tmp_path, header()) as writer:
        add_resumption(writer.folder, resumption())
        writer.finish(summary(writer.header.run_id))
    path = writer.folder / name
    path.write_text(path.read_text()[::-1])
    with pytest.raises(CorruptFileError, match=name.replace(".", r"\.")):
        read(writer.folder)


def test_a_run_is_listed_by_its_records_where_its_summary_is_damaged(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        for number in range(3):
            writer.append(record(number), firings(number))
        writer.finish(summary(writer.header.run_id))
        (writer.folder / "summary.json").write_text("{}")
    (entry,) = list_runs(tmp_path)
    assert (entry.status, entry.finished, entry.total) == ("incomplete", 3, 4)
    assert entry.has_damage
    assert "summary.json is damaged" in entry.problem
    with RunWriter.reopen(writer.folder) as again:
        again.append(record(3), firings(3))
    assert list_runs(tmp_path)[0].status == "done"


def test_a_run_goes_on_whose_earlier_resumptions_are_damaged_and_keeps_them_aside(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        writer.append(record(0), firings(0))
    path = writer.folder / "resumptions.json"
    path.write_text("damaged")
    assert find_resumptions(writer.folder)[0] == ()
    with RunWriter.reopen(writer.folder) as again:
        (note,) = again.dropped
        assert path.read_text() == "damaged"
        again.begin_again(resumption(), again.list_left())
    assert "It is kept as resumptions.json.damaged" in note
    assert read_resumptions(writer.folder) == (resumption(),)
    assert (writer.folder / "resumptions.json.damaged").read_text() == "damaged"


def test_a_run_is_listed_with_the_workers_of_all_its_parts(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        writer.append(record(0), firings(0))
    assert list_runs(tmp_path)[0].worker_counts == (2,)
    for count in (3, 5):
        with RunWriter.reopen(writer.folder) as again:
            again.begin_again(resumption(worker_count=count), again.list_left())
    (entry,) = list_runs(tmp_path)
    assert (entry.worker_counts, entry.worker_count) == ((2, 3, 5), 5)
    (writer.folder / "resumptions.json").write_text("damaged")
    (entry,) = list_runs(tmp_path)
    assert (entry.worker_counts, entry.has_damage) == ((2,), True)
    with RunWriter.reopen(writer.folder) as again:
        again.finish(replace(summary(writer.header.run_id, "incomplete"), worker_count=5))
    assert list_runs(tmp_path)[0].worker_counts == (2, 5)


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


def test_a_run_that_can_not_be_written_goes_on_nowhere_else(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        (writer.folder / "lock").unlink()
        (writer.folder / "lock").mkdir()
    with pytest.raises(StorageWriteError, match=r"A run goes on where it lies: make its folder"):
        RunWriter.reopen(writer.folder)


def test_a_folder_that_is_a_run_has_its_labels(tmp_path, monkeypatch):
    def fail(folder, header):
        raise KeyboardInterrupt

    monkeypatch.setattr("wayfare.store.writer.write_header", fail)
    with pytest.raises(KeyboardInterrupt):
        RunWriter.create(tmp_path, header(1), labels={"goal": ["bed"]})
    (folder,) = tmp_path.iterdir()
    assert read_labels(folder, 1) == {"goal": ["bed"]}
