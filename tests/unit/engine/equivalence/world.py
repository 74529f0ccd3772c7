"""The tools of random graphs: two stateful nodesets and a pure one; all hash what they get."""

from __future__ import annotations

from nodeset.digest import hash64
from nodeset.errors import AuthorError

STATEFUL = frozenset("AB")
BUDGET = 3


def port(name, wire_type="ANY", optional=False):
    return {"name": name, "wire_type": wire_type, "optional": optional}


TOOLS = [
    {
        "name": name,
        "default_config": {},
        "inputs": [port("x", optional=not needs), port("z", optional=True)],
        "outputs": [
            port("y"),
            port("flag", "BOOL"),
            port("rare", optional=True),
            port("some", "LIST[INT]", optional=True),
        ],
    }
    for name, needs in (("f", False), ("g", True))
]
MANIFESTS = {name: {"name": name, "default_config": {}, "tools": TOOLS} for name in "ABS"}


class Copies:
    """What one worker calls: copies of A and B with a state of their own, and S, which has none."""

    def __init__(self, fails_at=0):
        self.fails_at = fails_at
        self.begin_episode()

    def begin_episode(self):
        self.states = dict.fromkeys(STATEFUL, 0)
        self.calls = []

    def answer(self, call):
        """Compute from the call, and in A and B from all calls of the episode before it."""
        asked = [call.path, list(call.turns), call.step, call.seed, call.inputs]
        self.calls.append((call.nodeset, *asked))
        if self.fails_at and hash64(*asked) % self.fails_at == 0:
            raise AuthorError(f"{call.path} broke in {call.turns}")
        number = hash64(self.states.get(call.nodeset, 0), *asked)
        if call.nodeset in STATEFUL:
            self.states[call.nodeset] = number
        outputs: dict[str, object] = {"y": number % 1000, "flag": number % 2 == 0}
        if number % 3 == 0:
            outputs["rare"] = number % 7
        if number % 5:
            outputs["some"] = list(range(number % 4))
        return outputs
