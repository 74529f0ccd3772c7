"""List what a nodeset keeps between calls: the path of each value, a digest and a short text.

Knows nothing of what may change. Looks into attributes, containers, globals of the author's
modules and default arguments; what it can't read it leaves out.
"""

from __future__ import annotations

import functools
import inspect
import random
import sys
from collections import deque
from types import ModuleType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Set, Tuple

import numpy as np

from nodeset.contract import BaseCanvasNode, BaseController, BaseNodeSet
from nodeset.digest import digest_value
from nodeset.errors import NodeSetError
from nodeset.loading import NAMESPACE, LoadedNodeSet

MAX_PATHS = 4000
MAX_DEPTH = 12
MAX_ARRAY_BYTES = 1 << 20
"""Of a larger array some elements stand for all."""
_TEXT = 60

State = Dict[str, List[Any]]
_PLAIN = (str, bytes, int, float, bool, type(None), complex)
_SKIPPED = (ModuleType, type, property, staticmethod, classmethod, functools.partial)
_CONTRACT = (BaseCanvasNode, BaseController, BaseNodeSet)


def list_state(loaded: LoadedNodeSet) -> State:
    """Return {path: [digest, text]} of what nodeset, tools, controller and modules hold."""
    walk = _Walk()
    for root in (loaded.nodeset, *loaded.tools.values(), loaded.controller):
        if root is not None:
            walk.visit(type(root).__name__, root, 0)
    for name, module in sorted(sys.modules.items()):
        if name.startswith(NAMESPACE + ".") and module is not None:
            walk.visit_module(name[len(NAMESPACE) + 1 :], module)
    return walk.found


class _Walk:
    """One walk; what it meets twice stands under its first path."""

    def __init__(self) -> None:
        self.found: State = {}
        self._seen: Set[int] = set()
        self._kept: List[Any] = []
        """Holds what was met, so that no other object gets its identity meanwhile."""

    def visit_module(self, label: str, module: ModuleType) -> None:
        for name, value in list(vars(module).items()):
            if name.startswith("__"):
                continue
            if inspect.isfunction(value) and value.__module__ == module.__name__:
                self._visit_defaults(f"{label}.{name}", value)
            elif isinstance(value, type) and value.__module__ == module.__name__:
                self._visit_class(value)
            elif not callable(value):
                self.visit(f"{label}.{name}", value, 0)

    def visit(self, path: str, value: Any, depth: int) -> None:
        if len(self.found) >= MAX_PATHS or depth > MAX_DEPTH:
            return
        if isinstance(value, _PLAIN):
            self._note(path, value, repr(value))
            return
        if id(value) in self._seen or isinstance(value, _SKIPPED) or inspect.isroutine(value):
            return
        self._seen.add(id(value))
        self._kept.append(value)
        if not self._visit_known(path, value) and not self._visit_parts(path, value, depth):
            self._note_by_repr(path, value)

    def _visit_class(self, cls: type) -> None:
        for name, value in list(vars(cls).items()):
            function = getattr(value, "__func__", value)
            if name.startswith("__") and name not in ("__init__", "__call__"):
                continue
            if inspect.isfunction(function):
                self._visit_defaults(f"{cls.__name__}.{name}", function)
            else:
                self.visit(f"{cls.__name__}.{name}", value, 0)

    def _visit_defaults(self, label: str, function: Any) -> None:
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        defaults = function.__defaults__ or ()
        given = dict(zip(names[len(names) - len(defaults) :], defaults))
        for name, value in {**given, **(function.__kwdefaults__ or {})}.items():
            self.visit(f"{label}(default of {name!r})", value, 1)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            if name != "__class__":
                self.visit(f"{label}(closed over {name!r})", _content(cell), 1)

    def _visit_known(self, path: str, value: Any) -> bool:
        for kind, read in _READERS:
            if isinstance(value, kind):
                self._note(path, read(value), _text(value))
                return True
        if type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach"):
            array = value.detach().cpu().float().numpy()
            self._note(path, _read_array(array), f"tensor {tuple(value.shape)}")
            return True
        return False

    def _visit_parts(self, path: str, value: Any, depth: int) -> bool:
        parts = list(_parts_of(value))
        is_container = isinstance(value, (Mapping, list, tuple, deque, set, frozenset))
        if is_container:
            self._note(f"{path} (length)", len(value), str(len(value)))
        for name, part in parts:
            self.visit(f"{path}{name}", part, depth + 1)
        return bool(parts) or is_container

    def _note(self, path: str, content: Any, text: str) -> None:
        try:
            self.found[path] = [digest_value(content), text[:_TEXT]]
        except (NodeSetError, ValueError, TypeError):
            self.found.pop(path, None)

    def _note_by_repr(self, path: str, value: Any) -> None:
        try:
            text = repr(value)
        except Exception:  # noqa: BLE001  the author's `__repr__`
            return
        if " at 0x" not in text:
            self._note(path, text, text)


def _parts_of(value: Any) -> Iterator[Tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key in list(value):
            yield f"[{_text(key)}]", value[key]
    elif isinstance(value, (list, tuple, deque)):
        for index, item in enumerate(list(value)):
            yield f"[{index}]", item
    elif isinstance(value, (set, frozenset)):
        for index, item in enumerate(sorted(value, key=repr)):
            yield f"{{{index}}}", item
    else:
        yield from _attributes_of(value)


def _attributes_of(value: Any) -> Iterator[Tuple[str, Any]]:
    own = getattr(value, "__dict__", None)
    names = list(own) if isinstance(own, dict) else []
    names += [name for name in getattr(type(value), "__slots__", ()) if isinstance(name, str)]
    for name in names:
        try:
            yield f".{name}", getattr(value, name)
        except Exception:  # noqa: BLE001, S112  the author's property or an empty slot
            continue


def _read_array(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype.hasobject or array.dtype.names is not None:
        return repr(array)
    if array.nbytes > MAX_ARRAY_BYTES:
        flat = array.reshape(-1)
        return [str(array.shape), flat[:: max(1, flat.size // 4096)]]
    return array


_READERS: Tuple[Tuple[type, Callable[[Any], Any]], ...] = (
    (np.ndarray, _read_array),
    (np.generic, repr),
    (np.random.Generator, lambda value: repr(value.bit_generator.state)),
    (np.random.RandomState, lambda value: repr(value.get_state())),
    (random.Random, lambda value: repr(value.getstate())),
)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty so far
        return None


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    try:
        return repr(value)[:_TEXT]
    except Exception:  # noqa: BLE001  the author's `__repr__`
        return f"<{type(value).__name__}>"
