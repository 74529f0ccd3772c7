"""Find nodesets and graphs in workspaces and start what a graph needs.

Knows nothing of how copies are started, of episodes or of results. Imports no author's code.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import wayfare
from nodeset.errors import ContractError
from nodeset.source import MAX_NAME_LENGTH, Declaration, read_declarations
from wayfare.fleet.errors import UnknownNameError, UnreadableError, WorkspaceError
from wayfare.fleet.fleet import Fleet
from wayfare.fleet.launcher import Launcher
from wayfare.fleet.member import Member
from wayfare.fleet.place import place
from wayfare.graph.document import GraphDocument
from wayfare.graph.fault import shorten, suggest
from wayfare.graph.tooltype import nodesets_of

_INSTANCE = re.compile(r"[A-Za-z](_?[A-Za-z0-9])*")
_Entry = TypeVar("_Entry", "NodeSetEntry", "GraphEntry")
Kind = Literal["nodeset", "graph"]
_LISTING: Mapping[Kind, str] = {
    "nodeset": "`wayfare nodesets` lists all, and says which can run here.",
    "graph": "`wayfare nodesets --graphs` lists all, and says which can run here.",
}


@dataclass(frozen=True, slots=True)
class NodeSetEntry:
    """A nodeset that a workspace holds."""

    declaration: Declaration
    path: Path
    is_shipped: bool

    @property
    def name(self) -> str:
        """Return the nodeset's name."""
        return self.declaration.name


@dataclass(frozen=True, slots=True)
class GraphEntry:
    """A graph document that a workspace holds."""

    name: str
    path: Path
    is_shipped: bool


@dataclass(frozen=True, slots=True)
class BrokenEntry:
    """A file of a workspace that can't be used, and why."""

    path: Path
    reason: str


