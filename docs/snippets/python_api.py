"""Do what the page on the Python API shows."""

import tempfile
from pathlib import Path

import wayfare

WORKSPACES = [Path(__file__).parents[2] / "examples"]
FOLDER = Path(tempfile.mkdtemp())

# start of build
manifests = wayfare.read_manifests(["env_corridor", "policy_corridor"], workspaces=WORKSPACES)
graph = wayfare.Graph("walker", environment="env_corridor", manifests=manifests)
with graph.loop("turn") as turn:
    seen = graph.add("env_corridor__observe", "observe", after=turn.step)
    chosen = graph.add("policy_corridor__act", "act", view=seen.view)
    moved = graph.add("env_corridor__step", "step", action=chosen.action)
    turn.stop(moved.done)
result = graph.add("env_corridor__evaluate", "evaluate", after=turn.final_step)
graph.output("metrics", result.metrics)
graph.validate()
# end of build

try:
    # start of typo
    graph.add("policy_corridor__act", view=seen.viev)
    # end of typo
except (wayfare.GraphError, AttributeError) as error:
    print(error)
else:
    raise AssertionError("the mistake was not found")

# start of file
graph.save(FOLDER / "walker.json")
again = wayfare.Graph.load(FOLDER / "walker.json")
assert again.document == graph.document
print(again.to_code())
# end of file

# start of evaluate
run = wayfare.evaluate(
    graph,
    workers=2,
    episodes=range(4, 12),
    step_budget=20,
    workspaces=WORKSPACES,
    out=FOLDER,
)
print(run.id, run.status, run.digest)
for name, metric in run.metrics.items():
    print(name, metric.n, metric.mean, metric.ci_low, metric.ci_high, metric.undefined)
# end of evaluate

# start of run
run = wayfare.Run.open(run.folder)
for episode in run.episodes:
    print(episode.key, episode.outcome, episode.steps, episode.metrics)
for firing in run.trajectory(run.episodes[0]):
    print(firing.path, firing.turns, firing.digest.hex())
# end of run
assert run.status == "done"

# start of bake
baked = wayfare.bake(
    "env_lookout",
    out=FOLDER / "store",
    by="scene",
    workers=2,
    workspaces=WORKSPACES,
)
print(baked.folder, baked.status, baked.rows, baked.verified, baked.different)
store = {"env_pose_lookup.store": str(baked.folder)}
run = wayfare.evaluate("pose_lookup_grid", workers=4, overrides=store, out=FOLDER)
# end of bake
assert baked.status == "done"
