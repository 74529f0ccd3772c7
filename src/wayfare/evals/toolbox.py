"""The tools of an environment and a policy as what can be wired: ports, and the part each plays.

Knows nothing of how they are wired.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodeset.ports import PortDef

END_PORTS = ("done", "stop", "terminated")
"""BOOL outputs that end the loop, the best first."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of one nodeset."""

    nodeset: str
    name: str
    inputs: Mapping[str, PortDef] = field(compare=False)
    outputs: Mapping[str, PortDef] = field(compare=False)
    is_stateful: bool = False
    """Whether its nodeset keeps state between calls, so that calling it twice is not the same."""

    @property
    def node_type(self) -> str:
        """Return the tool's full name."""
        return f"{self.nodeset}__{self.name}"

    @property
    def end_port(self) -> str | None:
        """Return the output that says that the episode is over."""
        ports = (name for name in END_PORTS if name in self.outputs)
        return next((name for name in ports if self.outputs[name].wire_type == "BOOL"), None)

    @property
    def is_reset(self) -> bool:
        """Return whether its name says that it begins an episode."""
        return self.name.startswith("reset")

    @property
    def is_step(self) -> bool:
        """Return whether it is what an agent acts by."""
        return self.name.startswith("step") or self.end_port is not None

    @property
    def is_scorer(self) -> bool:
        """Return whether it gives metrics."""
        return any(port.wire_type == "METRICS" for port in self.outputs.values())


def tools_of(manifest: Mapping[str, Any]) -> list[Tool]:
    """Return the tools in the order in which the nodeset declares them."""
    return [
        Tool(
            nodeset=manifest["name"],
            name=tool["name"],
            inputs=_ports(tool["inputs"]),
            outputs=_ports(tool["outputs"]),
            is_stateful=manifest["parallelism"] == "replicated",
        )
        for tool in manifest["tools"]
    ]


def scorer_of(tools: Iterable[Tool]) -> Tool | None:
    """Return the tool that scores an episode: the one called so, else the first with metrics."""
    scorers = [tool for tool in tools if tool.is_scorer and not (tool.is_step or tool.is_reset)]
    return next((tool for tool in scorers if tool.name.startswith("evaluate")), None) or next(
        iter(scorers), None
    )


def _ports(ports: Iterable[Mapping[str, Any]]) -> dict[str, PortDef]:
    return {port["name"]: PortDef(**port) for port in ports}