class WorkspaceComponentRegistry:
    """What the shipped workspace and the user's hold.

    A name that the user's workspaces hold hides the shipped one; a name that they hold twice is an
    error once it is asked for.
    """

    def __init__(self, workspaces: Sequence[Path], *, shipped: Path | None = None) -> None:
        self._nodesets: dict[str, list[NodeSetEntry]] = {}
        self._graphs: dict[str, list[GraphEntry]] = {}
        self.broken: list[BrokenEntry] = []
        shipped = shipped or find_shipped_workspace()
        roots = dict.fromkeys(folder.resolve() for folder in workspaces)
        roots.pop(shipped.resolve(), None)
        self._scan(shipped.resolve(), is_shipped=True)
        for root in roots:
            if not is_folder(root):
                raise WorkspaceError(f"workspace {str(root)!r} is no folder.")
            self._scan(root, is_shipped=False)

    @property
    def nodesets(self) -> list[NodeSetEntry]:
        """Return the nodesets by name; of a name that is there twice, each."""
        return [entry for name in sorted(self._nodesets) for entry in self._nodesets[name]]

    @property
    def graphs(self) -> list[GraphEntry]:
        """Return the graphs by name; of a name that is there twice, each."""
        return [entry for name in sorted(self._graphs) for entry in self._graphs[name]]

    def find_nodeset(self, name: str) -> NodeSetEntry:
        """Return the nodeset of that name, or of that class. Raises WorkspaceError."""
        by_class = [e for e in self.nodesets if e.declaration.class_name == name]
        entries = self._nodesets.get(name) or by_class
        return self._only("nodeset", name, entries, self._nodesets)

    def find_graph(self, name: str) -> GraphEntry:
        """Return the graph of that name. Raises WorkspaceError."""
        return self._only("graph", name, self._graphs.get(name, []), self._graphs)

    async def ensure_nodesets_for_graph(
        self,
        graph: GraphDocument,
        worker_count: int,
        launcher: Launcher,
        *,
        configs: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Fleet:
        """Start every copy that the graph's nodesets need, all at once, and get their manifests.

        The copies are loaded, not initialized, so that the graph can be validated first. `configs`
        goes over the graph's own. Raises WorkspaceError before anything starts when a nodeset is
        unknown, CopyStartError with the copy's last lines when one can't be loaded.
        """
        members = self.list_members(graph, worker_count, configs or {})
        return await Fleet.start(members, worker_count, launcher)

    def find_missing(self, graph: GraphDocument) -> dict[str, WorkspaceError]:
        """Return the graph's nodesets that can't be used from a workspace, with the reasons."""
        found = self.find_nodesets(graph).items()
        return {instance: told for instance, told in found if isinstance(told, WorkspaceError)}

    def find_nodesets(self, graph: GraphDocument) -> dict[str, NodeSetEntry | WorkspaceError]:
        """Return by their names in the graph the nodesets that it needs, or why there is none."""
        found: dict[str, NodeSetEntry | WorkspaceError] = {}
        for instance in nodesets_of(graph):
            try:
                found[instance] = self._find_entry(graph, instance)
            except WorkspaceError as error:
                found[instance] = error
        return found

    def list_members(
        self,
        graph: GraphDocument,
        worker_count: int,
        configs: Mapping[str, Mapping[str, Any]],
        *,
        without: Container[str] = (),
    ) -> list[Member]:
        """Return the graph's nodesets, but those `without`, with their placements.

        Raises WorkspaceError for one that no workspace holds.
        """
        members = []
        for instance in nodesets_of(graph):
            if instance in without:
                continue
            spec = graph.nodesets.get(instance)
            entry = self._find_entry(graph, instance)
            config = {**(spec.config if spec else {}), **configs.get(instance, {})}
            placement = place(instance, entry.declaration.parallelism, worker_count)
            members.append(Member(entry.declaration, entry.path, config, placement))
        return members

    def _find_entry(self, graph: GraphDocument, instance: str) -> NodeSetEntry:
        _check_instance(instance)
        spec = graph.nodesets.get(instance)
        return self.find_nodeset((spec.use if spec else None) or instance)

    def _scan(self, root: Path, *, is_shipped: bool) -> None:
        for path in _list_sources(root / "nodesets"):
            try:
                _check_inside(path, root)
                declarations = read_declarations(path)
            except (ContractError, WorkspaceError) as error:
                self.broken.append(BrokenEntry(path, str(error)))
                continue
            for declaration in declarations:
                entry = NodeSetEntry(declaration, path, is_shipped)
                _add(self._nodesets, declaration.name, entry)
        for path in sorted((root / "graphs").glob("*.json")):
            try:
                _check_inside(path, root)
            except WorkspaceError as error:
                self.broken.append(BrokenEntry(path, str(error)))
            else:
                _add(self._graphs, path.stem, GraphEntry(path.stem, path, is_shipped))

    def _only(
        self, kind: Kind, name: str, entries: list[_Entry], known: Mapping[str, object]
    ) -> _Entry:
        if not entries:
            raise self._unknown(kind, name, known)
        if len(entries) > 1:
            places = " and ".join(str(entry.path) for entry in entries)
            raise WorkspaceError(
                f"{kind} {name!r} is there twice: {places}; a name must be unique among the "
                f"workspaces. Rename one or leave its workspace out."
            )
        return entries[0]

    def _unknown(self, kind: Kind, name: str, known: Iterable[str]) -> WorkspaceError:
        """Return why nothing goes by that name: first of all a file so called is unreadable."""
        if not name.strip():
            return UnknownNameError(f"the name of a {kind} is empty ({name!r}). {_LISTING[kind]}")
        broken = [entry for entry in self.broken if entry.path.parent.name == f"{kind}s"]
        reason = " ".join(entry.reason for entry in broken if entry.path.stem == name)
        if reason:
            told = f"{reason}\nMend the file; until then there is no {kind} {name!r}."
            return UnreadableError(told, reason)
        text = f"no {kind} {name!r} in any workspace. {suggest(name, known)} {_LISTING[kind]}"
        others = [f"  {entry.reason}" for entry in broken]
        return UnknownNameError(
            "\n".join([text, "It may be in what can't be read:", *others] if others else [text])
        )


def _check_instance(instance: str) -> None:
    """Refuse a name that could not be a nodeset's: it becomes part of file names."""
    if not _INSTANCE.fullmatch(instance) or len(instance) > MAX_NAME_LENGTH:
        raise WorkspaceError(
            f"nodeset name {shorten(instance)} in the graph must be at most {MAX_NAME_LENGTH} "
            f"letters, digits and single underscores, and begin with a letter."
        )


def is_folder(path: Path) -> bool:
    """Return whether a folder stands there; no, too, where no file can have that name."""
    try:
        return path.is_dir()
    except OSError:
        return False


def find_shipped_workspace() -> Path:
    """Return the folder of the shipped `nodesets` and `graphs`: in the wheel, or the checkout's."""
    package = Path(wayfare.__file__).resolve().parent
    in_wheel = package / "shipped"
    return in_wheel if in_wheel.is_dir() else package.parents[1]


def _add(entries: dict[str, list[_Entry]], name: str, entry: _Entry) -> None:
    """Put an entry beside those of its name; one of the user's hides the shipped one."""
    others = entries.get(name, [])
    entries[name] = [e for e in others if entry.is_shipped or not e.is_shipped] + [entry]


def _list_sources(folder: Path) -> Iterable[Path]:
    """Return what may be a nodeset: Python files, and folders that are packages."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name.startswith(("_", ".")):
            continue
        if path.suffix == ".py" or (path / "__init__.py").is_file():
            yield path


def _check_inside(path: Path, root: Path) -> None:
    target = (path / "__init__.py" if path.is_dir() else path).resolve()
    if not target.is_relative_to(root):
        raise WorkspaceError(f"{path} leads to {target}, which is outside its workspace {root}.")
