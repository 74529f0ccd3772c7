"""Lay subgraphs open: the nodes of all graphs but those of maps in one, ids becoming paths."""

from collections import defaultdict

ENDS = {"graphIn": "<", "graphOut": ">"}


class Opened:
    """`nodes` by path, the ends of a graph by their ports; `into` is what leads to each node."""

    def __init__(self, graph, path):
        self.nodes, self.into, self.starts = {}, defaultdict(list), {}
        self.lay_open(graph, path)

    def lay_open(self, graph, path):
        """Add a graph, the ends of one in another by their ports; return what nothing feeds."""
        names, fed = {}, {edge["target"] for edge in graph["edges"]}
        for node in graph["nodes"]:
            config, end = dict(node["config"]), ENDS.get(node["type"])
            name = names[node["id"]] = path + (end + config["portName"] if end else node["id"])
            config |= {"loop": path + config["loop"]} if "loop" in config else {}
            if node["type"] == "subgraph":
                self.starts[name] = self.lay_open(config["graph"], name + "/")
            else:
                self.nodes[name] = {"type": node["type"], "config": config}
        for edge in graph["edges"]:
            source, give = names[edge["source"]], edge["sourceHandle"]
            target, take = names[edge["target"]], edge["targetHandle"]
            if source in self.starts:
                source, give = f"{source}/>{give}", "value"
            if target in self.starts and take != "after":
                target, take = f"{target}/<{take}", "value"
            for taker in self.starts.get(target, [target]):
                self.into[taker].append(((source, give), take))
        unfed = [name for id, name in names.items() if id not in fed]
        return [start for name in unfed for start in self.starts.get(name, [name])]
