"""Choose which nodeset of a graph brings the episodes, and which split of it.

Knows nothing of copies: manifests are all it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wayfare.evals.errors import EnvironmentChoiceError, SelectionError
from wayfare.graph.document import GraphDocument

Manifests = Mapping[str, Mapping[str, Any]]


def choose_environment(document: GraphDocument, manifests: Manifests) -> str:
    """Return the nodeset that brings the episodes: the graph's `environment`, or the only one.

    Raises EnvironmentChoiceError where there is none, or several and no word which.
    """
    able = sorted(name for name, manifest in manifests.items() if manifest["metadata"])
    named = document.environment
    if named is not None:
        if named in able:
            return named
        raise EnvironmentChoiceError(
            f"the graph names environment={named!r}, which brings no episodes; of its nodesets "
            f"these do: {', '.join(able) or 'none'}."
        )
    if len(able) == 1:
        return able[0]
    if not able:
        there = ", ".join(sorted(manifests)) or "it has none"
        raise EnvironmentChoiceError(
            f"no nodeset of the graph brings episodes ({there}); one of them must define "
            f"get_eval_metadata() and get_episodes(split)."
        )
    raise EnvironmentChoiceError(
        f"several nodesets of the graph bring episodes ({', '.join(able)}); say which one is "
        f'meant: "environment": "{able[0]}" at the top of the graph.'
    )


def choose_split(wanted: str | None, environment: str, manifests: Manifests) -> str:
    """Return the wanted split, or the environment's default. Raises SelectionError."""
    metadata = manifests[environment]["metadata"]
    split: str = metadata["default_split"] if wanted is None else wanted
    if split not in metadata["splits"]:
        raise SelectionError(
            f"--split {split!r} is none of {environment!r}; it has: "
            f"{', '.join(metadata['splits'])}."
        )
    return split
