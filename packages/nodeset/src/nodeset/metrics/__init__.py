"""Score episodes as the benchmarks define it, each metric with its published definition.

Knows nothing of simulators or files: distances come in as a function or a matrix.

A metric that has no value for an episode is `undefined(reason)`, neither 0 nor NaN. Distances are
in metres, may be infinite (no way there) and are never NaN or negative.
"""

from __future__ import annotations

from nodeset.metrics.answering import (
    answer_accuracy,
    answer_rank,
    chance_accuracy,
    llm_match,
    score_hm_eqa,
)
from nodeset.metrics.episode import (
    SUCCESS_RULES,
    collision_rate,
    count_collisions,
    episode_length,
    episode_return,
    episode_success,
    score_successes,
)
from nodeset.metrics.fidelity import (
    NO_REFERENCE,
    coverage_length_score,
    drop_repeats,
    dtw,
    ndtw,
    ndtw_fastdtw,
    path_coverage,
    score_fidelity,
    sdtw,
)
from nodeset.metrics.navigation import (
    SUCCESS_THRESHOLD_M,
    goal_progress,
    navigation_error,
    oracle_navigation_error,
    oracle_success,
    oracle_success_weighted_path_length,
    score_eqa_navigation,
    score_goal,
    score_navigation,
    soft_success_weighted_path_length,
    success,
    success_weighted_path_length,
    trajectory_length,
)
from nodeset.metrics.value import (
    AnyOf,
    Claim,
    Distance,
    Number,
    Undefined,
    euclidean_distance,
    is_undefined,
    undefined,
)

__all__ = [
    "NO_REFERENCE",
    "SUCCESS_RULES",
    "SUCCESS_THRESHOLD_M",
    "AnyOf",
    "Claim",
    "Distance",
    "Number",
    "Undefined",
    "answer_accuracy",
    "answer_rank",
    "chance_accuracy",
    "collision_rate",
    "count_collisions",
    "coverage_length_score",
    "drop_repeats",
    "dtw",
    "episode_length",
    "episode_return",
    "episode_success",
    "euclidean_distance",
    "goal_progress",
    "is_undefined",
    "llm_match",
    "navigation_error",
    "ndtw",
    "ndtw_fastdtw",
    "oracle_navigation_error",
    "oracle_success",
    "oracle_success_weighted_path_length",
    "path_coverage",
    "score_eqa_navigation",
    "score_fidelity",
    "score_goal",
    "score_hm_eqa",
    "score_navigation",
    "score_successes",
    "sdtw",
    "soft_success_weighted_path_length",
    "success",
    "success_weighted_path_length",
    "trajectory_length",
    "undefined",
]
