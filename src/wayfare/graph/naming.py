"""Give nodes that nobody names an id: what they are, in one word, with a number where it is taken.

Knows nothing of the nodes around them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any

from wayfare.graph.builtin import FORBIDDEN_IN_NAMES
from wayfare.graph.tooltype import split_type


def default_id(node_type: str, config: Mapping[str, Any]) -> str:
    """Return the id that a node has if it is the only one of its kind."""
    match node_type:
        case "graphIn" | "graphOut":
            name = config.get("portName")
        case "iterIn":
            name = "loop"
        case "iterOut":
            name = f"{config.get('loop')}_end"
        case "subgraph" | "map":
            graph = config.get("graph")
            name = graph.get("name") if isinstance(graph, Mapping) else graph
        case _:
            parts = split_type(node_type)
            name = parts[1] if parts else node_type
    marks = "".join(map(re.escape, FORBIDDEN_IN_NAMES))
    return re.sub(f"[{marks}]", "_", str(name or node_type))


def free_id(wanted: str, taken: Container[str]) -> str:
    """Return the wanted id, or the first of it with `_2`, `_3`, … that is not taken."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name
