"""What answers to questions score: right, by chance, by rank, over views, by a judge."""

from __future__ import annotations

import math

import pytest

from nodeset.metrics import (
    answer_accuracy,
    answer_rank,
    chance_accuracy,
    is_undefined,
    llm_match,
    score_hm_eqa,
)


def test_an_answer_is_right_or_wrong_and_none_is_wrong() -> None:
    assert answer_accuracy("blue", "blue") is True
    assert answer_accuracy("red", "blue") is False
    assert answer_accuracy(None, "blue") is False
    assert is_undefined(answer_accuracy("blue", None))


def test_chance_is_one_over_the_number_of_choices() -> None:
    assert chance_accuracy(4) == 0.25
    assert is_undefined(chance_accuracy(0))


def test_the_rank_counts_who_scores_as_well_or_better() -> None:
    assert answer_rank([0.1, 0.7, 0.2], 1) == 1.0
    assert answer_rank([0.1, 0.7, 0.2], 0) == 3.0
    assert answer_rank([0.5, 0.5, 0.5], 0) == 3.0
    assert is_undefined(answer_rank([math.nan, 1.0], 1))
    with pytest.raises(ValueError, match="an index of the 2 scores"):
        answer_rank([0.5, 0.5], 2)


def test_hm_eqa_weighs_views_by_relevance_or_takes_the_most_relevant_one() -> None:
    sure, unsure = [0.0, 1.0, 0.0, 0.0], [0.4, 0.2, 0.2, 0.2]
    found = score_hm_eqa([sure, unsure], [0.5, 0.9], truth=1)
    # 1.0 * 0.5 for choice 1 against 0.4 * 0.9 for choice 0, which the most relevant view prefers.
    assert found == {"success_weighted": True, "success_max": False}


def test_hm_eqa_without_a_view_is_undefined() -> None:
    assert all(map(is_undefined, score_hm_eqa([], [], truth=0).values()))
    with pytest.raises(ValueError, match="1 predictions and 0 relevances"):
        score_hm_eqa([[1.0]], [], truth=0)


def test_a_judges_mark_becomes_a_share() -> None:
    assert [llm_match(mark) for mark in (1, 3, 5)] == [0.0, 0.5, 1.0]
    with pytest.raises(ValueError, match="mark is 0"):
        llm_match(0)
