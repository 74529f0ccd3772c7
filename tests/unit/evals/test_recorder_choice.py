"""Of which episodes a run keeps videos and calls."""

import pytest

from wayfare.evals.recorder_choice import EpisodeChoice, RecordChoiceError, RecordRequest
from wayfare.store.records import EpisodeKey, EpisodeRecord, ErrorRecord

KEY = EpisodeKey("env", "ab", "val", "scene", "3")
ERROR = ErrorRecord(kind="author", type="ValueError", message="no")


def record(outcome="completed", error=None, **metrics):
    return EpisodeRecord(key=KEY, index=3, outcome=outcome, worker=0, metrics=metrics, error=error)


EPISODES = {
    "success": record(success=True),
    "success of another name": record(SR=1.0),
    "failure": record(success=False),
    "truncated failure": record("truncated", SR=0),
    "error": record("error", ERROR),
    "undefined": record(),
}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", set(EPISODES)),
        ("successes", {"success", "success of another name"}),
        ("failures", {"failure", "truncated failure"}),
        ("errors", {"error"}),
    ],
)
def test_episodes_are_chosen_by_how_they_ended(text, wanted):
    choice = EpisodeChoice.parse(text)

    assert {name for name, episode in EPISODES.items() if choice.wants(episode)} == wanted
    assert all(choice.may_want(position) for position in range(4))
    assert str(choice) == text


def test_every_kth_episode_is_chosen_by_its_place_in_the_list():
    choice = EpisodeChoice.parse("every:3")

    assert [position for position in range(8) if choice.may_want(position)] == [0, 3, 6]
    assert str(choice) == "every:3"


@pytest.mark.parametrize("text", ["every", "every:0", "every:x", "every:-1", "best", "errors:2"])
def test_what_is_no_choice_is_refused_with_the_choices(text):
    with pytest.raises(RecordChoiceError, match="must be failures, successes, errors or every:K"):
        EpisodeChoice.parse(text)


def test_success_must_be_something_that_the_run_measures():
    failures = EpisodeChoice.parse("failures")

    failures.check(["SPL", "SR"])
    EpisodeChoice.parse("errors").check(["SPL"])
    with pytest.raises(RecordChoiceError, match=r"'success' or 'SR'.*measures NE, SPL\. Choose"):
        failures.check(["SPL", "NE"])


@pytest.mark.parametrize("mode", ["none", "actions"])
def test_a_choice_among_nothing_is_refused(mode):
    with pytest.raises(RecordChoiceError, match=f"--record {mode} does not keep"):
        RecordRequest(mode, EpisodeChoice.parse("errors")).check()
