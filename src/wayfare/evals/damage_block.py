"""Find what is wrong with the files that an episode's recording is one block of.

Knows nothing of what the blocks hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wayfare.evals.damage_finding import Damage, describe_damage, describe_surplus
from wayfare.evals.damage_surplus import Span, Surplus
from wayfare.store.errors import CorruptFileError, FormatVersionError
from wayfare.store.frames import read_frames
from wayfare.store.recording import record_token
from wayfare.store.recording_actions import survey_parts
from wayfare.store.recording_block import peek_block
from wayfare.store.truth import Committed


@dataclass(slots=True)
class Blocks:
    """What stands in a file of blocks; what follows the first damage is not read."""

    tokens: set[bytes] = field(default_factory=set)
    """Those of the records that have a block."""
    surplus: list[Span] = field(default_factory=list)
    """The blocks whose record has one before them: the run writes one for each."""
    doubled: set[bytes] = field(default_factory=set)
    problem: str = ""

    @classmethod
    def read(cls, path: Path) -> Blocks:
        """Read the file's blocks without unpacking them."""
        found = cls()
        try:
            for offset, payload in read_frames(path):
                token = peek_block(payload, f"{path}: byte {offset}")[1]
                if token and token in found.tokens:
                    found.surplus.append(Span.of_record(offset, payload))
                    found.doubled.add(token)
                found.tokens.add(token)
        except (CorruptFileError, FormatVersionError) as error:
            found.problem = str(error)
        return found


def check_blocks(
    path: Path,
    latest: Sequence[Committed],
    *,
    lost: str,
    must_have: bool = True,
    kept_until: int = 0,
) -> Iterator[Damage]:
    """Find the episodes that lack their block, and those that have more than one.

    Unless each `must_have` one, an episode without is missed only where the file is damaged. What
    stands before the offset `kept_until` must stay, since something points to what follows.
    """
    blocks = Blocks.read(path)
    without = [entry for entry in latest if record_token(entry.record) not in blocks.tokens]
    if without and (must_have or blocks.problem):
        missing = f"{path}: what it had of some episodes is not there."
        yield describe_damage(path, blocks.problem or missing, lost=lost, concerned=without)
    if blocks.surplus:
        doubled = [entry for entry in latest if record_token(entry.record) in blocks.doubled]
        must_stay = blocks.surplus[0].start < kept_until
        problem = describe_surplus(path, Surplus(tuple(blocks.surplus), must_stay=must_stay))
        yield describe_damage(path, problem, lost="", concerned=doubled)


def check_actions(
    path: Path, latest: Sequence[Committed], lost: str, *, is_settled: bool
) -> Iterator[Damage]:
    """Find what `check_blocks` does, and long episodes whose parts are not where they were written.

    A part that is nobody's is told only of a run that `is_settled`: attempts that do not count
    leave such.
    """
    try:
        parts = survey_parts(path)
    except (CorruptFileError, FormatVersionError):
        yield from check_blocks(path, latest, lost=lost)
        return
    kept_until = 0 if parts.astray else parts.last
    yield from check_blocks(path, latest, lost=lost, kept_until=kept_until)
    astray = [entry for entry in latest if record_token(entry.record) in parts.astray]
    if astray:
        problem = (
            f"{path}: parts of long episodes' actions are not where they were written: bytes were "
            f"put in before them or taken out, or an episode's parts are not all different. Take "
            f"the file from a copy of the run."
        )
        yield describe_damage(path, problem, lost=lost, concerned=astray)
    elif parts.unread and is_settled:
        spans = tuple(Span(*span) for span in parts.unread)
        surplus = Surplus(spans, must_stay=spans[0].start < parts.last)
        yield describe_damage(path, describe_surplus(path, surplus), lost="", concerned=[])
