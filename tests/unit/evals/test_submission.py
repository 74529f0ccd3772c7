"""A run becomes a leaderboard's file, or says why not."""

import json

import pytest

from wayfare.evals.episodes import hash_episodes
from wayfare.evals.export import export_csv, export_json, list_run_columns
from wayfare.evals.submission import ExportError, make_submission
from wayfare.store.errors import CorruptFileError
from wayfare.store.recording import record_token
from wayfare.store.recording_poses import PoseFile
from wayfare.store.records import (
    EpisodeKey,
    EpisodeRecord,
    ErrorRecord,
    PlannedEpisode,
    RunHeader,
    SubmissionRecord,
)
from wayfare.store.run import RunReader
from wayfare.store.writer import RunWriter

FAULT = ErrorRecord(kind="author", type="ValueError", message="bad")
STEPS = {
    "1": [{"position": [0, 0, 0]}, {"position": [1, 0, 0], "heading": 0.5}],
    "2": [{"position": [5, 0, 0]}],
}
SUBMISSION = SubmissionRecord(nodeset="env", format="vln_ce", poses=("reset.pose",))


def keys(*ids, scenes=("hall",), repeats=1):
    return [
        EpisodeKey("env", "0123", "val", scene, id_, repeat)
        for repeat in range(repeats)
        for scene in scenes
        for id_ in ids
    ]


def header(planned, **changes):
    fields = {
        "created": "2026-01-02T03:04:05Z",
        "graph": {},
        "graph_hash": "aa",
        "graph_name": "agent",
        "seed": 7,
        "worker_count": 1,
        "split": "val",
        "episodes": tuple(PlannedEpisode(key=key, index=n) for n, key in enumerate(planned)),
        "episodes_hash": hash_episodes(planned),
        "submission": SUBMISSION,
    }
    return RunHeader(**{**fields, **changes})


def record(key, outcome="completed"):
    return EpisodeRecord(
        key=key,
        index=0,
        outcome=outcome,
        worker=0,
        group="g1",
        metrics={"success": key.id == "1"} if outcome != "error" else {},
        digest="ab" * 16,
        error=FAULT if outcome == "error" else None,
    )


def write(folder, planned, records, poses=None, **changes):
    """Write a run of these records, each with its episode's poses; return its reader."""
    with RunWriter.create(folder, header(planned, **changes)) as writer:
        file = PoseFile(writer.folder)
        for entry in records:
            found = STEPS.get(entry.key.id, ()) if poses is None else poses
            if found:
                file.append_episode(record_token(entry), found)
            writer.append(entry, [])
        file.close()
    return RunReader.open(writer.folder, folder)


def test_every_episode_is_there_with_its_poses_in_the_order_of_the_list(tmp_path):
    planned = keys("2", "1")
    reader = write(tmp_path, planned, [record(planned[1], "truncated"), record(planned[0])])
    sent = json.loads(make_submission(reader).text)
    assert list(sent) == ["2", "1"]
    assert sent["2"] == [{"position": [5.0, 0.0, 0.0], "heading": 0.0, "stop": True}]
    assert [step["stop"] for step in sent["1"]] == [False, False]
    assert make_submission(reader).notes == ()


def test_poses_of_a_try_that_was_made_again_are_not_sent(tmp_path):
    planned = keys("1")
    reader = write(tmp_path, planned, [record(planned[0], "error"), record(planned[0])])
    assert len(json.loads(make_submission(reader).text)["1"]) == 2


def test_an_episode_that_ended_in_an_error_is_sent_as_far_as_it_went_and_told(tmp_path):
    planned = keys("1", "2")
    reader = write(tmp_path, planned, [record(planned[0], "error"), record(planned[1])])
    found = make_submission(reader)
    assert json.loads(found.text)["1"][-1]["stop"] is False
    assert found.notes == ("episode '1' ended in an error: the file has the way until then.",)


@pytest.mark.parametrize(
    ("planned", "count", "changes", "reason"),
    [
        (keys("1", "2"), 1, {}, "1 episodes are missing"),
        (keys("1", scenes=("hall", "attic")), 2, {}, "episode '1' in several scenes"),
        (keys("1", repeats=2), 2, {"repeats": 2}, "choose one with --repeat 0 to 1"),
        (keys("1"), 1, {"submission": None}, "has no 'submission' of r2r, vln_ce"),
        (keys("3"), 1, {}, "no poses of episode '3', not even a start"),
        (keys("3"), 1, {"settings": {"record": "none"}}, "run with --record none"),
    ],
)
def test_what_no_leaderboard_would_take_is_refused(tmp_path, planned, count, changes, reason):
    reader = write(tmp_path, planned, map(record, planned[:count]), **changes)
    with pytest.raises(ExportError, match=reason):
        make_submission(reader)


def test_poses_that_are_none_of_the_format_are_refused_with_the_run(tmp_path):
    reader = write(tmp_path, keys("1"), map(record, keys("1")), poses=[{"place": 1}])
    with pytest.raises(ExportError, match=r"run .* is no submission: pose .*'place': 1"):
        make_submission(reader)


def test_one_of_several_repeats_is_chosen(tmp_path):
    planned = keys("1", repeats=2)
    reader = write(tmp_path, planned, map(record, planned), repeats=2)
    assert list(json.loads(make_submission(reader, repeat=1).text)) == ["1"]
    with pytest.raises(ExportError, match=r"--repeat is 2; run .* has the repeats 0 to 1"):
        make_submission(reader, repeat=2)


def test_a_table_has_keys_labels_and_one_type_per_column(tmp_path):
    planned = keys("1", "2")
    reader = write(tmp_path, planned, [record(planned[1]), record(planned[0], "error")])
    labels = {"floor": [1, "attic"], "goal": [None, "bed"]}
    columns = list_run_columns(reader, labels)
    assert columns["episode_id"] == ["1", "2"]
    assert (columns["info.floor"], columns["info.goal"]) == (["1", "attic"], [None, "bed"])
    assert (columns["group"], columns["repeat"]) == (["g1", "g1"], [0, 0])
    assert json.loads(export_json(reader, labels))[0]["error"] == "ValueError: bad"
    names, first, second = export_csv(reader, labels).splitlines()
    assert "metrics.success" in names
    assert first.endswith(",,val,0,g1,1,")
    assert ",false,val,0,g1,attic,bed" in second


def test_a_submission_whose_labels_are_lost_is_refused_not_numbered_otherwise(tmp_path):
    planned = keys("1")
    reader = write(tmp_path, planned, [record(planned[0])])
    (reader.folder / "labels.json").unlink()
    with pytest.raises(CorruptFileError, match=r"labels\.json is missing"):
        make_submission(reader)
