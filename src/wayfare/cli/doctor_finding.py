"""Say what was found out about one thing that runs depend on.

Knows nothing of how it was found out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["ok", "warning", "missing"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    `warning`: runs work, but slower or not all of them; `missing`: something that was asked for, or
    that every run needs, can't be had. `remedy` is a command where there is one.
    """

    area: str
    name: str
    state: State
    detail: str
    remedy: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints of it."""
        return asdict(self)
