"""Random well-formed graphs, and a plain sequential interpreter of the graph language."""

from __future__ import annotations

from collections import defaultdict

import pytest

from nodeset.digest import hash64

OFF = object()
BUDGET = 3


def port(name, wire_type="ANY", optional=False):
    return {"name": name, "wire_type": wire_type, "optional": optional}


TOOLS = [
    {
        "name": name,
        "default_config": {},
        "inputs": [port("x", optional=not needs), port("z", optional=True)],
        "outputs": [port("y"), port("rare", optional=True), port("flag", "BOOL")],
    }
    for name, needs in (("f", False), ("g", True))
]
MANIFESTS = {name: {"name": name, "default_config": {}, "tools": TOOLS} for name in "ABS"}
ORDERED = frozenset("AB")


def answer(path, turns, inputs):
    """A tool that computes from its inputs alone; `rare` is off in two of three calls."""
    number = hash64(path, list(turns), inputs)
    outputs = {"y": number % 1000, "flag": number % 2 == 0}
    return outputs | ({"rare": number % 7} if number % 3 == 0 else {})


class Draw:
    """Draws one well-formed graph: nested loops, switches, merges, collects, `after`."""

    def __init__(self, rnd):
        self.rnd = rnd
        self.nodes = []
        self.edges = []
        self.loop_of_collect = {}

    def add(self, kind, **config):
        name = f"n{len(self.nodes)}"
        self.nodes.append({"id": name, "type": kind, "config": config})
        return name

    def wire(self, source, target, handle):
        keys = ("source", "sourceHandle", "target", "targetHandle")
        self.edges.append(dict(zip(keys, (*source, target, handle), strict=True)))

    def tool(self, own, outer, *, needs=False):
        name = self.add(f"{self.rnd.choice('ABS')}__{'g' if needs else self.rnd.choice('fg')}")
        if own:
            self.wire(self.rnd.choice(own), name, "x")
        elif self.nodes[-1]["type"].endswith("g"):
            self.nodes[-1]["type"] = self.nodes[-1]["type"][:-1] + "f"
        if (own or outer) and self.rnd.random() < 0.5:
            self.wire(self.rnd.choice(own + outer), name, "z")
        if own and self.rnd.random() < 0.3:
            self.wire(self.rnd.choice(own), name, "after")
        return [(name, "y"), (name, "rare"), (name, "flag")]

    def branch(self, own, outer):
        flags = [port for port in own if port[1] == "flag"]
        if not flags:
            return self.tool(own, outer)
        switch = self.add("switch")
        self.wire(self.rnd.choice(own), switch, "value")
        self.wire(self.rnd.choice(flags), switch, "condition")
        yes = self.tool([(switch, "true")], outer, needs=True)
        merge = self.add("merge", ports=["p", "q"])
        self.wire(yes[0], merge, "p")
        self.wire((switch, "false"), merge, "q")
        return [*yes, (merge, "value")]

    def loop(self, own, outer, depth):
        entry = self.add("iterIn", ports=["a", "b"])
        if own:
            self.wire(self.rnd.choice(own), entry, "init_a")
        inside = [(entry, "a"), (entry, "b"), (entry, "step")]
        inside += self.tool([(entry, "step")], own + outer, needs=True)
        steady = [port for port in inside if port[1] == "flag"]
        inside = self.body(inside, own + outer, depth + 1)
        end = self.add("iterOut", loop=entry, ports=["a"], max_turns=self.rnd.randint(1, 3))
        self.wire(self.rnd.choice(inside), end, "a")
        self.wire(steady[0], end, "stop")
        results = [(end, "final_a"), (end, "final_step"), (end, "truncated")]
        if self.rnd.random() < 0.5:
            collect = self.add("collect")
            self.loop_of_collect[collect] = entry
            self.wire(self.rnd.choice(inside), collect, "value")
            self.tool([(collect, "values")], [], needs=True)
        return results

    def body(self, own, outer, depth):
        for _ in range(self.rnd.randint(1, 4)):
            kind = self.rnd.random()
            if kind < 0.35 and depth < 2:
                own = own + self.loop(own, outer, depth)
            elif kind < 0.6:
                own = own + self.branch(own, outer)
            else:
                own = own + self.tool(own, outer)
        return own

    def graph(self):
        own = self.body([(self.add("const", value=4), "value")], [], 0)
        for index, source in enumerate(own):
            self.wire(source, self.add("graphOut", portName=f"m{index}"), "value")
        wired = {edge["source"] for edge in self.edges}
        for node in [n for n in self.nodes if n["type"] in ("const", "merge")]:
            if node["id"] not in wired:
                self.tool([(node["id"], "value")], [], needs=True)
        self.rnd.shuffle(self.nodes)
        return {"version": 1, "nodes": self.nodes, "edges": self.edges}


