"""Find where an episode's two courses part: the first firing that differs, by its digest.

Knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from nodeset.digest import digest_value
from wayfare.evals.comparison_order import FiringOrder, Turns
from wayfare.evals.comparison_pair import Pair
from wayfare.evals.comparison_value import ValueDifference
from wayfare.store.records import EpisodeRecord, ErrorRecord, Firing

Parting = Literal[
    "other outputs", "fired in a only", "fired in b only", "error", "other result", "not finished"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Where and how two courses of an episode part.

    `other outputs` and `fired in … only` name the first firing, by `node` and `turns`; `error`
    the failure. `other result`: all firings are equal, and the outcome or metrics are not.
    `inputs_equal` and `values` are what was recorded there; None and empty where nothing was.
    """

    key: str
    episode_id: str
    scene_id: str
    repeat: int
    how: Parting
    node: str = ""
    turns: Turns = ()
    outcome_a: str | None = None
    outcome_b: str | None = None
    error_a: str = ""
    error_b: str = ""
    metrics: tuple[str, ...] = ()
    """The names of those that differ, or are undefined for another reason."""
    firings_equal: int = 0
    firings_different: int = 0
    firings_only_a: int = 0
    firings_only_b: int = 0
    inputs_equal: bool | None = None
    values: tuple[ValueDifference, ...] = ()

    @property
    def has_firing(self) -> bool:
        """Whether it names a firing that another one can be put beside."""
        return self.how == "other outputs"


@dataclass(frozen=True, slots=True)
class _Firings:
    """The firings of both courses in one order, sorted by what became of them."""

    equal: list[tuple[str, Turns]] = field(default_factory=list)
    different: list[tuple[str, Turns]] = field(default_factory=list)
    only_a: list[tuple[str, Turns]] = field(default_factory=list)
    only_b: list[tuple[str, Turns]] = field(default_factory=list)


def find_divergence(
    pair: Pair, firings_a: Iterable[Firing], firings_b: Iterable[Firing], *, order: FiringOrder
) -> Divergence:
    """Return where the two courses of a pair part whose digests differ."""
    if pair.a is None or pair.b is None:
        return _describe(pair, "not finished", _Firings())
    found = _sort(firings_a, firings_b)
    has_error = pair.a.error is not None or pair.b.error is not None
    if has_error:
        # What else had fired by the time of a failure is a matter of time, so a firing that one
        # run lacks says nothing.
        place = min(found.different, key=lambda at: order.key(*at), default=None)
        if place is None:
            return _describe(pair, "error", found, _place_of_error(pair, order))
        return _describe(pair, "other outputs", found, place)
    parting: dict[tuple[str, Turns], Parting] = dict.fromkeys(found.different, "other outputs")
    parting |= dict.fromkeys(found.only_a, "fired in a only")
    parting |= dict.fromkeys(found.only_b, "fired in b only")
    if not parting:
        return _describe(pair, "other result", found)
    place = min(parting, key=lambda at: order.key(*at))
    return _describe(pair, parting[place], found, place)


def _sort(a: Iterable[Firing], b: Iterable[Firing]) -> _Firings:
    olds = {(firing.path, firing.turns): firing.digest for firing in a}
    news = {(firing.path, firing.turns): firing.digest for firing in b}
    found = _Firings()
    for place in olds.keys() | news.keys():
        if place not in news:
            found.only_a.append(place)
        elif place not in olds:
            found.only_b.append(place)
        else:
            (found.equal if olds[place] == news[place] else found.different).append(place)
    return found


def _place_of_error(pair: Pair, order: FiringOrder) -> tuple[str, Turns]:
    errors = [record.error for record in (pair.a, pair.b) if record and record.error]
    places = [(error.node, error.turns) for error in errors]
    return min(places, key=lambda at: order.key(*at))


def _describe(
    pair: Pair, how: Parting, found: _Firings, place: tuple[str, Turns] = ("", ())
) -> Divergence:
    key = pair.key_a
    return Divergence(
        key=key.text,
        episode_id=key.id,
        scene_id=key.scene_id,
        repeat=key.repeat,
        how=how,
        node=place[0],
        turns=place[1],
        outcome_a=pair.a.outcome if pair.a else None,
        outcome_b=pair.b.outcome if pair.b else None,
        error_a=_error_text(pair.a.error if pair.a else None),
        error_b=_error_text(pair.b.error if pair.b else None),
        metrics=_differing_metrics(pair),
        firings_equal=len(found.equal),
        firings_different=len(found.different),
        firings_only_a=len(found.only_a),
        firings_only_b=len(found.only_b),
    )


def _error_text(error: ErrorRecord | None) -> str:
    if error is None:
        return ""
    turns = f" at turn {'.'.join(map(str, error.turns))}" if error.turns else ""
    where = f" in node {error.node!r}{turns}" if error.node else ""
    return f"{error.type}{where}: {error.message}"


def _differing_metrics(pair: Pair) -> tuple[str, ...]:
    if pair.a is None or pair.b is None:
        return ()
    olds, news = _results(pair.a), _results(pair.b)
    return tuple(
        name
        for name in sorted(olds.keys() | news.keys())
        if digest_value(olds.get(name)) != digest_value(news.get(name))
    )


def _results(record: EpisodeRecord) -> dict[str, Any]:
    return {**record.metrics, **{name: [reason] for name, reason in record.undefined.items()}}
