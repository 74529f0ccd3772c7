"""nDTW, sDTW, CLS and SPL against a second implementation, published examples, and their edges."""

from __future__ import annotations

import math
from typing import Any, List, Tuple

import numpy as np
import pytest
from tests.unit.nodeset import published_formulas as papers

from nodeset.metrics import (
    coverage_length_score,
    drop_repeats,
    dtw,
    euclidean_distance,
    is_undefined,
    ndtw,
    ndtw_fastdtw,
    path_coverage,
    score_fidelity,
    score_navigation,
    sdtw,
    undefined,
)

RANDOM_PATHS = 1000
ISLAND = 99


def on_grid(here: Tuple[int, int], there: Tuple[int, int]) -> float:
    """The distance in a grid whose neighbouring nodes are 1 apart."""
    return float(abs(here[0] - there[0]) + abs(here[1] - there[1]))


def on_line(here: float, there: float) -> float:
    return math.inf if ISLAND in (here, there) and here != there else abs(here - there)


def random_house(rng: np.random.Generator) -> Tuple[np.ndarray, List[List[int]]]:
    """Draw a connected graph; return all its distances and each place's neighbours."""
    count = int(rng.integers(4, 16))
    near: List[List[int]] = [[] for _ in range(count)]
    edges = {}
    for place in range(1, count):
        for other in {int(rng.integers(place)) for _ in range(int(rng.integers(1, 4)))}:
            edges[place, other] = float(rng.uniform(0.5, 4.0))
            near[place].append(other)
            near[other].append(place)
    return papers.all_distances(edges, count), near


def random_walk(rng: np.random.Generator, near: List[List[int]], start: int) -> List[int]:
    path = [start]
    for _ in range(int(rng.integers(1, 12))):
        path.append(int(rng.choice(near[path[-1]])))
    return path


def test_a_second_implementation_agrees_on_1000_random_paths() -> None:
    rng = np.random.default_rng(5)
    compared = 0
    while compared < RANDOM_PATHS:
        distances, near = random_house(rng)
        start = int(rng.integers(len(near)))
        path, reference = random_walk(rng, near, start), random_walk(rng, near, start)
        if reference[-1] == start:
            continue  # the papers' SPL is 0/0 there
        d_th = float(rng.choice([0.7, 3.0]))
        found = {
            **score_navigation(path, reference[-1], distances, threshold_m=d_th),
            **score_fidelity(path, reference, distances, threshold_m=d_th),
        }
        wanted = papers.every_metric(path, reference, distances, d_th)
        assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)
        compared += 1


# The examples published with the papers' code (google-research, folder r4r), on a grid of 4 by 3.
def test_the_published_example_of_dtw() -> None:
    path = [(0, 0), (1, 0), (2, 0), (3, 0)]
    reference = [(0, 0), (1, 0), (2, 1), (3, 2)]
    assert dtw(path, reference, on_grid) == 3.0
    assert ndtw(path, reference, on_grid) == pytest.approx(0.77880078307140488)
    assert sdtw(path, reference, on_grid) == pytest.approx(0.77880078307140488)
    assert sdtw(path[:2], reference, on_grid) == 0.0


def test_the_published_examples_of_cls() -> None:
    reference = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (3, 2)]
    above = [(0, 0), (0, 1), (1, 1), (2, 1), (3, 1), (3, 2)]
    short = [(0, 1), (1, 1), (2, 1), (3, 1)]
    assert coverage_length_score(reference, reference, on_grid) == pytest.approx(1.0)
    assert coverage_length_score(above, reference, on_grid) == pytest.approx(0.81994915125863865)
    # Published as (reference, prediction) to a function of (prediction, reference).
    assert coverage_length_score(reference, short, on_grid) == pytest.approx(0.44197196102702557)
    assert coverage_length_score(short, reference, on_grid) == pytest.approx(
        (4 * math.exp(-1 / 3) + 2) / 6 * 4.0551 / 5.1102, abs=1e-5
    )


def test_dtw_is_the_least_over_all_warpings() -> None:
    def cheapest(i: int, j: int) -> float:
        here = abs(path[i] - reference[j])
        before = [(i - 1, j), (i, j - 1), (i - 1, j - 1)]
        ways = [cheapest(m, n) for m, n in before if m >= 0 and n >= 0]
        return here + min(ways, default=0.0)

    rng = np.random.default_rng(2)
    for _ in range(30):
        path, reference = (rng.uniform(0, 9, int(rng.integers(1, 6))).tolist() for _ in range(2))
        wanted = cheapest(len(path) - 1, len(reference) - 1)
        assert dtw(path, reference, on_line) == pytest.approx(wanted)


