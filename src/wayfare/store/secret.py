"""Keep secrets from the environment out of what is stored and shown.

Knows nothing of where texts come from or go to. A secret is the value of a variable whose name
says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from wayfare.store.records import ErrorRecord

SHORTEST = 6
"""Shorter values are left alone: they stand in any text by chance."""
_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_PLACE_NAME = re.compile(r"_(FILE|PATH|DIR|FOLDER|HOME|SOCK|URL|ENV)$", re.IGNORECASE)
"""Names that say where a secret is to be had."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets of an environment: each text that gives one away, and its variable's name.

    Longer ones come first: one may hold another.
    """

    texts: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Secrets:
        """Return the values of the variables whose names say that they are secret."""
        found = {
            text: name
            for name, value in sorted(environment.items())
            if is_secret_name(name)
            for text in _list_forms(value)
            if len(text) >= SHORTEST
        }
        return cls(tuple(sorted(found.items(), key=lambda pair: -len(pair[0]))))

    def mask(self, text: str) -> str:
        """Return the text with each secret as its variable's name in brackets."""
        for secret, name in self.texts:
            if secret in text:
                text = text.replace(secret, f"<{name}>")
        return text

    def mask_error(self, error: ErrorRecord) -> ErrorRecord:
        """Return the record of an error with all its texts masked."""
        texts = ("type", "message", "traceback", "call", "log_tail")
        masked: dict[str, Any] = {name: self.mask(getattr(error, name)) for name in texts}
        return replace(error, **masked)

    def find(self, value: Any, place: str = "") -> Iterator[tuple[str, str]]:
        """Yield the place of each text in passive data that holds a secret, and its variable."""
        if isinstance(value, Mapping):
            for key, item in value.items():
                yield from self.find(item, f"{place}.{key}" if place else str(key))
        elif isinstance(value, list | tuple):
            for index, item in enumerate(value):
                yield from self.find(item, f"{place}[{index}]")
        elif isinstance(value, str):
            yield from ((place, name) for secret, name in self.texts if secret in value)


def is_secret_name(name: str) -> bool:
    """Say whether a variable of that name holds a secret."""
    return _NAME.search(name) is not None and _PLACE_NAME.search(name) is None


def _list_forms(value: str) -> set[str]:
    """Return how a text may stand in another: as it is, in Python's quotes, in JSON's."""
    return {value.strip(), repr(value)[1:-1], json.dumps(value)[1:-1]}
