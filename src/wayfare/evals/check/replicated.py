"""Check that a replicated nodeset begins its episodes: alone, after others, on fresh copies.

Knows nothing of batches. A copy plays whole episodes, call by call, as a run does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from nodeset.digest import hash64
from wayfare.evals.check import cause
from wayfare.evals.check.cause import Explanation
from wayfare.evals.check.lens import CheckedTool
from wayfare.evals.check.material import ProbeCall, Script
from wayfare.evals.check.outcome import Difference, Outcome
from wayfare.evals.check.serving import Residue, Server, refuse_fault
from wayfare.evals.check.subject import BASE, CLOCK_SHIFT_SECONDS, Conditions, Laboratory
from wayfare.evals.check.verdict import CounterExample
from wayfare.fleet.together import together

HASH_SEEDS = (1, 2, 3, 4)
MAX_SHRINKING_COPIES = 8
BEGIN = "begin_episode"


@dataclass(frozen=True, slots=True)
class Course:
    """How one episode went: each call's outcome."""

    script: Script
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Parting:
    """The first call of two courses of one episode whose outcomes differ."""

    call: ProbeCall
    position: int
    difference: Difference


@dataclass(slots=True)
class EpisodeCheck:
    """The episodes of one replicated nodeset, how each goes on a fresh copy, and what was found."""

    laboratory: Laboratory
    tools: Mapping[str, CheckedTool]
    scripts: Sequence[Script]
    residue: Residue
    found: dict[str, CounterExample] = field(default_factory=dict)
    """By the name of the property."""
    differs_by_seed: bool = False

    async def run(self) -> None:
        """Check all; what each episode does alone on a fresh copy is what is due."""
        scripts = list(self.scripts)
        first, *others = scripts
        forwards, *rest = await together(
            [
                self._play_all(BASE, [*scripts, first]),
                self._play_all(BASE, scripts[::-1]),
                *(self._play_all(BASE, [script]) for script in others[:-1]),
            ]
        )
        backwards = rest[0]
        alone = {first: forwards[0], scripts[-1]: backwards[0]}
        alone |= {script: courses[0] for script, courses in zip(others, rest[1:], strict=False)}
        await self._check_after_others(scripts, alone, forwards, backwards)
        if not self.found:
            await self._check_conditions(scripts, alone)
            await self._check_isolation(scripts, alone)
            await self._check_seed(first, alone[first])

    async def _check_after_others(
        self,
        scripts: Sequence[Script],
        alone: Mapping[Script, Course],
        forwards: Sequence[Course],
        backwards: Sequence[Course],
    ) -> None:
        """Hold the episodes that came later on a copy against those on a fresh one."""
        again = forwards[-1]
        if (parting := self.compare(alone[scripts[0]], again)) is not None:
            await self._note_reset([*scripts, scripts[0]], alone[scripts[0]], parting)
            return
        for courses in (forwards[:-1], backwards):
            for position, course in enumerate(courses):
                parting = self.compare(alone[course.script], course)
                if parting is not None:
                    before = [earlier.script for earlier in courses[: position + 1]]
                    await self._note_reset(before, alone[course.script], parting)
                    return

    async def _note_reset(self, played: Sequence[Script], due: Course, parting: Parting) -> None:
        """Note that what came before an episode changes it, with as little before as possible."""
        target = Script(due.script.episode, due.script.calls[: parting.position + 1])
        explanation, name = cause.RESET, "reset"
        self.found[name] = self._exemplify(parting, explanation, _describe(played[:-1]))
        for before in self._list_shorter(played[:-1]):
            courses = await self._play_all(BASE, [*before, target])
            shorter = self.compare(due, courses[-1])
            if shorter is None:
                continue
            if not before:
                where = "twice, each time on a fresh copy with the same hash seed"
                self.found = {"seed": self._exemplify(shorter, cause.SEED, [where])}
            else:
                self.found[name] = self._exemplify(shorter, explanation, _describe(before))
            return

    def _list_shorter(self, played: Sequence[Script]) -> Iterator[list[Script]]:
        """Yield what may be enough to show it: one episode begun, played in part, played."""
        yield []  # a fresh copy disagrees with itself
        count = 0
        for length in (0, 1, None):
            for script in dict.fromkeys(played[::-1]):
                count += 1
                if count > MAX_SHRINKING_COPIES:
                    return
                yield [Script(script.episode, script.calls[:length])]

    async def _check_conditions(
        self, scripts: Sequence[Script], alone: Mapping[Script, Course]
    ) -> None:
        """Play on fresh copies with other hash seeds and at another time of day."""
        conditions = [
            Conditions(1, CLOCK_SHIFT_SECONDS),
            *(Conditions(seed) for seed in HASH_SEEDS[1:]),
        ]
        played = await together(self._play_all(under, scripts) for under in conditions)
        for under, courses in zip(conditions, played, strict=True):
            is_clock = under.clock_shift_seconds > 0
            name, explanation = ("clock", cause.CLOCK) if is_clock else ("process", cause.PROCESS)
            where = (
                "at another time of day"
                if is_clock
                else f"in a fresh process with PYTHONHASHSEED={under.hash_seed}"
            )
            for course in courses:
                parting = self.compare(alone[course.script], course)
                if parting is not None and name not in self.found:
                    self.found[name] = self._exemplify(parting, explanation, [where])

    async def _check_isolation(
        self, scripts: Sequence[Script], alone: Mapping[Script, Course]
    ) -> None:
        """Play two episodes on two copies at the same time, calls taking turns."""
        pair = (scripts[0], scripts[-1])
        async with AsyncExitStack() as stack:
            subjects = await together(
                stack.enter_async_context(self.laboratory.open()) for _ in pair
            )
            players = [
                _Player(Server(subject, self.residue), script)
                for subject, script in zip(subjects, pair, strict=True)
            ]
            while any(not player.is_over for player in players):
                for player in players:
                    await player.step()
        for player in players:
            parting = self.compare(alone[player.script], player.course)
            if parting is not None:
                where = "while another copy plays another episode, calls taking turns"
                self.found["isolation"] = self._exemplify(parting, cause.ISOLATION, [where])
                return

    async def _check_seed(self, script: Script, due: Course) -> None:
        """Play an episode with another seed twice; both must agree."""
        other = _reseed(script)
        one, two = await together(self._play_all(BASE, [other]) for _ in range(2))
        parting = self.compare(one[0], two[0])
        if parting is not None:
            where = "twice with the same seed, each time on a fresh copy"
            self.found["seed"] = self._exemplify(parting, cause.SEED, [where])
        self.differs_by_seed = self.compare(due, Course(script, one[0].outcomes)) is not None

    async def _play_all(self, conditions: Conditions, scripts: Sequence[Script]) -> list[Course]:
        """Play episodes one after the other on one fresh copy."""
        async with self.laboratory.open(conditions) as subject:
            courses = []
            for script in scripts:
                player = _Player(Server(subject, self.residue), script)
                while not player.is_over:
                    await player.step()
                courses.append(player.course)
            return courses

    def compare(self, due: Course, course: Course) -> Parting | None:
        """Return the first call whose outcomes differ, of as many as both have."""
        pairs = zip(course.script.calls, due.outcomes, course.outcomes, strict=False)
        for position, (call, one, other) in enumerate(pairs):
            difference = self.tools[call.tool].compare(one, other)
            if difference is not None:
                return Parting(call, position, difference)
        return None

    def _exemplify(
        self, parting: Parting, explanation: Explanation, before: Sequence[str]
    ) -> CounterExample:
        episode = parting.call.episode.id
        return self.tools[parting.call.tool].exemplify(
            parting.difference,
            meaning=explanation.meaning,
            cause=explanation.cause,
            calls=(
                *before,
                f"begin_episode({episode!r})",
                *((f"{parting.position} calls",) if parting.position else ()),
                str(parting.call),
            ),
        )


