import wayfare

graph = wayfare.Graph("cartpole", environment="env_gymnasium")
graph.nodeset("env_gymnasium", config={"id": "CartPole-v1", "success": "truncated"})
start = graph.add("env_gymnasium__reset")
with graph.loop() as turn:
    space = start.action_space
    act = graph.add("policy_planner__random_action", action_space=space, after=turn.step)
    step = graph.add("env_gymnasium__step", action=act.action)
    turn.stop(step.done)
score = graph.add("env_gymnasium__evaluate", after=turn.final_step)
graph.output("metrics", score.metrics)

run = wayfare.evaluate(graph, workers=4, episodes=20)
print(run.digest, run.metrics["return"].mean)
for episode in run.episodes:
    print(episode.episode_id, episode.outcome, episode.steps, episode.metrics)
