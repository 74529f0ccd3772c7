"""Read what a nodeset declares about itself from its source text, without importing it.

Knows nothing of interpreters or processes, so it can read files that only an old interpreter runs.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, NoReturn, Optional

from nodeset.contract import DEFAULT_BUDGETS, PARALLELISM_MODES, Deployment
from nodeset.errors import ContractError
from nodeset.literal import UNREADABLE, LiteralError, read_literal

LITERALS = ("name", "description", "parallelism", "deployment")
MAX_NAME_LENGTH = 100
"""Names become parts of file names."""


@dataclass(frozen=True)
class Declaration:
    """What one nodeset class says of itself in literals, and where it stands."""

    name: str
    class_name: str
    path: Path
    line: int
    description: str
    parallelism: str
    deployment: Deployment


def module_file(path: Path) -> Path:
    """Return the file that holds a nodeset's class: `path` itself, or a folder's `__init__.py`."""
    return path / "__init__.py" if path.is_dir() else path


def read_declarations(path: Path) -> List[Declaration]:
    """Return the nodesets that the file or folder at `path` declares, in their order there.

    Raises ContractError with file, line, class and rule where a declaration is missing, is no
    literal, or has a value that the contract does not know.
    """
    file = module_file(path)
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
    except UNREADABLE as error:
        line = getattr(error, "lineno", None) or 1
        raise ContractError(f"{file}:{line}: cannot be read as Python: {error}") from error
    except OSError as error:
        raise ContractError(f"{file}: cannot be read: {error.strerror}") from error
    found: Dict[str, Dict[str, ast.expr]] = {}
    declarations = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and _is_nodeset(node, found):
            found[node.name] = _literals(node, found, file)
            declarations.append(_declaration(node, found[node.name], file))
    return declarations


def _is_nodeset(node: ast.ClassDef, found: Dict[str, Dict[str, ast.expr]]) -> bool:
    return any(base == "BaseNodeSet" or base in found for base in _base_names(node))


def _base_names(node: ast.ClassDef) -> Iterator[str]:
    for base in node.bases:
        if isinstance(base, ast.Name):
            yield base.id
        elif isinstance(base, ast.Attribute):
            yield base.attr


def _literals(
    node: ast.ClassDef, found: Dict[str, Dict[str, ast.expr]], file: Path
) -> Dict[str, ast.expr]:
    values: Dict[str, ast.expr] = {}
    for base in _base_names(node):
        inherited = found.get(base, {})
        values.update({key: value for key, value in inherited.items() if key != "name"})
    for statement in node.body:
        for target, value, at in _assignments(statement):
            if target in LITERALS:
                if at is not statement or value is None:
                    rule = "is set inside a block; it must be one literal in the class body"
                    _refuse(file, at, node.name, f"{target} {rule}")
                values[target] = value
    return values


def _assignments(statement: ast.stmt) -> Iterator[Any]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value, node
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, None, node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value, node


def _declaration(node: ast.ClassDef, values: Dict[str, ast.expr], file: Path) -> Declaration:
    name = _text(values, "name", node, file)
    if not name:
        _refuse(file, node, node.name, 'has no name; add name = "…" to the class body')
    if not _is_name(name):
        rule = (
            f"must be at most {MAX_NAME_LENGTH} letters, digits and single underscores, and begin "
            f"with a letter"
        )
        _refuse(file, values["name"], node.name, f"declares name={name!r}; it {rule}")
    mode = _text(values, "parallelism", node, file) or "replicated"
    if mode not in PARALLELISM_MODES:
        rule = "it must be 'replicated' or 'shared'"
        _refuse(file, values["parallelism"], node.name, f"declares parallelism={mode!r}; {rule}")
    description = _text(values, "description", node, file) or _first_line(node)
    deployment = _deployment(values.get("deployment"), node, file)
    return Declaration(name, node.name, file, node.lineno, description, mode, deployment)


def _is_name(name: str) -> bool:
    is_spelt = name.replace("_", "a").isalnum() and not name[0].isdigit() and "__" not in name
    return is_spelt and len(name) <= MAX_NAME_LENGTH


def _first_line(node: ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "").split("\n", 1)[0]


def _text(values: Dict[str, ast.expr], key: str, node: ast.ClassDef, file: Path) -> str:
    value = values.get(key)
    if value is None:
        return ""
    result = _literal(value, key, node, file)
    if not isinstance(result, str):
        _refuse(file, value, node.name, f"declares {key}={result!r}; it must be text")
    return result


def _literal(value: ast.expr, key: str, node: ast.ClassDef, file: Path) -> Any:
    try:
        return read_literal(value)
    except LiteralError as error:
        rule = f"it is read from the source text and {error}"
        _refuse(file, value, node.name, f"computes {key}; {rule}")


def _deployment(value: Optional[ast.expr], node: ast.ClassDef, file: Path) -> Deployment:
    if value is None:
        return Deployment()
    if not isinstance(value, ast.Call) or list(_call_name(value)) != ["Deployment"] or value.args:
        rule = "it must be a literal Deployment(key=value, …)"
        _refuse(file, value, node.name, f"computes deployment; {rule}")
    fields = {}
    for keyword in value.keywords:
        if keyword.arg not in Deployment.__dataclass_fields__:
            known = ", ".join(Deployment.__dataclass_fields__)
            rule = f"its fields are {known}"
            _refuse(file, keyword.value, node.name, f"gives Deployment {keyword.arg!r}; {rule}")
        fields[keyword.arg] = _literal(keyword.value, f"deployment.{keyword.arg}", node, file)
    problem = _deployment_problem(fields)
    if problem:
        _refuse(file, value, node.name, f"declares a deployment whose {problem}")
    return Deployment(**fields)


def _call_name(call: ast.Call) -> Iterator[str]:
    if isinstance(call.func, ast.Name):
        yield call.func.id
    elif isinstance(call.func, ast.Attribute):
        yield call.func.attr


def _deployment_problem(fields: Dict[str, Any]) -> str:
    rules = (
        ("python", lambda v: v is None or isinstance(v, str), "a path, a version or 'conda:NAME'"),
        ("env", _is_text_dict, "a dict of text to text"),
        ("gpus", lambda v: _is_number(v) and v >= 0, "a number from 0"),
        ("cpus", lambda v: _is_number(v) and v > 0, "a number above 0"),
        ("threads", _is_count_or_none, "a whole number from 1"),
        ("memory_limit", _is_count_or_none, "a number of bytes from 1"),
        ("max_episodes", _is_count_or_none, "a whole number from 1"),
        ("budgets", _is_budgets, f"a dict of seconds for {', '.join(DEFAULT_BUDGETS)}"),
    )
    for key, is_valid, due in rules:
        if key in fields and not is_valid(fields[key]):
            return f"{key} is {fields[key]!r}; it must be {due}"
    return ""


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count_or_none(value: Any) -> bool:
    return value is None or (isinstance(value, int) and _is_number(value) and value >= 1)


def _is_text_dict(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(item, str) for pair in value.items() for item in pair
    )


def _is_budgets(value: Any) -> bool:
    return isinstance(value, dict) and all(
        key in DEFAULT_BUDGETS and _is_number(seconds) and seconds > 0
        for key, seconds in value.items()
    )


def _refuse(file: Path, at: Any, class_name: str, message: str) -> NoReturn:
    line = getattr(at, "lineno", 1)
    raise ContractError(f"{file}:{line}: nodeset class {class_name} {message}.")