class Sequential:
    """The graph language, one node after another, straight from its description."""

    def __init__(self, data, loop_of_collect):
        self.loop_of_collect = loop_of_collect
        self.nodes = {node["id"]: node for node in data["nodes"]}
        self.place = {name: index for index, name in enumerate(self.nodes)}
        self.into = defaultdict(list)
        for edge in data["edges"]:
            source = (edge["source"], edge["sourceHandle"])
            self.into[edge["target"]].append((source, edge["targetHandle"]))
        self.ends = {n["config"]["loop"]: n for n in data["nodes"] if n["type"] == "iterOut"}
        self.members = {entry: self.reach(entry) for entry in self.ends}
        self.values = {}
        self.calls = []
        self.steps = 0

    def reach(self, entry):
        """All nodes to which a path leads from the iterIn, without leaving the loop."""
        found, grown = set(), True
        while grown:
            leaves = {entry} | {name for name in found if not self.is_way_out(name, entry)}
            new = {
                name
                for name, sources in self.into.items()
                if any(source in leaves for (source, _), _ in sources) and name != entry
            }
            grown = not new <= found
            found |= new
        return found

    def is_way_out(self, name, entry):
        node = self.nodes[name]
        if node["type"] == "iterOut":
            return node["config"]["loop"] == entry
        return self.loop_of_collect.get(name) == entry

    def home(self, name):
        around = [entry for entry in self.ends if name in self.members[entry]]
        return min(around, key=lambda entry: len(self.members[entry]), default=None)

    def run(self):
        self.scope(None, ())
        outs = [n for n in self.nodes.values() if n["type"] == "graphOut"]
        values = {n["config"]["portName"]: self.read(n["id"]).get("value", OFF) for n in outs}
        metrics = {name: value for name, value in values.items() if value is not OFF}
        return metrics, {name: "not produced" for name in values if name not in metrics}

    def scope(self, entry, turns):
        for name in self.order(entry):
            if name in self.ends:
                self.loop(name, turns)
            else:
                self.fire(name, turns)

    def order(self, entry):
        names = [n for n in self.nodes if self.home(n) == entry]
        names = [n for n in names if self.nodes[n]["type"] not in ("iterOut", "collect")]
        needs = {name: self.needs(name, names) for name in names}
        for name in names:
            if name in self.ends and entry is None:
                needs[name] |= {n for n in names if not self.into[n] and n not in self.ends}
        order = []
        while len(order) < len(names):
            left = (n for n in names if n not in order and needs[n] <= set(order))
            order.append(min(left, key=self.place.__getitem__))
        return order

    def needs(self, name, names):
        within = {name} | (self.members[name] if name in self.ends else set())
        sources = {source for n in within for (source, _), _ in self.into[n]} - within
        found = set()
        for other in names:
            ends = self.members[other] | {other} if other in self.ends else {other}
            if other != name and sources & ends:
                found.add(other)
        return found

    def read(self, name):
        values = {handle: self.values[source] for source, handle in self.into[name]}
        return {handle: value for handle, value in values.items() if value is not OFF}

    def fire(self, name, turns):
        node, inputs = self.nodes[name], self.read(name)
        inputs.pop("after", None)
        kind = node["type"]
        if kind == "const":
            outputs = {"value": node["config"]["value"]}
        elif kind == "switch":
            outputs = {"true": OFF, "false": OFF}
            if len(inputs) == 2:
                outputs["true" if inputs["condition"] else "false"] = inputs["value"]
        elif kind == "merge":
            assert len(inputs) < 2
            outputs = {"value": next(iter(inputs.values()), OFF)}
        elif kind == "graphOut":
            outputs = {}
        elif kind.endswith("g") and "x" not in inputs:
            outputs = dict.fromkeys(("y", "rare", "flag"), OFF)
        else:
            self.calls.append((kind[0], name, turns, inputs))
            outputs = {"rare": OFF} | answer(name, turns, inputs)
        self.values |= {(name, handle): value for handle, value in outputs.items()}

    def loop(self, entry, turns):
        end = self.ends[entry]
        bound = end["config"]["max_turns"]
        bound = min(bound, BUDGET) if not turns else bound
        first = self.read(entry)
        carried = {p: first.get(f"init_{p}", OFF) for p in ("a", "b")}
        collects = [n for n in self.nodes if self.nodes[n]["type"] == "collect"]
        lists = {name: [] for name in collects if self.home(name) == entry}
        for turn in range(bound):
            self.values |= {(entry, p): carried[p] for p in carried} | {(entry, "step"): turn}
            self.steps += not turns
            self.scope(entry, (*turns, turn))
            left = self.read(end["id"])
            carried["a"] = left.get("a", carried["a"])
            for name, items in lists.items():
                items.extend(self.read(name).values())
            if left["stop"]:
                break
        finals = {"final_a": carried["a"], "final_step": turn + 1, "truncated": not left["stop"]}
        self.values |= {(end["id"], handle): value for handle, value in finals.items()}
        self.values |= {(name, "values"): items for name, items in lists.items()}


class Language:
    """What the tests of equivalence need of this file."""

    manifests = MANIFESTS
    ordered = ORDERED
    budget = BUDGET
    draw = Draw
    sequential = Sequential
    answer = staticmethod(answer)


@pytest.fixture
def language() -> type[Language]:
    return Language
