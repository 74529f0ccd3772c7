"""Build the graphs that the graph guide shows, and run them."""

from pathlib import Path

import wayfare

WORKSPACES = [Path(__file__).parents[2] / "examples"]


def carried():
    # start of carried
    graph = wayfare.Graph(environment="env_corridor_pure")
    index = graph.episode().episode_index
    with graph.loop("turn", ports=["state", "done"]) as turn:
        seen = graph.add("env_corridor_pure__observe", episode_index=index, state=turn.state)
        chosen = graph.add("policy_corridor__act", view=seen.view)
        moved = graph.add(
            "env_corridor_pure__step",
            episode_index=index,
            state=seen.state,
            action=chosen.action,
        )
        turn.carry(state=moved.state, done=moved.done)
        turn.stop(moved.done)
    graph.output("success", turn.final.done)
    graph.output("turns", turn.final_step)
    # end of carried
    return graph


def branched():
    # start of branch
    graph = wayfare.Graph(environment="env_corridor")
    roll = graph.add("hello__roll")
    lucky = graph.switch(graph.const(1.0), roll.six)
    with graph.loop("turn") as turn:
        seen = graph.add("env_corridor__observe", after=turn.step)
        chosen = graph.add("policy_corridor__act", view=seen.view)
        moved = graph.add("env_corridor__step", action=chosen.action)
        turn.stop(moved.done)
    graph.output("bonus", graph.merge(yes=lucky.true, no=graph.switch(0.0, roll.six).false))
    graph.output("only_when_lucky", lucky.true)
    # end of branch
    return graph


def collected():
    # start of collect
    graph = wayfare.Graph(environment="env_corridor_pure")
    index = graph.episode().episode_index
    with graph.loop("turn", ports=["state"]) as turn:
        seen = graph.add("env_corridor_pure__observe", episode_index=index, state=turn.state)
        moved = graph.add(
            "env_corridor_pure__step",
            inputs={"episode_index": index, "state": seen.state, "action": 1},
        )
        states = graph.collect(moved.state)
        turn.carry(state=moved.state)
        turn.stop(moved.done)
    score = graph.add("score_walk__score", episode_index=index, states=states)
    graph.output("metrics", score.metrics)
    # end of collect
    return graph


def nested():
    # start of subgraph
    ahead = wayfare.Graph()
    index = ahead.input("episode_index", "INT")
    with ahead.loop(max_turns=16, state=ahead.input("state", "JSON")) as imagined:
        inputs = {"episode_index": index, "state": imagined.state, "action": 1}
        moved = ahead.add("env_corridor_pure__step", inputs=inputs)
        imagined.carry(state=moved.state)
        imagined.stop(moved.done)
    ahead.output("missed", imagined.truncated)

    graph = wayfare.Graph(environment="env_corridor_pure")
    index = graph.episode().episode_index
    start = graph.add("env_corridor_pure__observe", episode_index=index)
    foreseen = graph.subgraph(ahead, episode_index=index, state=start.state)
    graph.output("goal_is_left", foreseen.missed)
    # end of subgraph
    return graph


def mapped():
    # start of map
    score = wayfare.Graph()
    judged = score.add("policy_red__score", view=score.input("item", "IMAGE"))
    score.output("score", judged.score)

    graph = wayfare.Graph(environment="env_panorama")
    index = graph.episode().episode_index
    seen = graph.add("env_panorama__look", episode_index=index)
    scores = graph.map(score, items=seen.views)
    chosen = graph.add("env_panorama__choose", episode_index=index, scores=scores.score)
    graph.output("metrics", chosen.metrics)
    # end of map
    return graph


def aliased():
    # start of alias
    graph = wayfare.Graph(environment="env_corridor")
    graph.nodeset("left_odometer", use="Odometer")
    graph.nodeset("right_odometer", use="Odometer")
    with graph.loop("turn", ports=["left", "right"]) as turn:
        seen = graph.add("env_corridor__observe", after=turn.step)
        chosen = graph.add("policy_corridor__act", view=seen.view)
        moved = graph.add("env_corridor__step", action=chosen.action)
        left = graph.add("left_odometer__add", action=chosen.action)
        right = graph.add("right_odometer__add", action=chosen.action)
        turn.carry(left=left.total, right=right.total)
        turn.stop(moved.done)
    graph.output("left", turn.final.left)
    graph.output("right", turn.final.right)
    # end of alias
    return graph


if __name__ == "__main__":
    for build in (carried, branched, collected, nested, mapped, aliased):
        run = wayfare.evaluate(build(), workspaces=WORKSPACES, episodes=4, workers=2)
        assert run.summary.episodes.error == 0, run.episodes[0].error
        print(build.__name__, {name: metric.mean for name, metric in run.metrics.items()})
