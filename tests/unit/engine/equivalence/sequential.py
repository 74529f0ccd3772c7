"""A plain interpreter of the graph language: one node after another, one item after another."""

from collections import defaultdict

from tests.unit.engine.equivalence.opening import Opened

from nodeset.digest import hash64
from wayfare.graph.calls import ToolCall

OFF = object()


class Sequential:
    """One run of a graph; `world` has `answer(call)`, `seed`, `budget` and each collect's loop."""

    def __init__(self, graph, world, path="", turns=(), step=None):
        self.world, self.path, self.turns, self.step = world, path, turns, step
        opened = Opened(graph, path)
        self.nodes, self.into, self.values = opened.nodes, opened.into, {}
        self.steps, self.truncated = 0, False
        self.ends = {n["config"].get("loop"): name for name, n in self.nodes.items()}
        self.ends.pop(None, None)
        self.members = {entry: self._reach(entry) for entry in self.ends}
        self.homes = {name: self._home(name) for name in self.nodes}
        self.orders = {entry: self._order(entry) for entry in (None, *self.ends)}

    def _reach(self, entry):
        """Return all nodes to which a path leads from the iterIn, without leaving the loop."""
        found, grown = set(), True
        while grown:
            leaves = {entry} | {name for name in found if not self._is_way_out(name, entry)}
            new = {n for n, edges in self.into.items() if any(s[0] in leaves for s, _ in edges)}
            grown = not new <= found
            found |= new
        return found

    def _is_way_out(self, name, entry):
        loop = self.world.loop_of_collect.get(name.split("/")[-1])
        return name == self.ends[entry] or loop == entry.split("/")[-1]

    def _home(self, name):
        around = [entry for entry in self.ends if name in self.members[entry]]
        return min(around, key=lambda entry: len(self.members[entry]), default=None)

    def run(self, given):
        self.values = {f"{self.path}<{port}": {"given": given[port]} for port in given}
        self._scope(None, self.turns)
        ends = [name for name in self.nodes if name[: len(self.path) + 1] == self.path + ">"]
        return {name[len(self.path) + 1 :]: self._read(name).get("value", OFF) for name in ends}

    def _scope(self, entry, turns):
        for name in self.orders[entry]:
            self._loop(name, turns) if name in self.ends else self._fire(name, turns)

    def _order(self, entry):
        """Return a scope's nodes topologically, ties by position; a loop counts as one node."""
        names = [n for n in self.nodes if self.homes[n] == entry]
        names = [n for n in names if self.nodes[n]["type"] not in ("iterOut", "collect")]
        needs = {name: self._needs(name, names) for name in names}
        for name in self.ends.keys() & names if entry is None else ():
            needs[name] |= {n for n in names if not self.into[n] and n not in self.ends}
        order = []
        while len(order) < len(names):
            order.append(next(n for n in names if n not in order and needs[n] <= set(order)))
        return order

    def _needs(self, name, names):
        within = {name} | self.members.get(name, set())
        sources = {source for n in within for (source, _), _ in self.into[n]} - within
        return {n for n in names if n != name and sources & ({n} | self.members.get(n, set()))}

    def _inputs(self, name):
        return {handle: source for source, handle in self.into[name] if handle != "after"}

    def _value(self, source):
        return self.values.get(source[0], {}).get(source[1], OFF)

    def _read(self, name):
        values = {handle: self._value(source) for handle, source in self._inputs(name).items()}
        return {handle: value for handle, value in values.items() if value is not OFF}

    def _required(self, name):
        kind, config = self.nodes[name]["type"], self.nodes[name]["config"]
        if kind == "map":
            ins = [n["config"] for n in config["graph"]["nodes"] if n["type"] == "graphIn"]
            return {"items"} | {c["portName"] for c in ins if not c["optional"]} - {"item"}
        return {"value", "condition"} if kind == "switch" else {"x"} & {"x" * kind.endswith("g")}

    def _fire(self, name, turns):
        node, inputs, outputs = self.nodes[name], self._read(name), {}
        step = self.step if self.step is not None else (*turns, 0)[0]
        if node["type"] == "const":
            outputs = {"value": node["config"]["value"]}
        elif node["type"] in ("merge", "graphIn", "graphOut"):
            given = self.values.get(name, {}).get("given", OFF)
            outputs = {"value": next(iter(inputs.values()), given)}
        elif not self._required(name) <= inputs.keys():
            pass
        elif node["type"] == "switch":
            outputs = {str(inputs["condition"]).lower(): inputs["value"]}
        elif node["type"] == "map":
            outputs = self._map(name, inputs, turns, step)
        else:
            nodeset, tool = node["type"].split("__")
            seed = hash64(self.world.seed, name, turns)
            call = ToolCall(name, nodeset, tool, node["config"], inputs, step, turns, seed)
            outputs = self.world.answer(call)
        self.values[name] = outputs

    def _map(self, name, inputs, turns, step):
        graph, results = self.nodes[name]["config"]["graph"], defaultdict(list)
        for number, item in enumerate(inputs.pop("items")):
            inner = Sequential(graph, self.world, name + "/", (*turns, number), step)
            for port, value in inner.run(inputs | {"item": item}).items():
                results[port].extend([] if value is OFF else [value])
        outs = [n["config"]["portName"] for n in graph["nodes"] if n["type"] == "graphOut"]
        return {port: results[port] for port in outs}

    def _is_off(self, entry, lost):
        """Say whether nothing comes to a loop's start, or to its stop in the first turn."""
        first = self._inputs(entry)
        if first and lost.issuperset(first.values()):
            return True
        lost = lost | {(entry, handle[5:]) for handle, s in first.items() if s in lost}
        for name in self.orders[entry]:
            inputs = self._inputs(name)
            dead = {handle for handle, s in inputs.items() if s in lost or s[0] in lost}
            if name in self.ends:
                is_lost = self._is_off(name, lost)
            elif self.nodes[name]["type"] in ("merge", "graphIn", "graphOut"):
                is_lost = dead and dead == inputs.keys()
            else:
                is_lost = dead & self._required(name)
            lost |= {self.ends.get(name, name), *self._collects(name)} if is_lost else set()
        stop = self._inputs(self.ends[entry])["stop"]
        return stop in lost or stop[0] in lost

    def _collects(self, entry):
        loops = self.world.loop_of_collect
        return [n for n in self.nodes if n.split("/")[-1] in loops and self.homes[n] == entry]

    def _loop(self, entry, turns):
        end, lists = self.ends[entry], {name: [] for name in self._collects(entry)}
        within = self.members[entry] | {entry}
        sources = {s for n in within for s, _ in self.into[n] if s[0] not in within}
        if self._is_off(entry, {s for s in sources if self._value(s) is OFF}):
            self.values |= {name: {} for name in (end, *lists)}
            return
        is_outermost, bound = not self.path and not turns, self.nodes[end]["config"]["max_turns"]
        ports, first = self.nodes[entry]["config"]["ports"], self._read(entry)
        carried = {port: first.get(f"init_{port}", OFF) for port in ports}
        for turn in range(min(bound, self.world.budget) if is_outermost else bound):
            self.values[entry] = carried | {"step": turn}
            self.steps += is_outermost
            self._scope(entry, (*turns, turn))
            left = self._read(end)
            carried |= {port: left[port] for port in ports if port in left}
            for name, items in lists.items():
                items.extend(self._read(name).values())
            if left["stop"]:
                break
        self.truncated |= is_outermost and not left["stop"]
        finals = {f"final_{port}": value for port, value in carried.items()}
        self.values[end] = finals | {"final_step": turn + 1, "truncated": not left["stop"]}
        self.values |= {name: {"values": items} for name, items in lists.items()}
