"""Take the calls that a run recorded, as inputs for a check.

Knows nothing of how the run came about or of what is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nodeset.context import EpisodeContext
from wayfare.evals.check.material import ProbeCall, Script
from wayfare.evals.errors import SetupError
from wayfare.fleet.errors import WorkspaceError
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.document import GraphDocument, read_graph
from wayfare.graph.tooltype import nodesets_of
from wayfare.store.errors import NotRecordedError
from wayfare.store.recording_calls import RecordedCall
from wayfare.store.run import RunReader

MAX_EPISODES = 4
MAX_CALLS = 60
"""Calls of one episode that are taken."""


@dataclass(frozen=True, slots=True)
class RecordedScripts:
    """What a run recorded of one nodeset, and how it was configured there."""

    scripts: tuple[Script, ...]
    config: Mapping[str, Any]


def read_scripts(
    reader: RunReader,
    nodeset: str,
    registry: WorkspaceComponentRegistry,
    *,
    may_fail: bool,
) -> RecordedScripts:
    """Return the recorded episodes of a nodeset; a call that failed there `may_fail` again.

    Raises SetupError where the run does not use it or kept no calls.
    """
    document = read_graph(reader.header.graph, f"run {reader.header.run_id}")
    instance = find_instance(document, nodeset, registry)
    if instance is None:
        raise SetupError(
            f"run {reader.header.run_id} does not use nodeset {nodeset!r}; it uses: "
            f"{', '.join(nodesets_of(document))}."
        )
    scripts = []
    for record in reader.records()[:MAX_EPISODES]:
        try:
            calls = reader.calls(record.key)
        except NotRecordedError as error:
            raise SetupError(f"--from-run: {error}") from error
        episode = EpisodeContext(**calls.episode)
        own = [entry for entry in calls.entries if entry.nodeset == instance][:MAX_CALLS]
        loaded = (_make_call(calls.load(entry), episode, may_fail=may_fail) for entry in own)
        scripts.append(Script(episode, tuple(loaded)))
    return RecordedScripts(tuple(scripts), reader.header.nodesets[instance].config)


def _make_call(call: RecordedCall, episode: EpisodeContext, *, may_fail: bool) -> ProbeCall:
    return ProbeCall(
        tool=call.tool,
        inputs=call.inputs,
        episode=episode,
        config=call.config,
        path=call.path,
        step=call.step,
        turns=call.turns,
        seed=call.seed,
        is_legal=call.digest is not None or not may_fail,
    )


def find_instance(
    document: GraphDocument, nodeset: str, registry: WorkspaceComponentRegistry
) -> str | None:
    """Return the name under which a graph uses a nodeset."""
    for instance in nodesets_of(document):
        spec = document.nodesets.get(instance)
        try:
            entry = registry.find_nodeset((spec.use if spec else None) or instance)
        except WorkspaceError:
            continue
        if entry.name == nodeset:
            return instance
    return None
