"""Show which graph comes of which ports, and what is said where none does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfare.cli.choice import WiringError, make_agent
from wayfare.graph.validate import validate

PURE = {
    "task": "episode_index:INT -> goal:TEXT place:TEXT",
    "reset": "episode_index:INT split:TEXT? -> state:JSON",
    "look": "episode_index:INT state:JSON -> seen:ARRAY place:TEXT",
    "look_around": "episode_index:INT state:JSON -> around:JSON place:TEXT",
    "step": "episode_index:INT state:JSON action:ACTION -> state:JSON done:BOOL",
    "step_around": "episode_index:INT state:JSON action:INT -> state:JSON done:BOOL",
    "evaluate": "episode_index:INT state:JSON -> metrics:METRICS",
}
STATEFUL = {
    "reset": "-> image:IMAGE action_space:JSON",
    "step": "action:ACTION -> image:IMAGE done:BOOL",
    "render": "-> rgb:IMAGE",
    "evaluate": "-> metrics:METRICS",
}


@pytest.fixture
def wire(make_manifest, make_environment):
    """Give a function from an environment's tools and one policy to edges, as text."""

    def edges(env_tools, policy, mode="shared", metrics=()):
        environment = make_environment(env_tools, mode, metrics)
        acting = make_manifest("policy", {"act": policy})
        agent = make_agent("graph", environment, acting)
        assert validate(agent.document, {"env": environment, "policy": acting}) == []
        return {
            f"{e.source}.{e.source_handle} -> {e.target}.{e.target_handle}"
            for e in agent.document.edges
        }

    return edges


def test_what_step_and_reset_both_give_goes_from_turn_to_turn(wire):
    edges = wire(STATEFUL, "image:IMAGE -> action:ACTION", "replicated")

    assert edges == {
        "reset.image -> turn.init_image",
        "turn.image -> act.image",
        "act.action -> step.action",
        "step.image -> next.image",
        "step.done -> next.stop",
        "next.final_step -> evaluate.after",
        "evaluate.metrics -> metrics.value",
    }


def test_a_policy_remembers_what_it_takes_and_gives(wire):
    edges = wire(STATEFUL, "image:IMAGE map:ARRAY? -> action:ACTION map:ARRAY", "replicated")

    assert {"turn.map -> act.map", "act.map -> next.map"} <= edges
    assert not any("init_map" in edge for edge in edges)


def test_what_only_the_reset_gives_is_the_same_in_every_turn(wire):
    edges = wire(STATEFUL, "action_space:JSON -> action:ACTION", "replicated")

    assert {"reset.action_space -> act.action_space", "turn.step -> act.after"} <= edges


def test_a_stateful_environment_is_looked_at_anew_in_every_turn(wire):
    edges = wire(STATEFUL, "rgb:IMAGE -> action:ACTION", "replicated")

    assert {"turn.step -> render.after", "render.rgb -> act.rgb"} <= edges
    assert "reset.image -> turn.after" in edges


def test_the_graph_carries_the_state_of_a_pure_environment(wire):
    edges = wire(PURE, "seen:ARRAY -> action:ACTION")

    assert {
        "episode.episode_index -> reset.episode_index",
        "reset.state -> turn.init_state",
        "turn.state -> look.state",
        "turn.state -> step.state",
        "step.state -> next.state",
        "next.final_state -> evaluate.state",
    } <= edges


def test_of_two_ways_to_look_and_act_those_are_taken_that_fit_best(wire):
    edges = wire(PURE, "around:JSON place:TEXT goal:TEXT -> action:INT")

    assert {"look_around.place -> act.place", "act.action -> step_around.action"} <= edges
    assert "task.goal -> act.goal" in edges
    assert not any("look." in edge or "turn.goal" in edge for edge in edges)


def test_two_states_of_one_name_are_carried_apart(wire):
    edges = wire(PURE, "seen:ARRAY state:JSON? -> action:ACTION state:JSON")

    assert {"turn.act_state -> act.state", "act.state -> next.act_state"} <= edges
    assert {"turn.state -> step.state", "step.state -> next.state"} <= edges


def test_the_turns_number_is_given_where_it_is_asked_for(wire):
    assert "turn.step -> act.step" in wire(PURE, "seen:ARRAY step:INT -> action:ACTION")


