"""Certify that each episode of a run's fixed list counts exactly once, from its records alone.

Knows nothing of how episodes run or of who wrote the records.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from wayfare.evals.digest import digest_episodes
from wayfare.evals.episodes import hash_episodes
from wayfare.store.claim import Claim, read_claims
from wayfare.store.records import OUTCOMES, EpisodeKey, RunHeader
from wayfare.store.run import RunReader
from wayfare.store.summary import Coverage, RunStatus, RunSummary
from wayfare.store.truth import Committed, Salvage

MAX_PROBLEMS = 10
"""So many are listed; a file of another run would have one per record."""


def certify(
    header: RunHeader, claims: Iterable[Claim], summary: RunSummary | None = None
) -> Coverage:
    """Return the certificate of a run whose file of truth holds these claims, in that order.

    Keys are compared whole: two episodes with one id in different scenes are two. With a summary
    it is also checked that this is a summary of these records.
    """
    count = _Count([planned.key for planned in header.episodes])
    list_hash = hash_episodes(count.keys)
    problems = [*_check_list(header, list_hash)]
    for claim in claims:
        problems += count.add(claim)
    if summary is not None:
        problems += _check_summary(summary, count)
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
    """Return the certificate of a run on disk; raises CorruptFileError for an unreadable file."""
    return certify(reader.header, read_claims(reader.folder), summary)


def certify_salvage(header: RunHeader, found: Salvage) -> Coverage:
    """Return what the records that can be read prove, against which stands what is damaged."""
    coverage = certify(header, map(_claim, found.entries))
    problems = _shorten([*found.problems, *coverage.problems])
    return replace(coverage, problems=problems, certified=coverage.certified and not problems)


def settle_status(status: RunStatus, coverage: Coverage) -> RunStatus:
    """Return the status of a run that ended as `status`, given its certificate."""
    return "uncertified" if coverage.problems else status


def _claim(entry: Committed) -> Claim:
    record = entry.record
    attempts = len(record.attempts)
    return Claim(entry.position, record.key, record.outcome, record.digest, attempts)


class _Count:
    """How each episode of a list was recorded last; nothing of the records is kept but digests."""

    def __init__(self, keys: Sequence[EpisodeKey]) -> None:
        self.keys = keys
        self._states = bytearray(len(keys))
        """By position: 0 for an episode without a record, else 1 + its outcome's number."""
        self._digests: list[bytes] = [b""] * len(keys)
        self._attempts = array("Q", bytes(8 * len(keys)))

    @property
    def recorded(self) -> int:
        return len(self.keys) - self._states.count(0)

    def add(self, claim: Claim) -> Iterator[str]:
        """Count one record; yield what is wrong with it."""
        position = claim.position
        if not 0 <= position < len(self.keys) or self.keys[position] != claim.key:
            yield f"a record of episode {claim.key.text} is not what the list has at {position}"
            return
        state = self._states[position]
        if state and OUTCOMES[state - 1] != "error":
            earlier = OUTCOMES[state - 1]
            yield f"episode {claim.key.text} is recorded again after it was {earlier}"
        elif state and claim.attempts <= self._attempts[position]:
            yield f"episode {claim.key.text} is recorded again without a further attempt"
        self._states[position] = 1 + OUTCOMES.index(claim.outcome)
        self._attempts[position] = claim.attempts
        self._digests[position] = bytes.fromhex(claim.digest)

    def digest(self) -> str:
        """Return the digest (hex) that a summary of the last records has."""
        recorded = (position for position, state in enumerate(self._states) if state)
        ordered = sorted(recorded, key=lambda position: self.keys[position].parts)
        episodes = ((self.keys[n], self._digests[n].hex()) for n in ordered)
        return digest_episodes(len(ordered), episodes).hex()


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


def _check_summary(summary: RunSummary, count: _Count) -> Iterator[str]:
    digest = count.digest()
    if digest != summary.digest:
        yield f"the summary has the digest {summary.digest}, but the records come to {digest}"


def _shorten(problems: list[str]) -> tuple[str, ...]:
    if len(problems) <= MAX_PROBLEMS:
        return tuple(problems)
    return (*problems[:MAX_PROBLEMS], f"and {len(problems) - MAX_PROBLEMS} more")
