"""Read what each record of a run says that it is a record of, whatever the run's list says.

Knows nothing of lists: what is not on the list is told too, which `wayfare.store.truth` refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgpack

from wayfare.store.errors import CorruptFileError
from wayfare.store.frames import read_frames
from wayfare.store.records import OUTCOMES, EpisodeKey, Outcome
from wayfare.store.truth import EPISODES_FILE


@dataclass(frozen=True, slots=True)
class Claim:
    """A record's place in the run's list, its key, how its episode ended and its digest (hex).

    `attempts` counts all tries at the episode until then.
    """

    position: int
    key: EpisodeKey
    outcome: Outcome
    digest: str
    attempts: int


def read_claims(folder: Path) -> Iterator[Claim]:
    """Yield what was committed, in that order; an episode tried again comes again.

    Raises CorruptFileError and FormatVersionError as `read_frames` does.
    """
    path = folder / EPISODES_FILE
    for offset, payload in read_frames(path):
        try:
            position, _, packed = msgpack.unpackb(payload)
            fields = msgpack.unpackb(packed)
            outcome = OUTCOMES[OUTCOMES.index(fields["outcome"])]
            key, attempts = EpisodeKey(**fields["key"]), len(fields["attempts"])
            claim = Claim(position, key, outcome, fields["digest"], attempts)
        except (ValueError, TypeError, LookupError) as error:
            raise CorruptFileError(f"{path}: byte {offset}: no episode record: {error}") from error
        yield claim
