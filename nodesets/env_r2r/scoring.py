"""Score a trajectory as Room-to-Room does: distances along the graph, 3 m to the goal.

Knows nothing of ports. Splits that publish no goals have lengths and no scores.
"""

from __future__ import annotations

from typing import Any, Sequence

from nodeset.metrics import (
    NO_REFERENCE,
    SUCCESS_THRESHOLD_M,
    goal_progress,
    oracle_success_weighted_path_length,
    score_fidelity,
    score_navigation,
    soft_success_weighted_path_length,
    trajectory_length,
    undefined,
)

from .dataset import Task
from .navigation import NavigationGraph

GOAL_METRICS = ("NE", "TL", "SR", "OSR", "SPL")
FIDELITY_METRICS = ("nDTW", "sDTW", "CLS")
PATH_METRICS = (*GOAL_METRICS, "SoftSPL", "OSPL", "GP", *FIDELITY_METRICS)
_ON_GRAPH = {"distance": "geodesic on the graph"}
_WITH_THRESHOLD = {**_ON_GRAPH, "threshold_m": SUCCESS_THRESHOLD_M}
_WITHOUT_THRESHOLD = ("NE", "TL", "SoftSPL", "GP")
METRIC_DEFINITIONS = {
    name: _ON_GRAPH if name in _WITHOUT_THRESHOLD else _WITH_THRESHOLD for name in PATH_METRICS
}
NO_GOALS = "the split publishes no goals"


def score_goal(task: Task, trajectory: Sequence[str], graph: NavigationGraph) -> dict[str, Any]:
    """Return GOAL_METRICS."""
    if task.goal is None:
        length_m = trajectory_length(trajectory, graph.distance_m)
        return {**dict.fromkeys(GOAL_METRICS, undefined(NO_GOALS)), "TL": length_m}
    return dict(
        score_navigation(trajectory, task.goal, graph.distance_m, threshold_m=SUCCESS_THRESHOLD_M)
    )


def score_path(task: Task, trajectory: Sequence[str], graph: NavigationGraph) -> dict[str, Any]:
    """Return PATH_METRICS; the reference path is the one that the instruction describes."""
    scores = score_goal(task, trajectory, graph)
    if task.goal is None:
        no_goals = dict.fromkeys(("SoftSPL", "OSPL", "GP"), undefined(NO_GOALS))
        return {**scores, **no_goals, **dict.fromkeys(FIDELITY_METRICS, undefined(NO_REFERENCE))}
    ends = (trajectory, task.goal, graph.distance_m)
    return {
        **scores,
        "SoftSPL": soft_success_weighted_path_length(*ends),
        "OSPL": oracle_success_weighted_path_length(*ends, threshold_m=SUCCESS_THRESHOLD_M),
        "GP": goal_progress(*ends),
        **score_fidelity(trajectory, task.path, graph.distance_m, threshold_m=SUCCESS_THRESHOLD_M),
    }
