"""Decide how many copies of a nodeset run and which one each worker calls.

Knows nothing of processes, sockets or graphs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeVar

Parallelism = Literal["replicated", "shared"]
OnDeath = Literal["end_attempt", "resend"]

_Target = TypeVar("_Target")
_NO_OVERRIDES: Mapping[str, str] = MappingProxyType({})


class UnresolvedNodeSetError(LookupError):
    """No copy stands behind a nodeset's name."""


@dataclass(frozen=True, slots=True)
class CopyPlace:
    """One copy to start: its tag and the workers that call it."""

    tag: str
    workers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Placement:
    """All that follows from a nodeset's parallelism and the number of workers."""

    nodeset: str
    parallelism: Parallelism
    copies: tuple[CopyPlace, ...]
    server_url_overrides: tuple[Mapping[str, str], ...]
    """Per worker: the nodeset's name -> the tag whose calls it takes; empty: ask the registry."""
    controller_overrides: tuple[Mapping[str, str], ...]
    """Per worker: the nodeset's name -> the tag whose controller it plays; empty likewise."""
    preflight: bool
    """Whether `begin_episode` and the controller are called before each attempt."""
    ordered: bool
    """Whether one worker's calls go out one at a time, in the order that the graph fixes."""
    coalesced: bool
    """Whether calls of several workers meet in one batch."""
    on_death: OnDeath
    default_threads: int | None
    """BLAS and OpenMP threads where the deployment names none; None: all cores."""

    @property
    def registry_tag(self) -> str | None:
        """Return the tag that calls without an override fall through to, if there is one."""
        return self.copies[0].tag if len(self.copies) == 1 else None


def place(name: str, parallelism: str, worker_count: int) -> Placement:
    """Return where the nodeset's copies stand for `worker_count` workers.

    Raises ValueError for a worker count below 1 or a parallelism that is not known.
    """
    if worker_count < 1:
        raise ValueError(f"worker_count is {worker_count!r}; it must be at least 1.")
    match parallelism:
        case "replicated":
            return _place_replicated(name, worker_count)
        case "shared":
            return _place_shared(name, worker_count)
        case _:
            raise ValueError(
                f"nodeset {name!r} has parallelism={parallelism!r}; it must be 'replicated' or "
                f"'shared'."
            )


def resolve(
    nodeset: str, overrides: Mapping[str, _Target], registry: Mapping[str, _Target]
) -> _Target:
    """Return what stands for the nodeset: the override, else the registry's entry."""
    if nodeset in overrides:
        return overrides[nodeset]
    if nodeset in registry:
        return registry[nodeset]
    raise UnresolvedNodeSetError(
        f"nodeset {nodeset!r} has neither an override ({sorted(overrides)}) nor a copy in the "
        f"registry ({sorted(registry)}); a graph may call only nodesets that were started for it."
    )


def _place_replicated(name: str, worker_count: int) -> Placement:
    copies: tuple[CopyPlace, ...] = (CopyPlace(name, (0,)),)
    overrides: tuple[Mapping[str, str], ...] = (_NO_OVERRIDES,)
    if worker_count > 1:
        copies = tuple(CopyPlace(f"{name}#{index}", (index,)) for index in range(worker_count))
        overrides = tuple(MappingProxyType({name: copy.tag}) for copy in copies)
    return Placement(
        nodeset=name,
        parallelism="replicated",
        copies=copies,
        server_url_overrides=overrides,
        controller_overrides=overrides,
        preflight=True,
        ordered=True,
        coalesced=False,
        on_death="end_attempt",
        default_threads=1,
    )


def _place_shared(name: str, worker_count: int) -> Placement:
    nothing = (_NO_OVERRIDES,) * worker_count
    return Placement(
        nodeset=name,
        parallelism="shared",
        copies=(CopyPlace(name, tuple(range(worker_count))),),
        server_url_overrides=nothing,
        controller_overrides=nothing,
        preflight=False,
        ordered=False,
        coalesced=True,
        on_death="resend",
        default_threads=None,
    )