class _Player:
    """One episode on one copy, call by call."""

    def __init__(self, server: Server, script: Script) -> None:
        self.script = script
        self._server = server
        self._outcomes: list[Outcome] = []
        self._is_begun = False

    @property
    def is_over(self) -> bool:
        """Return whether all calls are made."""
        return self._is_begun and len(self._outcomes) == len(self.script.calls)

    @property
    def course(self) -> Course:
        """Return how it went so far."""
        return Course(self.script, tuple(self._outcomes))

    async def step(self) -> None:
        """Begin the episode, or make the next call; nothing when it is over."""
        if not self._is_begun:
            await self._begin()
        elif not self.is_over:
            call = self.script.calls[len(self._outcomes)]
            outcome = await self._server.alone(call)
            refuse_fault(call, outcome)
            self._outcomes.append(outcome)

    async def _begin(self) -> None:
        subject = self._server.subject
        _, before = await subject.look()
        await subject.begin(self.script.episode)
        _, after = await subject.look()
        changed = sorted(name for name in after if after[name] != before.get(name))
        if changed:
            episode = self.script.episode.id
            self._server.residue.note_random(BEGIN, changed, (f"begin_episode({episode!r})",))
        self._is_begun = True


def _reseed(script: Script) -> Script:
    """Return the script as a run with another seed would have it."""
    episode = replace(script.episode, seed=hash64(script.episode.seed, "another"))
    calls = (
        replace(
            call, episode=episode, is_legal=False, seed=hash64(episode.seed, call.path, call.turns)
        )
        for call in script.calls
    )
    return Script(episode, tuple(calls))


def _describe(scripts: Sequence[Script]) -> list[str]:
    return [
        f"begin_episode({script.episode.id!r})"
        + (f" and {len(script.calls)} calls" if script.calls else "")
        for script in scripts
    ]
