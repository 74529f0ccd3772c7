"""Open the store that the configuration names, when it is first asked for.

Knows nothing of calls.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Mapping

from nodeset import PortDef, Settings, UnavailableError

from .store import MATCHES, Store, Tolerance

MAX_DISTANCE_M = 1e9

DEFAULT_CONFIG: dict[str, Any] = {
    "store": "",
    "match": "exact",
    "max_distance_m": 0.25,
    "max_angle_deg": 15.0,
}


class Library:
    """One store, and which of its poses stand for others."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        settings = Settings(config, "env_pose_lookup")
        self._path = settings.path("store", may_be_empty=True)
        self._store: Store | None = None
        match = settings.choice("match", MATCHES)
        max_distance_m = settings.number("max_distance_m", 0.0, MAX_DISTANCE_M)
        max_angle_deg = settings.number("max_angle_deg", 0.0, 180.0)
        self.tolerance = Tolerance(match, max_distance_m, math.radians(max_angle_deg))

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
