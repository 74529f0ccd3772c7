"""The certificate that each episode of the fixed list counts exactly once."""

from dataclasses import replace

import msgpack
import pytest

from wayfare.evals.coverage import certify, certify_run, settle_status
from wayfare.evals.episodes import hash_episodes
from wayfare.evals.report import summarise, summarise_run
from wayfare.store.claim import Claim
from wayfare.store.frames import FrameWriter
from wayfare.store.records import EpisodeKey, EpisodeRecord, PlannedEpisode, RunHeader
from wayfare.store.run import RunReader
from wayfare.store.truth import EPISODES_FILE, pack_record
from wayfare.store.writer import RunWriter

KEYS = [EpisodeKey("env", "0123", "val", scene, "1") for scene in ("attic", "cellar", "hall")]


def header(keys=KEYS, **changes):
    fields = {
        "created": "2026-01-02T03:04:05Z",
        "graph": {},
        "graph_hash": "aa",
        "graph_name": "agent",
        "seed": 7,
        "worker_count": 2,
        "split": "val",
        "episodes": tuple(PlannedEpisode(key=key, index=n) for n, key in enumerate(keys)),
        "episodes_hash": hash_episodes(keys),
    }
    return RunHeader(**{**fields, **changes})


def claim(position, outcome="completed", key=None, attempts=1):
    return Claim(position, key or KEYS[position], outcome, "ab", attempts)


def record(key, outcome="completed"):
    return EpisodeRecord(key=key, index=0, outcome=outcome, worker=0, digest="ab" * 16)


def test_every_episode_once_is_certified_in_any_order():
    found = certify(header(), [claim(2), claim(0, "error"), claim(1, "truncated")])
    assert found.certified
    assert (found.episodes, found.recorded, found.missing, found.problems) == (3, 3, 0, ())
    assert found.list_hash == hash_episodes(KEYS)


def test_an_id_that_two_scenes_share_is_two_episodes():
    found = certify(header(), [claim(0), claim(1), claim(1, key=KEYS[0])])
    assert not found.certified
    assert found.missing == 1
    assert (
        "a record of episode env@0123/val/attic/1/0 is not what the list has at 1" in found.problems
    )


def test_missing_episodes_forbid_the_certificate_and_are_no_problem_of_what_is_there():
    found = certify(header(), [claim(0)])
    assert (found.certified, found.missing, found.problems) == (False, 2, ())
    assert settle_status("incomplete", found) == "incomplete"


def test_an_error_may_be_tried_again_and_a_result_may_not():
    assert certify(header(KEYS[:1]), [claim(0, "error"), claim(0, attempts=2)]).certified
    again = certify(header(KEYS[:1]), [claim(0, "error"), claim(0, "error")])
    assert again.problems == (
        "episode env@0123/val/attic/1/0 is recorded again without a further attempt",
    )
    twice = certify(header(KEYS[:1]), [claim(0), claim(0)])
    assert twice.problems == (
        "episode env@0123/val/attic/1/0 is recorded again after it was completed",
    )
    assert settle_status("done", twice) == "uncertified"


def test_a_list_that_is_not_the_one_the_run_began_with_is_a_problem():
    found = certify(header(episodes_hash="bb"), map(claim, range(3)))
    assert found.problems[0].endswith("but the run began with bb")
    doubled = certify(header([*KEYS, KEYS[0]]), [])
    assert "stands more than once in the fixed list" in doubled.problems[0]


def test_a_foreign_file_of_truth_lists_its_first_problems_only():
    strangers = [claim(0, key=replace(KEYS[0], id=str(n))) for n in range(2, 40)]
    found = certify(header(), strangers)
    assert len(found.problems) == 11
    assert found.problems[-1] == "and 28 more"


@pytest.fixture
def folder(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        for key in KEYS:
            writer.append(record(key), [])
        writer.finish(
            summarise(
                writer.header,
                map(record, KEYS),
                status="done",
                elapsed_seconds=1.0,
                out="",
                coverage=certify_run(RunReader(writer.folder, writer.header)),
            )
        )
    return writer.folder


def test_a_run_on_disk_is_certified_anew(folder):
    summary = summarise_run(RunReader.open(folder, folder.parent))
    assert summary.status == "done"
    assert summary.coverage is not None
    assert summary.coverage.certified


def slip_in(folder, position, entry):
    file = FrameWriter.open(folder / EPISODES_FILE)
    file.append([msgpack.packb([position, 16, pack_record(entry)])])
    file.close()


def test_a_record_that_was_slipped_in_takes_the_certificate_and_the_status_away(folder):
    slip_in(folder, 1, record(replace(KEYS[1], id="2")))
    summary = summarise_run(RunReader.open(folder, folder.parent))
    assert summary.status == "uncertified"
    assert summary.coverage is not None
    assert summary.coverage.problems == (
        "a record of episode env@0123/val/cellar/2/0 is not what the list has at 1",
    )


def test_a_record_that_was_replaced_is_not_what_the_summary_is_of(folder):
    slip_in(folder, 1, replace(record(KEYS[1]), digest="cd" * 16))
    summary = summarise_run(RunReader.open(folder, folder.parent))
    assert summary.status == "uncertified"
    assert summary.coverage is not None
    again, other = summary.coverage.problems
    assert again.endswith("is recorded again after it was completed")
    assert other.startswith("the summary has the digest")
