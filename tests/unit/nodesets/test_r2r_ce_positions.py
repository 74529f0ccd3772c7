"""Paths of positions, as R2R in continuous environments has them: Euclidean, repeats dropped."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.nodeset import published_formulas as papers

from nodeset.metrics import drop_repeats, euclidean_distance, ndtw_fastdtw, score_fidelity

EVERY = 40


@pytest.fixture(scope="module")
def published(data_file: Callable[[str], Path]) -> list[list[list[float]]]:
    """Some of the published ways, as lists of positions."""
    with gzip.open(data_file("r2r_ce/val_unseen_gt.json.gz"), "rt") as file:
        ways = json.load(file)
    return [ways[key]["locations"] for key in sorted(ways, key=int)[::EVERY]]


def stray(reference: list[list[float]], rng: np.random.Generator) -> list[list[float]]:
    """Follow a way inexactly, stop early, and stand still now and then."""
    positions = np.array(reference) + rng.normal(0.0, 0.3, size=(len(reference), 3))
    kept = positions[: max(2, len(positions) - int(rng.integers(0, 9)))]
    walked: list[list[float]] = np.repeat(kept, rng.integers(1, 3, size=len(kept)), axis=0).tolist()
    return walked


def test_a_second_implementation_agrees_on_published_ways(
    published: list[list[list[float]]],
) -> None:
    rng = np.random.default_rng(3)
    for reference in published:
        walked = drop_repeats(stray(reference, rng))
        places = np.array([*walked, *reference])
        apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=-1))
        indices = list(range(len(places)))
        wanted = papers.every_metric(indices[: len(walked)], indices[len(walked) :], apart)
        found = score_fidelity(walked, reference, euclidean_distance)
        assert found == pytest.approx({name: wanted[name] for name in found}, rel=1e-9)
        fast: Any = ndtw_fastdtw(walked, reference)
        assert 0.0 < fast <= wanted["nDTW"] + 1e-12


def test_the_published_way_itself_scores_full_marks(published: list[list[list[float]]]) -> None:
    for reference in published:
        scores = score_fidelity(
            drop_repeats(reference), drop_repeats(reference), euclidean_distance
        )
        assert scores == pytest.approx({"nDTW": 1.0, "sDTW": 1.0, "CLS": 1.0})
