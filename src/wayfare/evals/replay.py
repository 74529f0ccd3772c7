"""Send a recorded call to its node again and say whether it answers as it did.

Knows nothing of how calls are recorded or of where copies are started.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeset.context import EpisodeContext
from nodeset.errors import NodeSetError
from wayfare.evals.errors import RunFailedError, SetupError
from wayfare.fleet.fleet import Fleet
from wayfare.fleet.launcher import Launcher
from wayfare.fleet.member import Member
from wayfare.fleet.pool import EnvWorkerPool, WorkerHandle
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.calls import InfrastructureError, ToolCall
from wayfare.graph.document import GraphDocument, read_graph
from wayfare.graph.fault import suggest
from wayfare.graph.tooltype import nodesets_of
from wayfare.store.recording_calls import CallEntry, CallReader, RecordedCall
from wayfare.store.records import EpisodeKey
from wayfare.store.run import RunReader


class ReplayError(SetupError):
    """What is to be replayed is not among what was recorded."""


@dataclass(frozen=True, slots=True)
class ReplayedCall:
    """A recorded call and how it ended now; a digest of None: it failed."""

    call: RecordedCall
    outputs: Mapping[str, Any]
    digest: bytes | None
    error: str = ""

    @property
    def is_same(self) -> bool:
        """Return whether it ended as it did when it was recorded."""
        return self.digest == self.call.digest


@dataclass(frozen=True, slots=True)
class Replay:
    """The calls of one node in one step, sent again.

    `sent_before` counts the calls that had to be sent first, since their copy keeps state.
    `is_changed` says that the nodeset's files are not those that the run had.
    """

    key: EpisodeKey
    nodeset: str
    calls: Sequence[ReplayedCall]
    sent_before: int
    is_changed: bool

    @property
    def is_same(self) -> bool:
        """Return whether all of them ended as they did when they were recorded."""
        return all(call.is_same for call in self.calls)


async def replay(
    reader: RunReader,
    key: EpisodeKey,
    *,
    node: str,
    step: int,
    registry: WorkspaceComponentRegistry,
    launcher: Launcher,
) -> Replay:
    """Send what a node was given in a step of an episode to a fresh copy of its nodeset.

    A nodeset that keeps state begins the episode first and gets every earlier call of it. Raises
    NotRecordedError and ReplayError for what was not recorded, FleetSetupError for a copy that
    does not start, the author's error of `begin_episode`, and RunFailedError for a copy that dies.
    """
    recorded = reader.calls(key)
    wanted = _find(recorded, node, step)
    document = read_graph(reader.header.graph, f"run {reader.header.run_id}")
    member = _find_member(document, wanted[0].nodeset, registry)
    async with await Fleet.start([member], 1, launcher) as fleet:
        await fleet.initialize_all()
        environment = member.instance if _brings(member, document, key) else None
        before = _list_before(recorded, wanted[0], fleet)
        try:
            async with EnvWorkerPool(fleet, environment) as pool:
                worker = pool.workers[0]
                await worker.open_episode(EpisodeContext(**recorded.episode))
                for entry in before:
                    await _send(worker, recorded.load(entry))
                calls = await _replay_all(worker, [recorded.load(entry) for entry in wanted])
        except InfrastructureError as error:
            raise RunFailedError(f"the call got no answer: {error}") from error
        then = reader.header.nodesets[member.instance].source_hash
        is_changed = fleet.manifests[member.instance]["source_hash"] != then
    return Replay(key, member.instance, calls, len(before), is_changed)


def find_episode(reader: RunReader, text: str) -> EpisodeKey:
    """Return the key of the finished episode that a person names by index, id or key.

    Raises ReplayError where there is none, or more than one.
    """
    records = reader.records()
    for name in (lambda r: str(r.index), lambda r: r.episode_id, lambda r: r.key.text):
        found = [record.key for record in records if name(record) == text]
        if len(found) == 1:
            return found[0]
        if found:
            keys = ", ".join(key.text for key in found[:5])
            raise ReplayError(f"episode {text!r} is there {len(found)} times; name one: {keys}.")
    known = suggest(text, (record.key.text for record in records))
    raise ReplayError(f"run {reader.header.run_id} has no finished episode {text!r}. {known}")


def _find(recorded: CallReader, node: str, step: int) -> list[CallEntry]:
    """Return the node's calls in a step: one, or one per turn of the inner loops."""
    of_node = [entry for entry in recorded.entries if entry.path == node]
    if not of_node:
        known = suggest(node, (entry.path for entry in recorded.entries))
        raise ReplayError(f"node {node!r} was not called in this episode. {known}")
    wanted = [entry for entry in of_node if entry.step == step]
    if not wanted:
        last = max(entry.step for entry in of_node)
        raise ReplayError(
            f"node {node!r} was not called in step {step} of this episode, whose steps count "
            f"from 0; its last call was in step {last}."
        )
    return wanted


def _find_member(
    document: GraphDocument, instance: str, registry: WorkspaceComponentRegistry
) -> Member:
    others = set(nodesets_of(document)) - {instance}
    (member,) = registry.list_members(document, 1, {}, without=others)
    return member


def _brings(member: Member, document: GraphDocument, key: EpisodeKey) -> bool:
    """Return whether the nodeset is the one that the run's episodes came from."""
    if document.environment:
        return document.environment == member.instance
    return member.declaration.name == key.environment


def _list_before(recorded: CallReader, first: CallEntry, fleet: Fleet) -> list[CallEntry]:
    """Return the calls that make the copy what it was: all earlier ones, if it keeps state."""
    if not fleet.placements[first.nodeset].preflight:
        return []
    return [
        entry
        for entry in recorded.entries
        if entry.nodeset == first.nodeset and entry.number < first.number
    ]


async def _replay_all(worker: WorkerHandle, calls: Sequence[RecordedCall]) -> list[ReplayedCall]:
    answers = [await _send(worker, call) for call in calls]
    digests = {(path, turns): digest for path, turns, digest in await worker.close_episode()}
    return [
        ReplayedCall(call, {}, None, str(answer))
        if isinstance(answer, NodeSetError)
        else ReplayedCall(call, answer, digests[call.path, call.turns])
        for call, answer in zip(calls, answers, strict=True)
    ]


async def _send(worker: WorkerHandle, call: RecordedCall) -> Mapping[str, Any] | NodeSetError:
    """Return the outputs, or what the author's code raised, which may be what was recorded."""
    try:
        return await worker.invoke(
            ToolCall(
                path=call.path,
                nodeset=call.nodeset,
                tool=call.tool,
                config=call.config,
                inputs=dict(call.inputs),
                step=call.step,
                turns=call.turns,
                seed=call.seed,
            )
        )
    except NodeSetError as error:
        return error
