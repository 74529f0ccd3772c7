"""Choose the policy and the step that fit each other best, and make the graph of them.

Knows nothing of files or processes: manifests come in, a document goes out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wayfare.cli.wiring import Wiring, wire
from wayfare.evals.errors import SetupError
from wayfare.evals.toolbox import Tool, tools_of
from wayfare.graph.document import FORMAT_VERSION, GraphDocument, NodesetSpec
from wayfare.graph.fault import suggest

Manifest = Mapping[str, Any]


class WiringError(SetupError):
    """The tools can't be wired into an agent; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A graph for an environment and a policy."""

    wiring: Wiring
    document: GraphDocument
    other_policies: Sequence[str]
    """Further tools of the policy's nodeset that fit as well."""


def make_agent(
    name: str,
    environment: Manifest,
    policy: Manifest,
    *,
    policy_tool: str | None = None,
    configs: Mapping[str, Mapping[str, Any]] | None = None,
) -> Agent:
    """Return the graph of the first policy tool that can be wired, or of `policy_tool`.

    Of the environment's steps it takes the one whose inputs the policy gives in the very type.
    Raises WiringError with what is missing where nothing fits.
    """
    metadata = environment["metadata"]
    if metadata is None:
        raise WiringError(f"--env {environment['name']!r} brings no episodes.")
    steps = [tool for tool in tools_of(environment) if tool.is_step]
    if not steps:
        raise WiringError(
            f"--env {environment['name']!r} has no tool to act by: its name begins with `step`, or "
            f"it has a BOOL output 'done'."
        )
    tools = list(dict.fromkeys([*tools_of(environment), *tools_of(policy)]))
    best = [
        _wire_best(tools, candidate, steps, metadata["metrics"])
        for candidate in _list_policies(policy, policy_tool, steps)
    ]
    complete = [wiring for wiring in best if not wiring.missing]
    if not complete:
        raise WiringError(_describe_failure(environment["name"], best))
    chosen = complete[0]
    return Agent(
        chosen,
        _make_document(name, chosen, configs or {}),
        [wiring.policy.node_type for wiring in complete[1:]],
    )


def _list_policies(manifest: Manifest, name: str | None, steps: Sequence[Tool]) -> list[Tool]:
    tools = [tool for tool in tools_of(manifest) if tool not in steps]
    if name is None:
        return [tool for tool in tools if tool.outputs and not tool.is_scorer]
    chosen = [tool for tool in tools if tool.name == name]
    if not chosen:
        rule = f"--policy: nodeset {manifest['name']!r} has no tool {name!r}."
        raise WiringError(f"{rule} {suggest(name, [tool.name for tool in tools])}")
    return chosen


def _wire_best(
    tools: Sequence[Tool], policy: Tool, steps: Sequence[Tool], metrics: Sequence[str]
) -> Wiring:
    wirings = [wire(tools, policy, step, metrics=metrics) for step in steps]
    return min(wirings, key=lambda wiring: (len(wiring.missing), wiring.widened))


def _make_document(
    name: str, wiring: Wiring, configs: Mapping[str, Mapping[str, Any]]
) -> GraphDocument:
    return GraphDocument(
        version=FORMAT_VERSION,
        name=name,
        environment=wiring.step.nodeset,
        nodesets={key: NodesetSpec(config=dict(config)) for key, config in configs.items()},
        nodes=list(wiring.nodes),
        edges=list(wiring.edges),
    )


def _describe_failure(environment: str, wirings: Sequence[Wiring]) -> str:
    if not wirings:
        return "--policy has no tool with outputs to act by."
    lines = [f"no agent for {environment!r} can be wired."]
    for wiring in wirings:
        lines.append(f"With {wiring.policy.node_type} and {wiring.step.node_type}:")
        lines += [f"  {reason}." for reason in wiring.missing]
    return "\n".join(lines)
