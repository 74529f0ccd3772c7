"""Spread copies over the GPUs and processors of this machine, or say why it has too few.

Knows nothing of how copies are started or of what runs on a GPU.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from wayfare.fleet.errors import FleetSetupError
from wayfare.fleet.launcher import CopySpec

VISIBLE = "CUDA_VISIBLE_DEVICES"
_DRIVER = Path("/proc/driver/nvidia/gpus")
_ROUNDING = 1e-9


def list_gpus(environment: Mapping[str, str], driver: Path = _DRIVER) -> list[str]:
    """Return the GPUs as CUDA names them: those that it may see, else those of the driver."""
    visible = environment.get(VISIBLE)
    if visible is not None:
        return [name.strip() for name in visible.split(",") if name.strip()]
    return [str(index) for index, _ in enumerate(driver.iterdir())] if driver.is_dir() else []


class Gpus:
    """The shares of each GPU that copies have taken."""

    def __init__(self, names: Sequence[str]) -> None:
        self._free = dict.fromkeys(names, 1.0)
        self._taken: dict[int, list[tuple[str, float]]] = {}

    def take(self, number: int, spec: CopySpec) -> dict[str, str]:
        """Return the variables by which copy `number` sees its GPUs only; none if it asks for none.

        A part of a GPU comes from the one that has most left. Raises FleetSetupError if there is
        too little left.
        """
        wanted = spec.deployment.gpus
        if not wanted:
            return {}
        if wanted > 1 and wanted != int(wanted):
            raise FleetSetupError(
                f"nodeset {spec.instance!r} declares gpus={wanted!r}; above 1 it must be a whole "
                f"number."
            )
        share = min(wanted, 1.0)
        count = max(1, int(wanted))
        fitting = [name for name in self._by_room() if self._free[name] >= share - _ROUNDING]
        if len(fitting) < count:
            raise FleetSetupError(self._explain(spec))
        self._taken[number] = [(name, share) for name in fitting[:count]]
        for name, part in self._taken[number]:
            self._free[name] -= part
        return {VISIBLE: ",".join(fitting[:count])}

    def give_back(self, number: int) -> None:
        """Free what copy `number` took; nothing if it took none."""
        for name, part in self._taken.pop(number, []):
            self._free[name] += part

    def _by_room(self) -> Iterator[str]:
        return iter(sorted(self._free, key=lambda name: -self._free[name]))

    def _explain(self, spec: CopySpec) -> str:
        asks = f"copy {spec.tag!r} asks for gpus={spec.deployment.gpus!r}"
        if not self._free:
            return f"{asks}, but there is no GPU here ({VISIBLE} or the driver names none)."
        left = ", ".join(f"{max(0.0, free):g} of {name}" for name, free in self._free.items())
        return (
            f"{asks}, but the other copies leave only: {left}. Use fewer workers, or declare a "
            f"smaller part of a GPU."
        )


def check_cpus(spec: CopySpec, available: int | None = None) -> None:
    """Refuse a copy that asks for more processors than there are. Raises FleetSetupError.

    Copies share them otherwise: how many fit side by side is a matter of speed alone.
    """
    if available is None:
        available = len(os.sched_getaffinity(0))
    if spec.deployment.cpus > available:
        raise FleetSetupError(
            f"nodeset {spec.instance!r} declares cpus={spec.deployment.cpus!r} for one copy; this "
            f"process may use {available}."
        )
