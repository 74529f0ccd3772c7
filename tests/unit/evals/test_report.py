"""What `eval --json` and `show --json` print."""

import json
from dataclasses import replace
from typing import Any

import pytest

from wayfare.evals.coverage import certify_run
from wayfare.evals.episodes import hash_episodes
from wayfare.evals.report import (
    eval_document,
    list_episodes,
    show_document,
    summarise,
    summarise_run,
)
from wayfare.evals.run import Run
from wayfare.store.records import (
    Attempt,
    EpisodeKey,
    EpisodeRecord,
    ErrorRecord,
    NodesetRecord,
    PlannedEpisode,
    RunHeader,
)
from wayfare.store.run import RunReader
from wayfare.store.writer import RunWriter

FAULT = ErrorRecord(kind="author", type="ValueError", message="bad", node="step", turns=(2,))


def key(number):
    return EpisodeKey("env", "0123456789", "val", "scene", str(number))


def header(**changes):
    nodeset: dict[str, Any] = {"file": "f.py", "source_hash": "cc", "class_name": "C"}
    fields = {
        "run_id": "r1",
        "created": "2026-01-02T03:04:05Z",
        "graph": {},
        "graph_hash": "aa",
        "graph_name": "agent",
        "seed": 7,
        "worker_count": 2,
        "split": "val",
        "episodes": tuple(PlannedEpisode(key=key(n), index=n) for n in range(4)),
        "episodes_hash": hash_episodes([key(n) for n in range(4)]),
        "nodesets": {
            "env": NodesetRecord(parallelism="replicated", **nodeset),
            "policy": NodesetRecord(parallelism="shared", **nodeset),
        },
    }
    return RunHeader(**{**fields, **changes})


def record(number, outcome="completed", metrics=None, undefined=None, attempts=1):
    tries = tuple(
        Attempt(number=n + 1, worker=1, started_seconds=n, ended_seconds=n + 1.0)
        for n in range(attempts)
    )
    return EpisodeRecord(
        key=key(number),
        index=number,
        outcome=outcome,
        worker=1,
        attempts=tries,
        steps=3,
        seconds=1.0,
        metrics=metrics or {},
        undefined=undefined or {},
        digest="ab",
        error=FAULT if outcome == "error" else None,
    )


RECORDS = [
    record(3, "error", attempts=2),
    record(0, metrics={"success": True, "spl": 0.5}),
    record(2, "truncated", {"success": False}, {"spl": "unreachable"}),
    record(1, metrics={"success": True}),
]


def summary(records=RECORDS, **changes):
    return summarise(header(**changes), records, status="done", elapsed_seconds=9.0, out="/runs/r1")


def test_the_document_has_exactly_the_designs_fields():
    document = eval_document(summary())
    assert list(document) == [
        *("run_id", "status", "worker_count", "elapsed_s", "episodes", "metrics"),
        *("digest", "invariance", "nodesets", "out", "coverage", "uncounted_parts"),
    ]
    assert document["episodes"] == {
        "total": 4,
        "completed": 2,
        "truncated": 1,
        "error": 1,
        "attempts": 5,
        "retried": 1,
    }
    assert set(document["metrics"]["spl"]) == {
        *("n", "mean", "ci_low", "ci_high", "undefined", "interval", "errors_as_failures"),
        *("clusters", "repeats", "definition"),
    }
    json.dumps(document, allow_nan=False)


def test_a_metric_carries_what_the_environment_says_of_it():
    facts = {"distance": "geodesic on the graph", "threshold_m": 3.0}
    found = summary(metric_definitions={"spl": facts}).metrics
    assert (found["spl"].definition, found["success"].definition) == (facts, {})


def test_errors_have_no_metrics_and_truncated_episodes_do():
    success = summary().metrics["success"]
    assert (success.n, success.mean) == (3, pytest.approx(2 / 3))


def test_undefined_values_are_counted_by_reason_and_are_not_in_the_mean():
    spl = summary().metrics["spl"]
    assert (spl.n, spl.mean) == (1, 0.5)
    assert spl.undefined == {"not produced": 1, "unreachable": 1}


