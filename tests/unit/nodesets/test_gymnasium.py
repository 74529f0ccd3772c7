"""A Gymnasium environment as a nodeset: episodes are seeds, and how one ended is kept apart."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import numpy as np
import pytest

from nodeset import UnavailableError
from nodeset.context import Context, EpisodeContext
from nodeset.loading import load_nodeset
from nodeset.manifest import build_manifest, list_episodes

NODESET = Path(__file__).resolve().parents[3] / "nodesets" / "env_gymnasium"
CARTPOLE = "CartPole-v1"


def load(**config):
    return load_nodeset(str(NODESET), config=config)


@pytest.fixture
def opened():
    opened = []

    def open_nodeset(**config):
        loaded = load(**config)
        loaded.nodeset.initialize()
        opened.append(loaded)
        return loaded

    yield open_nodeset
    for loaded in opened:
        loaded.nodeset.shutdown()


def call(loaded, tool, **inputs):
    return loaded.tools[tool].forward(inputs, Context({}))


def begin(loaded, index, seed=0, repeat=0):
    loaded.nodeset.begin_episode(EpisodeContext(index, str(index), repeat=repeat, seed=seed))
    return call(loaded, "reset")["observation"]


def play_to_the_end(loaded, action):
    while not (outcome := call(loaded, "step", action=action))["done"]:
        pass
    return outcome


def test_the_manifest_comes_without_initialize():
    manifest = build_manifest(load(id=CARTPOLE))
    assert [tool["name"] for tool in manifest["tools"]] == ["reset", "step", "render", "evaluate"]
    assert manifest["metadata"]["step_budget"] == 500
    assert manifest["metadata"]["metrics"] == ["return", "length", "success"]


@pytest.mark.parametrize(
    ("config", "budget"),
    [
        ({"id": CARTPOLE, "max_episode_steps": 7}, 7),
        ({"id": "MiniGrid-Empty-8x8-v0"}, 256),
        ({"id": "MiniGrid-Empty-8x8-v0", "max_episode_steps": 9}, 9),
        ({"id": "Blackjack-v1"}, None),
    ],
)
def test_the_step_budget_is_the_environments_own_limit(config, budget):
    assert load(**config).metadata["step_budget"] == budget


def test_an_id_may_name_the_module_that_registers_it():
    loaded = load(id="minigrid:MiniGrid-Empty-5x5-v0")
    assert loaded.metadata["step_budget"] == 100
    assert list_episodes(loaded, "test")[0]["scene_id"] == "MiniGrid-Empty-5x5-v0"


def test_there_is_one_episode_per_seed():
    rows = list_episodes(load(id=CARTPOLE, episodes=3, seed_base=40), "test")
    assert [(row["id"], row["scene_id"], row["info"]) for row in rows] == [
        ("0", CARTPOLE, {"seed": 40}),
        ("1", CARTPOLE, {"seed": 41}),
        ("2", CARTPOLE, {"seed": 42}),
    ]


def test_index_seeding_starts_every_repeat_alike_whatever_the_runs_seed(opened):
    loaded = opened(id=CARTPOLE, seed_base=40)
    direct, _ = gymnasium.make(CARTPOLE).reset(seed=42)

    first = begin(loaded, 2, seed=111)
    again = begin(loaded, 2, seed=222, repeat=1)

    assert np.array_equal(first, direct)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, begin(loaded, 3, seed=111))


def test_episode_seeding_follows_the_episodes_seed(opened):
    loaded = opened(id=CARTPOLE, seeding="episode")
    first = begin(loaded, 2, seed=2**63 + 5)
    assert np.array_equal(first, begin(loaded, 7, seed=2**63 + 5))
    assert not np.array_equal(first, begin(loaded, 2, seed=6))
    assert [row["info"] for row in list_episodes(loaded, "test")[:1]] == [{}]


def test_an_episode_does_not_depend_on_what_was_played_before(opened):
    loaded, fresh = opened(id="FrozenLake-v1"), opened(id="FrozenLake-v1")
    begin(loaded, 0)
    play_to_the_end(loaded, 2)

    def walk(nodeset):
        begin(nodeset, 5)
        return [call(nodeset, "step", action=a)["observation"] for a in (1, 0, 1)]

    assert walk(loaded) == walk(fresh)


def global_random_state():
    return np.random.get_state(legacy=False)["state"]["key"].copy()  # noqa: NPY002


def test_no_global_random_state_is_touched(opened):
    before = global_random_state()
    loaded = opened(id="FrozenLake-v1")
    begin(loaded, 1)
    play_to_the_end(loaded, 2)
    assert np.array_equal(before, global_random_state())


def test_a_step_after_the_end_is_refused_for_nothing_resets_itself(opened):
    loaded = opened(id=CARTPOLE)
    begin(loaded, 0)
    length = 0
    while not call(loaded, "step", action=0)["done"]:
        length += 1
    with pytest.raises(RuntimeError, match=rf"episode 0 terminated after {length + 1} steps"):
        call(loaded, "step", action=0)


def test_reset_shows_the_episodes_start_and_refuses_to_be_a_second_begin(opened):
    loaded = opened(id=CARTPOLE)
    with pytest.raises(RuntimeError, match="no episode has begun"):
        call(loaded, "reset")
    begin(loaded, 0)
    call(loaded, "step", action=0)
    with pytest.raises(RuntimeError, match="episode 0, which has taken 1 steps"):
        call(loaded, "reset")


def test_a_wrong_action_names_value_and_space_and_takes_no_step(opened):
    loaded = opened(id=CARTPOLE)
    begin(loaded, 0)
    with pytest.raises(ValueError, match=r"action 2 is not in .* Discrete\(2\)"):
        call(loaded, "step", action=2)
    assert call(loaded, "evaluate")["metrics"]["length"] == 0


def test_return_and_length_count_every_step(opened):
    loaded = opened(id=CARTPOLE, max_episode_steps=4)
    begin(loaded, 0)
    outcome = play_to_the_end(loaded, 0)
    metrics = call(loaded, "evaluate")["metrics"]
    assert (outcome["terminated"], outcome["truncated"]) == (False, True)
    assert (metrics["return"], metrics["length"]) == (4.0, 4)


@pytest.mark.parametrize(
    ("config", "success"),
    [
        ({}, {"undefined": "the environment reports no success"}),
        ({"success": "truncated"}, True),
        ({"success": "terminated"}, False),
        ({"success": "positive_return"}, False),
        ({"success": "info:won"}, {"undefined": "info has no 'won'"}),
    ],
)
def test_cartpoles_time_limit_is_no_failure_unless_the_config_says_so(opened, config, success):
    loaded = opened(id=CARTPOLE, max_episode_steps=4, **config)
    begin(loaded, 0)
    play_to_the_end(loaded, 0)
    assert call(loaded, "evaluate")["metrics"]["success"] == success


def test_minigrids_time_limit_is_a_failure(opened):
    loaded = opened(id="MiniGrid-Empty-5x5-v0", max_episode_steps=3)
    loaded.nodeset.begin_episode(EpisodeContext(0, "0"))
    outcome = play_to_the_end(loaded, 0)
    assert outcome["truncated"]
    assert not outcome["terminated"]
    assert call(loaded, "evaluate")["metrics"]["success"] is False


def test_success_in_info_is_taken_from_the_key_that_the_config_names(opened):
    loaded = opened(id="FrozenLake-v1", success="info:prob")
    begin(loaded, 0)
    call(loaded, "step", action=0)
    assert call(loaded, "evaluate")["metrics"]["success"] is True


def test_an_unplayed_episode_has_no_success(opened):
    loaded = opened(id=CARTPOLE, success="terminated")
    begin(loaded, 0)
    assert call(loaded, "evaluate")["metrics"]["success"] == {"undefined": "no step was taken"}


def test_render_draws_a_frame(opened):
    loaded = opened(id="MiniGrid-Empty-5x5-v0")
    loaded.nodeset.begin_episode(EpisodeContext(0, "0"))
    frame = call(loaded, "render")["rgb"]
    assert frame.dtype == np.uint8
    assert frame.ndim == 3
    assert frame.shape[2] == 3


def test_wrappers_are_applied(opened):
    loaded = opened(id="MiniGrid-Empty-6x6-v0", wrappers=["minigrid.wrappers:FullyObsWrapper"])
    loaded.nodeset.begin_episode(EpisodeContext(0, "0"))
    assert call(loaded, "reset")["image"].shape == (6, 6, 3)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"id": "CartPole-v77"}, "CartPole"),
        ({"id": ""}, "'id' is ''; it must be a text that is not empty"),
        ({"id": "module:"}, "'id' is 'module:'; it must be an environment's id"),
        ({"id": "nowhere:Env-v0"}, "needs a package that this interpreter lacks"),
        ({"imports": ["nowhere"]}, "'imports' is .* it must be a list of modules"),
        ({"wrappers": ["nowhere:Wrapper"]}, "'wrappers' is .* it must be a list of modules"),
        ({"wrappers": ["json"]}, "'wrappers' is .* it must be a list of gymnasium.Wrappers"),
        ({"kwargs": {"colour": 1}}, "'kwargs' is .* it must be what MiniGrid-FourRooms-v0 can be"),
        ({"seeding": "time"}, "'seeding' is 'time'; it must be one of index, episode"),
        ({"episodes": 0}, "'episodes' is 0; it must be a whole number from 1"),
        ({"success": "lucky"}, "'success' is 'lucky'; it must be one of reported"),
        ({"wrappers": ["json:JSONDecoder"]}, "it must be a list of gymnasium.Wrappers as module"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused_when_it_is_loaded(config, message):
    with pytest.raises(UnavailableError, match=message):
        load(**config)


def test_play_keeps_the_episode_that_begin_episode_has_just_begun(opened):
    loaded = opened(id=CARTPOLE, seeding="episode")
    first = begin(loaded, 4, seed=99)
    loaded.controller.on_field_change("split", "test")
    loaded.controller.on_field_change("episode_index", 4)
    loaded.controller.on_action("play", {})
    assert np.array_equal(first, call(loaded, "reset")["observation"])


def test_a_person_plays_and_steps_by_a_given_or_a_random_action(opened):
    loaded = opened(id=CARTPOLE)
    assert loaded.controller.on_load()["episode_index"] == 0
    loaded.controller.on_field_change("episode_index", 3)
    assert loaded.controller.on_action("play", {})["step"] == 0
    assert loaded.controller.on_action("step", {"action": 1})["action"] == 1
    assert loaded.controller.on_action("step", {})["action"] in (0, 1)
    assert loaded.controller.on_action("play", {})["step"] == 0


@pytest.mark.parametrize(("name", "value"), [("split", "train"), ("episode_index", 100)])
def test_the_controller_refuses_what_does_not_exist(opened, name, value):
    loaded = opened(id=CARTPOLE)
    with pytest.raises(ValueError, match=f"{name} {value!r} does not exist"):
        loaded.controller.on_field_change(name, value)
    assert loaded.controller.get_options("split") == ["test"]
