"""Serve calls of the checked nodeset and note what every one of them leaves behind.

Knows nothing of which answers have to agree, but that of two copies under equal conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nodeset.errors import AuthorError, NodeSetError, PortError
from wayfare.evals.check import cause
from wayfare.evals.check.lens import CheckedTool
from wayfare.evals.check.material import ProbeCall
from wayfare.evals.check.outcome import Outcome
from wayfare.evals.check.subject import Change, State, Subject
from wayfare.evals.check.verdict import CounterExample, FaultyCodeError
from wayfare.evals.comparison_value import locate

MAX_STATE_PATHS = 5


@dataclass(slots=True)
class Residue:
    """What calls left behind besides their answers: the first of each kind per tool."""

    tools: Mapping[str, CheckedTool]
    inputs: dict[tuple[str, str], CounterExample] = field(default_factory=dict)
    random: dict[str, CounterExample] = field(default_factory=dict)
    ports: dict[str, CounterExample] = field(default_factory=dict)

    def note(
        self, calls: Sequence[ProbeCall], changes: Iterable[Change], random: Sequence[str]
    ) -> None:
        """Take down what one serving left."""
        text = tuple(str(call) for call in calls)
        tool = str(self.tools[calls[0].tool].fields["node_type"])
        for change in changes:
            spot = locate(change.before, change.after)
            known = self.inputs.get((change.tool, change.port))
            if known is not None and len(known.calls) <= len(calls):
                continue
            self.inputs[change.tool, change.port] = CounterExample(
                tool=change.tool,
                port=change.port,
                place=spot.place,
                a=spot.a,
                b=spot.b,
                note="before and after the call",
                calls=text,
                meaning=cause.INPUTS.meaning,
                cause=cause.INPUTS.cause,
            )
        if random:
            self.note_random(tool, random, text)

    def note_outcomes(self, calls: Sequence[ProbeCall], outcomes: Sequence[Outcome]) -> None:
        """Take down answers that are not what the tool's ports declare."""
        for call, outcome in zip(calls, outcomes, strict=True):
            tool = str(self.tools[call.tool].fields["node_type"])
            if outcome.error is not None and _is_broken_port(outcome.error):
                example = CounterExample(
                    tool=tool,
                    note=str(outcome.error),
                    calls=(str(call),),
                    meaning=cause.PORTS.meaning,
                    cause=cause.PORTS.cause,
                )
                self.ports.setdefault(tool, example)

    def note_random(self, tool: str, names: Sequence[str], calls: tuple[str, ...]) -> None:
        """Take down that global random states are other ones now."""
        self.random.setdefault(
            tool,
            CounterExample(
                tool=tool,
                note=f"changed: {', '.join(names)}",
                calls=calls,
                meaning=cause.RANDOM.meaning,
                cause=cause.RANDOM.cause,
            ),
        )


@dataclass(slots=True)
class Server:
    """Serves on one copy; all copies of a check share the residue."""

    subject: Subject
    residue: Residue

    async def alone(self, call: ProbeCall) -> Outcome:
        """Serve one call by itself."""
        return (await self.together([call]))[0]

    async def together(self, calls: Sequence[ProbeCall]) -> list[Outcome]:
        """Serve calls of one tool in one batch."""
        served = await self.subject.serve(calls)
        self.residue.note(calls, served.changes, served.random)
        self.residue.note_outcomes(calls, served.rows)
        return served.rows

    async def each(self, calls: Sequence[ProbeCall]) -> dict[ProbeCall, Outcome]:
        """Serve calls one after the other."""
        return {call: await self.alone(call) for call in calls}


def _is_broken_port(error: NodeSetError) -> bool:
    """Return whether the framework refused what a tool returned."""
    if isinstance(error, AuthorError):
        return not error.traceback_text  # a wrong number of results
    return isinstance(error, PortError) and " output" in str(error).partition(":")[0]


def refuse_fault(call: ProbeCall, outcome: Outcome) -> None:
    """Raise FaultyCodeError where author code raised on inputs that are meant for it."""
    error = outcome.error
    if call.is_legal and isinstance(error, AuthorError) and error.traceback_text:
        raise FaultyCodeError(f"{call}: {error}", error.traceback_text)


def find_state_changes(before: State, after: State) -> list[str]:
    """Return what the nodeset keeps and what changed in it, as `path: before -> after`."""
    found = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old is None or new is None or old[0] != new[0]:
            texts = [entry[1] if entry is not None else "nothing" for entry in (old, new)]
            found.append(f"{path}: {texts[0]} -> {texts[1]}")
    return found


def shorten_state(changes: Sequence[str]) -> tuple[str, ...]:
    """Return the first changes, and how many more there are."""
    more = len(changes) - MAX_STATE_PATHS
    return (*changes[:MAX_STATE_PATHS], *((f"and {more} more",) if more > 0 else ()))