def test_the_reference_itself_scores_full_marks() -> None:
    assert score_fidelity([0, 2, 5], [0, 2, 5], on_line) == {"nDTW": 1.0, "sDTW": 1.0, "CLS": 1.0}


def test_order_counts_for_ndtw_and_not_for_coverage() -> None:
    assert ndtw([5, 2, 0], [0, 2, 5], on_line) == pytest.approx(math.exp(-10 / 9))
    assert path_coverage([5, 2, 0], [0, 2, 5], on_line) == 1.0


def test_sdtw_takes_the_benchmarks_word_for_success() -> None:
    assert sdtw([0, 5], [0, 5], on_line, succeeded=False) == 0.0
    assert sdtw([0], [0, 5], on_line, succeeded=True) == ndtw([0], [0, 5], on_line)


def test_without_a_reference_path_there_is_no_fidelity() -> None:
    nothing = undefined("the split publishes no reference path")
    assert score_fidelity([0, 1], [], on_line) == dict.fromkeys(("nDTW", "sDTW", "CLS"), nothing)
    assert ndtw_fastdtw([[0.0]], []) == nothing


def test_cls_of_a_reference_without_length_is_undefined_for_who_stays_and_zero_for_who_goes() -> (
    None
):
    assert is_undefined(coverage_length_score([3], [3], on_line))
    assert coverage_length_score([3, 4], [3], on_line) == 0.0
    assert ndtw([3], [3], on_line) == 1.0


def test_what_no_way_leads_to_is_undefined_rather_than_infinite() -> None:
    assert is_undefined(ndtw([0], [0, ISLAND], on_line))
    assert is_undefined(sdtw([0], [0, ISLAND], on_line))
    assert is_undefined(coverage_length_score([0, ISLAND], [0, 1], on_line))
    assert is_undefined(coverage_length_score([0, 1], [0, ISLAND], on_line))
    assert path_coverage([0], [0, ISLAND], on_line) == 0.5


def test_positions_that_repeat_count_once() -> None:
    still: List[Any] = [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
    assert drop_repeats(still) == [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
    assert len(drop_repeats([np.array(position) for position in still])) == 3
    assert drop_repeats([]) == []


def test_fastdtw_is_exact_on_short_paths_and_never_below_the_exact_on_long_ones() -> None:
    rng = np.random.default_rng(4)
    seen_above = False
    for size in (1, 2, 40, 41, 77):
        for other in (1, 2, 30, 63):
            walk, reference = (rng.normal(size=(n, 3)).cumsum(axis=0) for n in (size, other))
            exact = ndtw(walk.tolist(), reference.tolist(), euclidean_distance, threshold_m=99.0)
            fast = ndtw_fastdtw(walk, reference, threshold_m=99.0)
            assert isinstance(exact, float)
            assert isinstance(fast, float)
            excess = exact - fast
            assert excess >= -1e-12
            assert min(size, other) >= 3 or excess == pytest.approx(0.0, abs=1e-12)
            seen_above = seen_above or excess > 1e-6
    assert seen_above


# What the package fastdtw 0.3.4 says, radius 1, with ties, odd lengths and an approximation.
@pytest.mark.parametrize(
    ("seed", "sizes", "cost"),
    [
        (1, (40, 33), 309.7690505288055),
        (2, (77, 50), 1068.1643904505388),
        (4, (121, 37), 498.43049083248394),
    ],
)
def test_fastdtw_is_that_of_the_package(seed: int, sizes: Tuple[int, int], cost: float) -> None:
    rng = np.random.default_rng(seed)
    walk, reference = (rng.integers(-2, 3, size=(n, 2)).cumsum(axis=0) for n in sizes)
    found = ndtw_fastdtw(walk, reference, threshold_m=1000.0)
    assert isinstance(found, float)
    assert -math.log(found) * sizes[1] * 1000.0 == pytest.approx(cost)


def test_a_radius_that_leaves_no_way_and_positions_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="radius is 0; it must be 1 or more"):
        ndtw_fastdtw([[0.0]], [[0.0]], radius=0)
    with pytest.raises(ValueError, match="must be \\(number of positions, coordinates\\)"):
        ndtw_fastdtw(np.zeros(1), [[0.0]])
