"""An author who writes `start` has a controller that chooses, checks and plays."""

from __future__ import annotations

import pytest

from nodeset import Action, BaseNodeSet, Episode, EpisodeController, Field
from nodeset.checking import check_controller
from nodeset.errors import ContractError

COUNTS = {"train": 3, "test": 2, "none": 0}


class Line(BaseNodeSet):
    name = "env_line"

    def __init__(self):
        self.listed = []

    def get_eval_metadata(self):
        return {"splits": list(COUNTS), "default_split": "test", "metrics": []}

    def get_episodes(self, split):
        self.listed.append(split)
        return [Episode(str(index)) for index in range(COUNTS[split])]


class Hand(EpisodeController):
    """Has a field and an action of its own, and an `__init__` that calls no other."""

    fields = [*EpisodeController.fields, Field("pace", "slider")]
    actions = [*EpisodeController.actions, Action("walk")]

    def __init__(self):
        self.pace = 1

    def start(self, split, index):
        return {"begun": (split, index)}

    def on_field_change(self, name, value):
        if name != "pace":
            return super().on_field_change(name, value)
        self.pace = value
        return {name: value}

    def on_action(self, name, params):
        return {"walked": self.pace} if name == "walk" else super().on_action(name, params)


class AsyncHand(EpisodeController):
    async def start(self, split, index):
        return {"begun": [split, index]}


def made(kind=Hand):
    controller = kind.__new__(kind)
    controller.nodeset = Line()
    controller.__init__()
    return controller


@pytest.fixture
def hand():
    return made()


def test_at_first_the_default_split_and_its_first_episode_are_chosen(hand):
    assert hand.on_load() == {"split": "test", "episode_index": 0}
    assert hand.get_options("split") == ["train", "test", "none"]
    assert hand.get_options("pace") == []
    assert hand.on_action("play", {}) == {"begun": ("test", 0)}


def test_play_starts_what_a_run_has_told(hand):
    hand.on_field_change("split", "train")
    changed = hand.on_field_change("episode_index", 2)

    assert changed == hand.on_load() == {"split": "train", "episode_index": 2}
    assert hand.on_action("play", {}) == {"begun": ("train", 2)}


def test_a_new_split_begins_at_its_first_episode_and_the_same_keeps_it(hand):
    hand.on_field_change("episode_index", 1)

    assert hand.on_field_change("split", "test")["episode_index"] == 1
    assert hand.on_field_change("split", "train") == {"split": "train", "episode_index": 0}
    assert (hand.split, hand.episode_index) == ("train", 0)


@pytest.mark.parametrize("value", [-1, 2, 1.0, "1", True, None])
def test_an_episode_that_does_not_exist_is_refused_and_the_choice_stays(hand, value):
    hand.on_field_change("episode_index", 1)

    with pytest.raises(ValueError, match="does not exist") as caught:
        hand.on_field_change("episode_index", value)
    assert str(caught.value) == (
        f"env_line: episode_index {value!r} does not exist; split 'test' has the episodes 0 to 1; "
        f"choose one by its whole number"
    )
    assert hand.episode_index == 1


def test_a_split_that_does_not_exist_is_refused_and_the_choice_stays(hand):
    with pytest.raises(ValueError, match=r"split 'val' does not exist; choose one of train, test"):
        hand.on_field_change("split", "val")
    assert hand.split == "test"


def test_of_a_split_without_episodes_none_can_be_chosen(hand):
    hand.on_field_change("split", "none")

    with pytest.raises(ValueError, match=r"split 'none' has no episodes; choose another split"):
        hand.on_field_change("episode_index", 0)


def test_the_episodes_of_a_split_are_counted_once_however_many_are_played(hand):
    for index in (0, 1, 0):
        hand.on_field_change("split", "test")
        hand.on_field_change("episode_index", index)
    hand.on_field_change("split", "train")
    hand.on_field_change("episode_index", 0)

    assert hand.nodeset.listed == ["test", "train"]


def test_fields_and_actions_of_ones_own_stand_beside(hand):
    assert hand.on_field_change("pace", 3) == {"pace": 3}
    assert hand.on_action("walk", {}) == {"walked": 3}


def test_what_the_class_does_not_serve_is_refused_with_what_it_declares(hand):
    with pytest.raises(ValueError, match=r"'x' is unknown to Hand\.on_field_change.* split, epi"):
        hand.on_field_change("x", 1)
    with pytest.raises(ValueError, match=r"'x' is unknown to Hand\.on_action.* play, walk"):
        hand.on_action("x", {})


def test_start_may_be_async(make_copy, make_tool):
    copy = make_copy(make_tool("plus", lambda x, ctx: x + 1), controller=made(AsyncHand))

    reply = copy.ask("controller", verb="action", name="play")

    assert reply["ok"] == {"result": {"begun": ["test", 0]}}


@pytest.mark.parametrize(
    ("kind", "brings_episodes", "message"),
    [
        (EpisodeController, True, r"has no start\(split, index\); define it"),
        (Hand, False, "brings no episodes; derive it from BaseController, or define get_eval_m"),
    ],
)
def test_a_class_that_cannot_play_is_refused_when_it_is_loaded(kind, brings_episodes, message):
    with pytest.raises(ContractError, match=f"controller class {kind.__name__}, .*{message}"):
        check_controller(made(kind), "line.py:3", brings_episodes=brings_episodes)
