"""Controllers of simulators that are not here: when an episode begins, what a person does."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from nodesets.env_habitat.controller import HabitatController
from nodesets.env_miniworld.controller import MiniWorldController
from nodesets.env_mp3d import MatterportController
from nodesets.hmeqa.controller import HMEQAController

from nodeset import Episode

POSE = np.arange(7.0)
TASK = SimpleNamespace(episode_id="7_1", scene_id="hall", scan="hall", instruction="Go.")
QUESTION = SimpleNamespace(scene="hall", floor=1, question="Is it on?", choices=("Yes", "No"))


class Rollout:
    """An episode that is nothing but its place and what was done in it."""

    simulator = SimpleNamespace(
        body=SimpleNamespace(pose=lambda: POSE), setting=SimpleNamespace(episodes=3, id="Hallway")
    )
    world = SimpleNamespace(pose=lambda: POSE)
    task, question, pose = TASK, QUESTION, POSE
    budget, is_stopped, is_done = 9, False, False

    def __init__(self):
        self.begun = []
        self.actions = []

    @property
    def steps(self):
        return len(self.actions)

    def begin(self, *place):
        self.begun.append(place[0] if len(place) == 1 else place)
        self.actions = []

    def is_at_start_of(self, place):
        return self.begun[-1:] == [place] and not self.actions

    def act(self, action):
        self.actions.append(action)

    step = act

    def evaluate(self):
        return {"length": self.steps}


def make(kind):
    """Return a controller of `kind` and the rollout that it walks in."""
    rollout = Rollout()
    controller = kind.__new__(kind)
    controller.nodeset = SimpleNamespace(
        name="env",
        rollout=rollout,
        begin=rollout.begin,
        world=SimpleNamespace(task=lambda *place: TASK),
        get_eval_metadata=lambda: {"splits": ["val"], "default_split": "val"},
        get_episodes=lambda split: [Episode(str(index)) for index in range(3)],
    )
    kind.__init__(controller)
    return controller, rollout


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        (HabitatController, ("val", 2)),
        (HMEQAController, ("val", 2)),
        (MiniWorldController, 2),
    ],
)
def test_play_begins_the_episode_unless_it_stands_at_its_start(kind, place):
    controller, rollout = make(kind)
    controller.on_field_change("split", "val")
    controller.on_field_change("episode_index", 2)

    first = controller.on_action("play", {})
    assert controller.on_action("play", {}) == first
    assert rollout.begun == [place]
    assert first["pose"] == POSE.tolist()

    assert controller.on_action("forward", {}) != first
    assert controller.on_action("play", {}) == first
    assert rollout.begun == [place, place]


@pytest.mark.parametrize("kind", [HabitatController, HMEQAController, MiniWorldController])
def test_every_declared_action_is_served_and_no_other(kind):
    controller, rollout = make(kind)
    for action in controller.actions:
        controller.on_action(action.name, {})

    assert len(rollout.actions) == len(set(rollout.actions)) == len(controller.actions) - 1
    with pytest.raises(ValueError, match=r"action 'fly' is unknown.* declared are play, "):
        controller.on_action("fly", {})


def test_on_matterport_play_stands_at_the_start_of_the_chosen_episode():
    controller, rollout = make(MatterportController)

    shown = controller.on_action("play", {})

    assert shown == {"episode_id": "7_1", "scan": "hall", "instruction": "Go."}
    assert rollout.begun == [TASK]


def test_miniworld_says_how_many_episodes_there_are():
    controller, _ = make(MiniWorldController)

    assert controller.on_load() == {
        "split": "val",
        "episode_index": 0,
        "episodes": 3,
        "world": "Hallway",
    }
