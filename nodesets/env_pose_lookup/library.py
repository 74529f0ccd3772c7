"""Open the store that the configuration names, when it is first asked for.

Knows nothing of calls.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Mapping

from nodeset import ContractError, PortDef, UnavailableError

from .store import MATCHES, Store, Tolerance

DEFAULT_CONFIG: dict[str, Any] = {
    "store": "",
    "match": "exact",
    "max_distance_m": 0.25,
    "max_angle_deg": 15.0,
}


class Library:
    """One store, and which of its poses stand for others."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._path = str(config["store"])
        self._store: Store | None = None
        self.tolerance = _read_tolerance(config)

    @property
    def is_named(self) -> bool:
        """Whether the configuration names a store."""
        return bool(self._path)

    @property
    def store(self) -> Store:
        """The store; raises UnavailableError where there is none."""
        if not self._path:
            raise UnavailableError(
                "env_pose_lookup has no store; --set env_pose_lookup.store=FOLDER names one that "
                "`wayfare bake` has written"
            )
        if self._store is None:
            self._store = Store(Path(self._path).expanduser())
        return self._store

    def output_ports(self) -> list[PortDef]:
        """Return the ports of what was rendered; without a store, what usually is."""
        if not self.is_named:
            usual = (("rgb", "IMAGE"), ("depth", "DEPTH"))
            return [
                PortDef(name, kind, "if the store has it", optional=True) for name, kind in usual
            ]
        return [PortDef(o.name, o.wire_type, o.description) for o in self.store.outputs]


def _read_tolerance(config: Mapping[str, Any]) -> Tolerance:
    if config["match"] not in MATCHES:
        raise _refusal("match", config["match"], f"one of {', '.join(MATCHES)}")
    for key, most in (("max_distance_m", math.inf), ("max_angle_deg", 180.0)):
        value = config[key]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0.0 <= value <= most:
            raise _refusal(key, value, f"a number from 0 to {most:g}")
    angle_rad = math.radians(config["max_angle_deg"])
    return Tolerance(config["match"], float(config["max_distance_m"]), angle_rad)


def _refusal(key: str, value: Any, rule: str) -> ContractError:
    return ContractError(f"env_pose_lookup: config {key} is {value!r}; it must be {rule}.")
