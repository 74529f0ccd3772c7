"""Read the numbers of a configuration: how many rows, how many steps.

Knows no JAX, and nothing of the environment that they are meant for.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import UnavailableError


def read_pad_batch(config: Mapping[str, Any]) -> int:
    """Return how many rows are always computed, 0 for as many as come. Raises UnavailableError."""
    remedy = "the number of rows always computed, the largest number of workers; 0 pads none"
    return _whole(config, "pad_batch", 0, remedy)


def read_max_steps(config: Mapping[str, Any]) -> int | None:
    """Return the limit of steps, none for the environment's own. Raises UnavailableError."""
    if config["max_steps"] is None:
        return None
    return _whole(config, "max_steps", 1, "null keeps the environment's own limit")


def _whole(config: Mapping[str, Any], key: str, least: int, remedy: str) -> int:
    value = config[key]
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UnavailableError(
            f"env_gymnax: configuration {key!r} is {value!r}; it must be a whole number >= "
            f"{least} ({remedy}): set --set nodesets.env_gymnax.{key}=NUMBER"
        )
    return value
