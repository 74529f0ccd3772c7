"""Import a nodeset's file, make the nodeset, and hold it against the contract.

Knows nothing of processes or sockets; runs in the nodeset's own interpreter.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Dict, List, Mapping, NoReturn, Optional, Type

from nodeset.checking import (
    check_controller,
    check_metadata,
    check_mode,
    check_scoring,
    check_tools,
)
from nodeset.contract import BaseCanvasNode, BaseController, BaseNodeSet
from nodeset.errors import AuthorError, ContractError
from nodeset.fresh import FreshLoader, import_fresh_from
from nodeset.source import Declaration, module_file, read_declarations

NAMESPACE = "nodesets"
"""The package that a nodeset's file becomes a member of, so that relative imports work."""


@dataclass(frozen=True)
class LoadedNodeSet:
    """A nodeset that was made and checked, not yet initialized. Tools go by their short names."""

    declaration: Declaration
    nodeset: BaseNodeSet
    tools: Dict[str, BaseCanvasNode]
    controller: Optional[BaseController]
    metadata: Optional[Dict[str, Any]]

    @property
    def parallelism(self) -> str:
        return self.declaration.parallelism

    @property
    def source_files(self) -> Dict[str, str]:
        """The nodeset's own files, and its neighbours' that are imported now: {path: SHA-256}."""
        return _source_files(self.declaration.path)


def load_nodeset(
    target: str, name: str = "", config: Optional[Mapping[str, Any]] = None
) -> LoadedNodeSet:
    """Return the nodeset called `name` (none: the only one) from a file, folder or module.

    `config` is laid over the class's `default_config` and set before `__init__` runs. Raises
    ContractError naming file, class and rule, or AuthorError when the author's code raises.
    """
    path = _locate(target)
    declaration = _choose(read_declarations(path), name, path)
    module = _import(path)
    cls = _find_class(module, declaration)
    nodeset = _construct(cls, declaration, config or {})
    place = f"nodeset {declaration.name!r} ({declaration.path}:{declaration.line})"
    check_mode(nodeset, declaration, place)
    tools = check_tools(_author(nodeset.get_tools, place), declaration.name, place)
    metadata = _author(nodeset.get_eval_metadata, place)
    check_metadata(metadata, place)
    check_scoring(metadata, tools, place)
    controller = _make_controller(cls, nodeset, place)
    check_controller(controller, place, brings_episodes=metadata is not None)
    return LoadedNodeSet(declaration, nodeset, tools, controller, metadata)


def _locate(target: str) -> Path:
    path = Path(target)
    if path.exists():
        return path.resolve()
    spec = _find_module(target)
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).resolve()
    raise ContractError(f"{target!r} is neither a file or folder nor an importable module")


def _find_module(name: str) -> Optional[importlib.machinery.ModuleSpec]:
    if not name.replace(".", "").replace("_", "").isalnum():
        return None
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a parent of a dotted name is missing or no package
        return None


def _choose(declarations: List[Declaration], name: str, path: Path) -> Declaration:
    chosen = [d for d in declarations if not name or d.name == name]
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(d.name for d in declarations) or "none"
    wanted = f"no nodeset called {name!r}" if name else "not exactly one nodeset"
    raise ContractError(f"{module_file(path)} declares {wanted}; it declares: {names}")


def _import(path: Path) -> ModuleType:
    folder = path.parent if path.name == "__init__.py" else path
    package = sys.modules.get(NAMESPACE)
    if package is None:
        package = ModuleType(NAMESPACE)
        package.__path__ = []
        sys.modules[NAMESPACE] = package
    parent = str(folder.parent)
    if parent not in package.__path__:
        package.__path__ = [*package.__path__, parent]
        import_fresh_from(folder.parent)
    module_name = f"{NAMESPACE}.{folder.stem if folder.is_file() else folder.name}"
    known = sys.modules.get(module_name)
    if known is not None and getattr(known, "__file__", None) == str(module_file(folder)):
        return known
    return _import_as(module_name, folder)


def _import_as(module_name: str, folder: Path) -> ModuleType:
    file = module_file(folder)
    search = [str(folder)] if folder.is_dir() else None
    loader = FreshLoader(module_name, str(file))
    spec = importlib.util.spec_from_file_location(
        module_name, str(file), loader=loader, submodule_search_locations=search
    )
    if spec is None or spec.loader is None:
        raise ContractError(f"{file}: is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[module_name]
        if not isinstance(error, Exception):
            raise
        raise AuthorError.wrap(error, f"importing {file}", skip_frames=3) from error
    return module


def _find_class(module: ModuleType, declaration: Declaration) -> Type[BaseNodeSet]:
    cls = getattr(module, declaration.class_name, None)
    place = f"{declaration.path}:{declaration.line}: nodeset class {declaration.class_name}"
    if not isinstance(cls, type) or not issubclass(cls, BaseNodeSet):
        raise ContractError(f"{place} does not derive from nodeset.BaseNodeSet once imported.")
    for key in ("name", "parallelism"):
        declared, actual = getattr(declaration, key), getattr(cls, key)
        if declared != actual:
            raise ContractError(
                f"{place} declares {key}={declared!r} in its source but has {actual!r} once "
                f"imported; it must be one literal in the class body."
            )
    return cls


def _construct(
    cls: Type[BaseNodeSet], declaration: Declaration, config: Mapping[str, Any]
) -> BaseNodeSet:
    place = f"nodeset {declaration.name!r} ({declaration.path}:{declaration.line})"
    default_config: Any = cls.default_config
    if not isinstance(default_config, Mapping):
        _refuse(place, f"declares default_config={default_config!r}; it must be a dict")
    unknown = sorted(set(config) - set(default_config))
    if unknown:
        known = ", ".join(sorted(default_config)) or "none"
        _refuse(
            place,
            f"has no configuration {unknown[0]!r}; its keys are: {known}. A tool's own "
            f"configuration is set at its node (nodes.ID.KEY)",
        )
    nodeset = cls.__new__(cls)
    nodeset.config = {**default_config, **config}
    initialize: Any = cls.__init__
    _author(lambda: initialize(nodeset), place)
    return nodeset


def _make_controller(
    cls: Type[BaseNodeSet], nodeset: BaseNodeSet, place: str
) -> Optional[BaseController]:
    kind: Any = cls.controller
    if kind is None:
        return None
    if not isinstance(kind, type) or not issubclass(kind, BaseController):
        _refuse(place, f"declares controller={kind!r}; it must be a subclass of BaseController")
    controller: BaseController = kind.__new__(kind)
    controller.nodeset = nodeset
    initialize: Any = kind.__init__
    _author(lambda: initialize(controller), place)
    return controller


def _author(function: Any, place: str) -> Any:
    try:
        return function()
    except Exception as error:
        raise AuthorError.wrap(error, place, skip_frames=1) from error


def _refuse(place: str, message: str) -> NoReturn:
    raise ContractError(f"{place} {message}.")


def _source_files(file: Path) -> Dict[str, str]:
    """Hash all of a nodeset's own files, for one may be imported late, and what it has imported."""
    is_package = file.name == "__init__.py"
    folder = file.parent.parent if is_package else file.parent
    files = {file, *(file.parent.rglob("*.py") if is_package else ())}
    for name, module in list(sys.modules.items()):
        origin = getattr(module, "__file__", None)
        if origin and name.startswith(NAMESPACE + "."):
            files.add(Path(origin))
    inside = sorted(f for f in files if folder in f.parents)
    return {
        f.relative_to(folder).as_posix(): hashlib.sha256(f.read_bytes()).hexdigest() for f in inside
    }