def test_the_last_answer_of_a_policy_is_scored(wire):
    tools = {**PURE, "evaluate": "answer:TEXT -> metrics:METRICS"}

    edges = wire(tools, "seen:ARRAY -> action:ACTION answer:TEXT")

    assert {"act.answer -> next.answer", "next.final_answer -> evaluate.answer"} <= edges


def test_without_a_scoring_tool_outputs_called_like_metrics_are_the_results(wire):
    tools = {"look": "-> seen:ARRAY", "step": "action:ACTION -> reward:FLOAT done:BOOL"}

    edges = wire(tools, "seen:ARRAY -> action:ACTION", "replicated", ["reward", "other"])

    assert {"step.reward -> next.reward", "next.final_reward -> reward.value"} <= edges


@pytest.mark.parametrize(
    ("tools", "policy", "reason"),
    [
        (STATEFUL, "depth:DEPTH -> action:ACTION", "needs 'depth' (DEPTH): no tool gives it"),
        (STATEFUL, "rgb:DEPTH -> action:ACTION", "env__render gives IMAGE, which does not fit"),
        (STATEFUL, "image:IMAGE -> move:INT", "env__step needs 'action' (ACTION): no tool gives"),
        (
            STATEFUL,
            "image:IMAGE map:ARRAY -> action:ACTION map:ARRAY",
            "policy__act would give it, but not in time",
        ),
        ({"step": "action:ACTION -> seen:ARRAY"}, "-> action:ACTION", "no BOOL output called"),
        ({"step": "action:ACTION -> done:BOOL"}, "-> action:ACTION", "the graph needs a result"),
        ({"look": "-> seen:ARRAY"}, "seen:ARRAY -> action:ACTION", "has no tool to act by"),
    ],
)
def test_what_is_missing_is_said_with_tool_and_port(wire, tools, policy, reason):
    with pytest.raises(WiringError) as raised:
        wire(tools, policy, "replicated")

    assert reason in str(raised.value)


def test_the_first_policy_that_fits_is_taken_and_the_others_are_named(
    make_manifest, make_environment
):
    policies = {
        "blind": "depth:DEPTH -> action:ACTION",
        "first": "image:IMAGE -> action:ACTION",
        "second": "image:IMAGE -> action:ACTION",
    }
    manifest = make_manifest("policy", policies)

    agent = make_agent("graph", make_environment(STATEFUL, "replicated"), manifest)

    assert agent.wiring.policy.name == "first"
    assert agent.other_policies == ["policy__second"]


def test_optional_inputs_that_nothing_feeds_are_told(make_manifest, make_environment):
    manifest = make_manifest("policy", {"act": "image:IMAGE depth:DEPTH? -> action:ACTION"})

    agent = make_agent("graph", make_environment(STATEFUL, "replicated"), manifest)

    assert agent.wiring.unwired == ["act.depth"]


PORTS = st.lists(
    st.tuples(
        st.sampled_from(["state", "seen", "step", "done", "action", "metrics", "episode_index"]),
        st.sampled_from(["JSON", "ARRAY", "IMAGE", "ACTION", "INT", "BOOL", "METRICS", "ANY"]),
        st.sampled_from(["", "?"]),
    ).map(lambda port: f"{port[0]}:{port[1]}{port[2]}"),
    max_size=3,
    unique_by=lambda port: port.split(":")[0],
).map(" ".join)
TOOLS = st.dictionaries(
    st.sampled_from(["reset", "look", "step", "step_b", "act", "turn", "evaluate"]),
    st.tuples(PORTS, PORTS).map(" -> ".join),
    min_size=1,
    max_size=5,
)
MODES = st.sampled_from(["shared", "replicated"])


@settings(max_examples=60)
@given(env=TOOLS, policy=TOOLS, modes=st.tuples(MODES, MODES))
def test_what_is_wired_is_always_a_graph_that_can_run(
    make_manifest, make_environment, env, policy, modes
):
    acted = {**env, "step": "action:ACTION state:JSON? -> state:JSON seen:ARRAY done:BOOL"}
    environment = make_environment(acted, modes[0], ["state"])
    acting = make_manifest("policy", policy, mode=modes[1])

    try:
        agent = make_agent("graph", environment, acting)
    except WiringError:
        return

    assert validate(agent.document, {"env": environment, "policy": acting}) == []
