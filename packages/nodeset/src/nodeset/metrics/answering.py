"""Score answers to questions as benchmarks of embodied question answering do.

Knows nothing of questions or of who answers; where such a benchmark asks for places, see the
metrics of navigation.
"""

from __future__ import annotations

from typing import Any, Dict, Sequence, Union

import numpy as np

from nodeset.metrics.value import Claim, Number, undefined

LLM_MATCH_SCORES = (1, 5)
"""The lowest and the highest mark that OpenEQA's judge gives."""


def answer_accuracy(answer: Any, truth: Any) -> Claim:
    """Return top-1 accuracy of one question: is the answer the published one?

    Das et al., "Embodied Question Answering", CVPR 2018, and Wijmans et al., "Embodied Question
    Answering in Photorealistic Environments", CVPR 2019. Undefined where the split publishes no
    answers (`truth` is none); an agent that gives none (`answer` is none) is wrong.
    """
    if truth is None:
        return undefined("the split publishes no answers")
    return answer is not None and bool(answer == truth)


def chance_accuracy(choice_count: int) -> Number:
    """Return the accuracy of guessing among so many choices, against which accuracy is read.

    0.25 for the four choices of HM-EQA (Ren et al., "Explore until Confident", RSS 2024).
    """
    if choice_count < 1:
        return undefined("the question has no choices")
    return 1.0 / choice_count


def answer_rank(scores: Sequence[float], truth: int) -> Number:
    """Return the rank of the published answer among all candidates, 1 for the best score.

    Das et al., CVPR 2018, section 5 (mean rank). `truth` is the published answer's index. Of
    candidates with the same score the published one counts as the last, so that a model which
    can't tell them apart gains nothing.
    """
    marks = np.asarray(scores, dtype=np.float64)
    if not 0 <= truth < marks.size:
        raise ValueError(f"truth is {truth!r}; it must be an index of the {marks.size} scores")
    if not np.all(np.isfinite(marks)):
        return undefined("a score is not a finite number")
    return float(np.sum(marks >= marks[truth]))


def score_hm_eqa(
    predictions: Sequence[Sequence[float]], relevances: Sequence[float], truth: int
) -> Dict[str, Claim]:
    """Return HM-EQA's success_weighted and success_max of one question.

    `predictions` holds, for each view, a probability per choice, `relevances` how relevant each
    view is to the question, `truth` the index of the right choice. Both are those of the code
    published with Ren et al., "Explore until Confident", RSS 2024: the choice with the highest
    product of probability and relevance over all views; and the likeliest choice in the most
    relevant view. The first one wins a tie. Undefined where no view was taken.
    """
    if len(predictions) != len(relevances):
        raise ValueError(
            f"there are {len(predictions)} predictions and {len(relevances)} relevances; each view "
            f"has one of both"
        )
    if len(predictions) == 0:
        nothing = undefined("the agent took no view of the scene")
        return {"success_weighted": nothing, "success_max": nothing}
    views = np.asarray(relevances, dtype=np.float64)
    weighted = np.asarray(predictions, dtype=np.float64) * views[:, None]
    return {
        "success_weighted": int(np.argmax(weighted.max(axis=0))) == truth,
        "success_max": int(np.argmax(weighted[int(np.argmax(views))])) == truth,
    }


def llm_match(mark: Union[int, float]) -> float:
    """Return LLM-Match of one question, from 0 to 1: (mark - 1) / 4.

    Majumdar et al., "OpenEQA", CVPR 2024, whose mean over questions is given in
    percent. `mark` is the judge's, from 1 to 5. Raises ValueError for another.
    """
    low, high = LLM_MATCH_SCORES
    if not low <= mark <= high:
        raise ValueError(f"mark is {mark!r}; the judge gives {low} to {high}")
    return (mark - low) / (high - low)