def test_a_metric_that_is_defined_nowhere_has_no_mean():
    records = [record(0, undefined={"spl": "unreachable"})]
    assert summary(records).metrics["spl"].mean is None


def test_the_summary_does_not_depend_on_the_order_in_which_episodes_finished():
    assert summary() == summary(RECORDS[::-1])


def test_tools_whose_bits_depend_on_the_batch_forbid_the_claim():
    claims = {"policy__act": "not claimed", "env__step": "padded"}
    document = eval_document(summary(claims=claims))
    assert document["invariance"] == {"claimed": False, "tools": ("policy__act",)}
    assert summary(claims={"env__step": "bit-stable"}).invariance.claimed


def test_rows_are_sorted_by_key_and_keep_undefined_apart():
    document = json.loads(json.dumps(show_document(summary(), RECORDS), allow_nan=False))
    rows = document["episodes_table"]
    assert [row["episode_id"] for row in rows] == ["0", "1", "2", "3"]
    assert rows[2]["metrics"] == {"success": False, "spl": {"undefined": "unreachable"}}
    assert (rows[3]["attempts"], rows[3]["error"]["type"]) == (2, "ValueError")
    assert set(rows[0]) == {
        *("key", "episode_id", "scene_id", "outcome", "attempts", "worker", "steps"),
        *("seconds", "metrics", "digest", "error"),
    }


def test_a_row_s_key_is_text():
    assert list_episodes(RECORDS)[0].key == "env@01234567/val/scene/0/0"


def test_a_killed_run_is_summed_up_from_what_it_committed(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        for entry in RECORDS[:2]:
            writer.append(entry, [])
    found = summarise_run(RunReader.open(writer.folder, tmp_path))
    assert (found.status, found.episodes.finished, found.elapsed_s) == ("incomplete", 2, 2.0)
    assert found.nodesets["policy"].parallelism == "shared"
    assert found.uncounted_parts == 1


def test_a_run_that_ended_keeps_the_summary_it_ended_with(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        for entry in RECORDS:
            writer.append(entry, [])
        writer.finish(replace(summary(), elapsed_s=77.0))
    reader = RunReader.open(writer.folder, tmp_path)
    ended = replace(summary(), elapsed_s=77.0, coverage=certify_run(reader), out=str(writer.folder))
    assert summarise_run(reader) == ended
    assert ended.coverage is not None
    assert ended.coverage.certified


def test_a_declared_metric_that_never_came_is_there_with_its_reason():
    summary = summarise(
        header(metrics=("success", "spl")),
        [record(0, metrics={"success": True, "lenght": 3}), record(1, "error")],
        status="done",
        elapsed_seconds=1.0,
        out="",
    )
    assert sorted(summary.metrics) == ["lenght", "spl", "success"]
    assert summary.metrics["spl"].n == 0
    assert summary.metrics["spl"].mean is None
    assert summary.metrics["spl"].undefined == {"not produced": 1}


def test_a_damaged_summary_is_made_anew_from_the_records(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        for entry in RECORDS:
            writer.append(entry, [])
        writer.finish(replace(summary(), elapsed_s=77.0))
    path = writer.folder / "summary.json"
    path.write_text(path.read_text().replace("77.0", "78.0"))
    found = summarise_run(RunReader.open(writer.folder, tmp_path))
    assert (found.status, found.elapsed_s, found.uncounted_parts) == ("done", 2.0, 1)
    assert (found.digest, found.metrics) == (summary().digest, summary().metrics)
    run = Run.open(writer.folder)
    assert (run.summary, "summary.json is damaged" in run.problem) == (found, True)


def test_a_damaged_list_of_videos_keeps_no_summary_from_being_made(tmp_path):
    with RunWriter.create(tmp_path, header(settings={"record": "frames"})) as writer:
        writer.append(RECORDS[1], [])
    (writer.folder / "videos.frames").write_bytes(b"damaged")
    found = summarise_run(RunReader.open(writer.folder, tmp_path))
    assert (found.recording.mode, found.recording.videos) == ("frames", 0)
