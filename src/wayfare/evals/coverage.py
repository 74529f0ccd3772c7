"""Certify that each episode of a run's fixed list counts exactly once, from its records alone.

Knows nothing of how episodes run or of who wrote the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from wayfare.evals.digest import digest_episodes
from wayfare.evals.episodes import hash_episodes
from wayfare.store.claim import Claim, read_claims
from wayfare.store.records import EpisodeKey, RunHeader
from wayfare.store.run import RunReader
from wayfare.store.summary import Coverage, RunStatus, RunSummary

MAX_PROBLEMS = 10
"""So many are listed; a file of another run would have one per record."""


def certify(header: RunHeader, claims: Iterable[Claim]) -> Coverage:
    """Return the certificate of a run whose file of truth holds these claims, in that order.

    Keys are compared whole: two episodes with one id in different scenes are two.
    """
    count = _Count([planned.key for planned in header.episodes])
    list_hash = hash_episodes(count.keys)
    problems = [*_check_list(header, list_hash), *(p for c in claims for p in count.add(c))]
    missing = len(count.keys) - count.recorded
    return Coverage(
        certified=not problems and not missing,
        list_hash=list_hash,
        episodes=len(count.keys),
        recorded=count.recorded,
        missing=missing,
        problems=_shorten(problems),
    )


def certify_run(reader: RunReader, summary: RunSummary | None = None) -> Coverage:
    """Return the certificate of a run on disk; raises CorruptFileError for an unreadable file.

    With a summary it is also checked that this is a summary of these records.
    """
    last: dict[EpisodeKey, str] = {}

    def follow() -> Iterator[Claim]:
        for claim in read_claims(reader.folder):
            if summary is not None:
                last[claim.key] = claim.digest
            yield claim

    coverage = certify(reader.header, follow())
    if summary is None:
        return coverage
    problems = list(_check_summary(summary, last))
    if not problems:
        return coverage
    return Coverage(
        certified=False,
        list_hash=coverage.list_hash,
        episodes=coverage.episodes,
        recorded=coverage.recorded,
        missing=coverage.missing,
        problems=_shorten([*coverage.problems, *problems]),
    )


def settle_status(status: RunStatus, coverage: Coverage) -> RunStatus:
    """Return the status of a run that ended as `status`, given its certificate."""
    return "uncertified" if coverage.problems else status


@dataclass(slots=True)
class _Count:
    """How often each episode of a list was recorded."""

    keys: list[EpisodeKey]
    outcomes: dict[int, str] = field(default_factory=dict)

    @property
    def recorded(self) -> int:
        return len(self.outcomes)

    def add(self, claim: Claim) -> Iterator[str]:
        """Count one record; yield what is wrong with it."""
        position = claim.position
        if not 0 <= position < len(self.keys) or self.keys[position] != claim.key:
            yield f"a record of episode {claim.key.text} is not what the list has at {position}"
            return
        earlier = self.outcomes.get(position, "error")
        if earlier != "error":
            yield f"episode {claim.key.text} is recorded again after it was {earlier}"
        self.outcomes[position] = claim.outcome


def _check_list(header: RunHeader, list_hash: str) -> Iterator[str]:
    if list_hash != header.episodes_hash:
        yield (
            f"the fixed list has the hash {list_hash}, but the run began with "
            f"{header.episodes_hash}"
        )
    keys = [planned.key for planned in header.episodes]
    if len(set(keys)) != len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        yield f"episode {twice.text} stands more than once in the fixed list"


def _check_summary(summary: RunSummary, last: dict[EpisodeKey, str]) -> Iterator[str]:
    digest = digest_episodes(
        len(last), ((key, last[key]) for key in sorted(last, key=lambda key: key.parts))
    ).hex()
    if digest != summary.digest:
        yield f"the summary has the digest {summary.digest}, but the records come to {digest}"


def _shorten(problems: list[str]) -> tuple[str, ...]:
    if len(problems) <= MAX_PROBLEMS:
        return tuple(problems)
    return (*problems[:MAX_PROBLEMS], f"and {len(problems) - MAX_PROBLEMS} more")
