"""Build an agent in Python, run it with one worker and with four, and look at both runs."""

from pathlib import Path

import wayfare

WORKSPACES = [Path(__file__).parent]


def build():
    manifests = wayfare.read_manifests(["env_corridor", "policy_corridor"], workspaces=WORKSPACES)
    graph = wayfare.Graph("walker", environment="env_corridor", manifests=manifests)
    with graph.loop() as turn:
        seen = graph.add("env_corridor__observe", after=turn.step)
        chosen = graph.add("policy_corridor__act", view=seen.view)
        moved = graph.add("env_corridor__step", action=chosen.action)
        turn.stop(moved.done)
    result = graph.add("env_corridor__evaluate", after=turn.final_step)
    graph.output("metrics", result.metrics)
    graph.validate()
    return graph


def main():
    graph = build()
    one = wayfare.evaluate(graph, workspaces=WORKSPACES, episodes=8)
    four = wayfare.evaluate(graph, workspaces=WORKSPACES, episodes=8, workers=4)
    success = four.metrics["success"]
    print(f"{four.id}: success {success.mean:.2f} ({success.ci_low:.2f} to {success.ci_high:.2f})")
    for episode in four.episodes:
        print(episode.episode_id, episode.outcome, episode.steps, episode.metrics["success"])
    for firing in four.trajectory(four.episodes[0]):
        if firing.turns == (0,):
            print(firing.path, firing.digest.hex())
    assert one.digest == four.digest


if __name__ == "__main__":
    main()
