"""Build graph documents in Python.

Knows nothing of workspaces or of how graphs run; tools are known by their manifests only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import JsonValue

from wayfare.graph.block import Loop
from wayfare.graph.builtin import AFTER
from wayfare.graph.codegen import to_code
from wayfare.graph.document import (
    FORMAT_VERSION,
    GraphDocument,
    NodesetSpec,
    load_graph,
)
from wayfare.graph.draft import Draft
from wayfare.graph.fault import Fault, GraphError, suggest
from wayfare.graph.handle import Node, is_wiring
from wayfare.graph.inference import INIT
from wayfare.graph.palette import Palette
from wayfare.graph.precheck import Precheck
from wayfare.graph.sketch import Manifest, draw
from wayfare.graph.validate import validate, validate_structure
from wayfare.graph.writing import save_graph


class Graph(Palette):
    """An agent that is being built; `document` is what it has become.

    With `manifests` (by the nodeset's name) ports and types of tools are checked as they are
    wired and handles complete; without, `validate` or the run finds what is wrong. What stands in
    `name`, `description`, `layout` and `editor_schema` means nothing to a run.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        description: str | None = None,
        environment: str | None = None,
        step_budget: int | None = None,
        manifests: Mapping[str, Manifest] | None = None,
    ) -> None:
        super().__init__(Draft(Precheck(manifests)))
        self.name = name
        self.description = description
        self.environment = environment
        self.step_budget = step_budget
        self.layout: JsonValue = None
        self.editor_schema: str | None = None
        self._nodesets: dict[str, NodesetSpec] = {}

    def nodeset(
        self, name: str, *, use: str | None = None, config: Mapping[str, Any] | None = None
    ) -> None:
        """Configure a nodeset; with `use`, a class's name, it is a further instance of that one."""
        spec = NodesetSpec.model_validate({"use": use, "config": dict(config or {})})
        manifests = self._draft.precheck.manifests
        if use is not None and manifests is not None and name not in manifests:
            known = {manifest["class_name"]: manifest for manifest in manifests.values()}
            if use not in known:
                rule = f"no nodeset has a class {use!r}"
                raise GraphError([Fault("nodeset", f"nodesets.{name}", rule, suggest(use, known))])
            manifests[name] = known[use]
        self._nodesets[name] = spec

    def add(
        self,
        node_type: str,
        /,
        id: str | None = None,
        *,
        config: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        **ports_and_config: Any,
    ) -> Node:
        """Add a node: a tool as `<nodeset>__<tool>`, or any built-in by its type.

        A keyword whose value is an output wires the input of that name; any other sets the
        configuration. `inputs` and `config` say which is meant where a name could be both or can't
        be a keyword; a plain value in `inputs` becomes a const.
        """
        wired = {key: value for key, value in ports_and_config.items() if is_wiring(value)}
        plain = {key: value for key, value in ports_and_config.items() if key not in wired}
        self._refuse_ambiguous(node_type, ports_and_config)
        return self._add(node_type, id, {**(config or {}), **plain}, {**(inputs or {}), **wired})

    def loop(
        self,
        /,
        id: str | None = None,
        *,
        end: str | None = None,
        ports: Iterable[str] = (),
        max_turns: int | None = None,
        initial: Mapping[str, Any] | None = None,
        after: Any = None,
        **more: Any,
    ) -> Loop:
        """Begin a loop that carries ports, for a `with` statement that ends it.

        Keywords are carried ports with what they begin with (`initial` is for names that can't
        be keywords). `ports` names those that begin with nothing, and may name all to order them.
        `id` and `end` are the ids of the iterIn and the iterOut.
        """
        begins_with = {**(initial or {}), **more}
        names = list(dict.fromkeys([*ports, *begins_with]))
        wired = {INIT + name: value for name, value in begins_with.items()}
        if after is not None:
            wired[AFTER.name] = after
        draft = self._draft
        with draft.all_or_nothing():
            begin = self._add("iterIn", id, {"ports": names}, wired)._id
            config: dict[str, Any] = {"loop": begin, "ports": names}
            if max_turns is not None:
                config["max_turns"] = max_turns
            last = draft.add("iterOut", end, config, placed=False)
            return Loop(draft, begin, last, ports=tuple(names))

    def sort_edges(self, order: Iterable[int]) -> None:
        """Put the edges in another order, by their positions; it means nothing to a run."""
        order, edges = list(order), self._draft.edges
        if sorted(order) != list(range(len(edges))):
            raise ValueError(f"the order {order!r} must name each of {len(edges)} edges once.")
        self._draft.edges = [edges[position] for position in order]

    @property
    def document(self) -> GraphDocument:
        """Return the document as it stands. Raises GraphError while a loop is open."""
        return GraphDocument(
            version=FORMAT_VERSION,
            name=self.name,
            description=self.description,
            environment=self.environment,
            step_budget=self.step_budget,
            nodesets=self._nodesets,
            nodes=self._draft.nodes,
            edges=self._draft.edges,
            layout=self.layout,
            editor_schema=self.editor_schema,
        )

    def validate(self, manifests: Mapping[str, Manifest] | None = None) -> None:
        """Raise GraphError with everything that is wrong with the whole graph.

        `manifests` go over those that the graph was made with; without any, tools' ports and
        configuration are not checked.
        """
        known = self._draft.precheck.manifests if manifests is None else manifests
        document = self.document
        faults = validate_structure(document) if known is None else validate(document, known)
        if faults:
            raise GraphError(faults)

    def to_code(self) -> str:
        """Return the Python script that builds this graph; see `codegen.to_code`."""
        return to_code(self.document)

    def save(self, path: Path | str) -> None:
        """Write the document to a JSON file."""
        save_graph(self.document, Path(path))

    @classmethod
    def load(cls, path: Path | str, *, manifests: Mapping[str, Manifest] | None = None) -> Self:
        """Read a graph from a JSON file. Raises GraphError if something in it would be lost."""
        return cls.from_document(load_graph(path), manifests=manifests)

    @classmethod
    def from_document(
        cls, document: GraphDocument, *, manifests: Mapping[str, Manifest] | None = None
    ) -> Self:
        """Return a builder that goes on from a document; `graph["id"]` is one of its nodes."""
        kept = ("duplicate-id", "unknown-key")
        faults = [fault for fault in draw(document, None).faults if fault.kind in kept]
        if faults:
            raise GraphError(faults)
        graph = cls(
            document.name,
            description=document.description,
            environment=document.environment,
            step_budget=document.step_budget,
            manifests=manifests,
        )
        graph.layout = document.layout
        graph.editor_schema = document.editor_schema
        for name, spec in document.nodesets.items():
            graph.nodeset(name, use=spec.use, config=spec.config)
        graph._draft.load(document)
        return graph

    def __getitem__(self, id: str) -> Node:
        ids = self._draft.specs
        if id not in ids:
            raise KeyError(f"the graph has no node {id!r}. {suggest(id, ids)}")
        return Node(self._draft, id)

    def __contains__(self, id: object) -> bool:
        return id in self._draft.specs

    def __repr__(self) -> str:
        return f"<Graph {self.name!r}: {', '.join(self._draft.specs) or 'empty'}>"

    def _refuse_ambiguous(self, node_type: str, given: Mapping[str, Any]) -> None:
        for key in sorted(self._draft.precheck.ambiguous_names(node_type).intersection(given)):
            rule = f"{key!r} is both an input and a configuration key of {node_type!r}"
            remedy = f"Say which is meant: inputs={{{key!r}: …}} or config={{{key!r}: …}}."
            raise GraphError([Fault("config-key", f"node {node_type!r}", rule, remedy)])
