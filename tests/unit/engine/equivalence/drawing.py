"""Random well-formed graphs: nested loops, switches, subgraphs, maps, `after`, and how they mix."""

from __future__ import annotations

DEPTH = 3
SIZE = 50


class Draw:
    """Draws one graph, at the top or within another.

    `own` are ports of the scope that is being drawn, `outer` those of the scopes around it; what
    a port carries is known by its handle.
    """

    def __init__(self, rnd, around=None):
        self.rnd = rnd
        self.nodes = []
        self.edges = []
        self.names = around.names if around else []
        self.loop_of_collect = around.loop_of_collect if around else {}

    def _flip(self, chance):
        return self.rnd.random() < chance

    def _may_nest(self, depth):
        return depth < DEPTH and len(self.names) < SIZE

    def _add(self, kind, **config):
        name = f"n{len(self.names)}"
        self.names.append(name)
        self.nodes.append({"id": name, "type": kind, "config": config})
        return name

    def _wire(self, source, target, handle):
        keys = ("source", "sourceHandle", "target", "targetHandle")
        self.edges.append(dict(zip(keys, (*source, target, handle), strict=True)))

    def _tool(self, own, outer, *, needs=False):
        name = self._add(f"{self.rnd.choice('ABS')}__{'g' if needs or self._flip(0.5) else 'f'}")
        self._wire(self.rnd.choice(own), name, "x")
        if self._flip(0.5):
            lone = [(self._add(f"{self.rnd.choice('ABS')}__f"), "y")] if self._flip(0.1) else []
            self._wire(self.rnd.choice(lone or own + outer), name, "z")
        self._order(name, own)
        return [(name, "y"), (name, "rare"), (name, "flag"), (name, "some")]

    def _order(self, name, own):
        if self._flip(0.3):
            self._wire(self.rnd.choice(own), name, "after")

    def _branch(self, own, outer, depth):
        flags = [port for port in own if port[1].startswith("flag")]
        if not flags:
            return self._tool(own, outer)
        switch = self._add("switch")
        self._wire(self.rnd.choice(own), switch, "value")
        self._wire(self.rnd.choice(flags), switch, "condition")
        yes = [(switch, "true")]
        if self._may_nest(depth) and self._flip(0.4):
            yes = self._loop(yes, outer, depth)
        else:
            yes = self._tool(yes, outer, needs=True)
        merge = self._add("merge", ports=["p", "q"])
        self._wire(yes[0], merge, "p")
        self._wire((switch, "false"), merge, "q")
        return [*yes, (merge, "value")]

    def _loop(self, own, outer, depth):
        entry = self._add("iterIn", ports=["a", "b"])
        is_fed = self._flip(0.8) or len(own) == 1
        for port in ("a", "b")[: self.rnd.randint(1, 2)] if is_fed else ():
            self._wire(self.rnd.choice(own), entry, f"init_{port}")
        self._wire(self.rnd.choice(own), entry, "after")
        inside = [(entry, "a"), (entry, "b"), (entry, "step")]
        steady = self._tool([(entry, "step")], own + outer, needs=True)
        inside = self._body(inside + steady, own + outer, depth + 1)
        end = self._add("iterOut", loop=entry, ports=["a"], max_turns=self.rnd.randint(1, 3))
        self._wire(self.rnd.choice(inside), end, "a")
        self._wire(self._stop(entry, steady, own), end, "stop")
        results = [(end, "final_a"), (end, "final_step"), (end, "truncated")]
        if self._flip(0.5):
            collect = self._add("collect")
            self.loop_of_collect[collect] = entry
            self._wire(self.rnd.choice(inside), collect, "value")
            results.append((collect, "values"))
        return results

    def _stop(self, entry, steady, own):
        """Return a port that comes in every turn, unless what it needs from outside is off."""
        if self._flip(0.6):
            return steady[2]
        gate = self._add("S__g")
        self._wire(self.rnd.choice(own), gate, "x")
        self._wire((entry, "step"), gate, "z")
        return (gate, "flag")

    def _inner(self, own, outer, depth):
        """Draw a subgraph, or a map over a list."""
        part = Draw(self.rnd, self)
        lists = [port for port in own if port[1] == "some" or port[1].startswith(("values", "all"))]
        is_map = bool(lists) and self._flip(0.6)
        name = self._add("map" if is_map else "subgraph")
        config = self.nodes[-1]["config"]
        sources = {"item": self.rnd.choice(lists)} if is_map else {"in": self.rnd.choice(own)}
        sources |= {
            p: self.rnd.choice(own + outer * is_map) for p in ("in1", "in2") if self._flip(0.4)
        }
        ports = []
        for port, source in sources.items():
            is_optional = port != "item" and self._flip(0.5)
            ports.append((part._add("graphIn", portName=port, optional=is_optional), "value"))
            self._wire(source, name, "items" if port == "item" else port)
        self._order(name, own)
        made = part._body(ports, [], depth + 1)[len(ports) :]
        outs = [port for port in made if self._flip(0.6)] or made[:1]
        kinds = ["all" if is_map else _kind(port) for port in outs]
        results = [(name, f"{kind}{number}") for number, kind in enumerate(kinds)]
        for port, (_, handle) in zip(outs, results, strict=True):
            part._wire(port, part._add("graphOut", portName=handle), "value")
        config["graph"] = part._finished()
        return results

    def _body(self, own, outer, depth):
        for _ in range(self.rnd.randint(1, 4 - depth // 2)):
            kind = self.rnd.random()
            if kind < 0.25 and self._may_nest(depth):
                own = own + self._loop(own, outer, depth)
            elif kind < 0.5 and self._may_nest(depth):
                own = own + self._inner(own, outer, depth)
            elif kind < 0.7:
                own = own + self._branch(own, outer, depth)
            else:
                own = own + self._tool(own, outer)
        return own

    def graph(self):
        own = self._body([(self._add("const", value=4), "value")], [], 0)
        for index, source in enumerate(own):
            digest = self._add("S__g")
            self._wire(source, digest, "x")
            self._wire((digest, "y"), self._add("graphOut", portName=f"m{index}"), "value")
        return self._finished()

    def _finished(self):
        """Return the document, with no end left loose and its nodes in any order."""
        wired = {edge["source"] for edge in self.edges}
        for node in [n for n in self.nodes if n["type"] in ("const", "merge", "collect")]:
            if node["id"] not in wired:
                port = "values" if node["type"] == "collect" else "value"
                self._wire((node["id"], port), self._add("S__g"), "x")
        self.rnd.shuffle(self.nodes)
        return {"version": 1, "nodes": self.nodes, "edges": self.edges}


def _kind(port):
    return next((kind for kind in ("flag", "values", "all") if port[1].startswith(kind)), "out")
