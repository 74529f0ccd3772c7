"""Check the rules of this tree that no linter knows: sizes, names, and what may be imported where.

Knows nothing of style, types or layers; ruff, mypy and import-linter keep those.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

MAX_FUNCTION_LINES = 40
MAX_FILE_LINES = 300
MAX_PUBLIC_METHODS = 10
MAX_POSITIONAL_PARAMETERS = 3

# Path -> (limit up to 500, why the file is better whole).
LONG_FILES: dict[str, tuple[int, str]] = {}

# "path:qualified name" -> why it takes more than three positional parameters.
WIDE_SIGNATURES: dict[str, str] = {}

FORBIDDEN_FILE_NAMES = re.compile(r"^_?(utils?|helpers?|commons?|misc|managers?)$")
DANGEROUS_CALLS = frozenset({"eval", "exec"})
DANGEROUS_MODULES = frozenset({"pickle", "cPickle", "cloudpickle", "dill", "marshal", "shelve"})
RAY_FILE = "src/wayfare/fleet/ray.py"
PEERS_FOLDER = "benchmarks/peers/"
"""What Wayfare is measured against stands here, Ray Serve among it."""

FRAMEWORK = ("src/wayfare/", "packages/nodeset/src/")
NODESET_IMPORTS = frozenset({"nodeset", "numpy", "msgpack", "xxhash"})

# A framework that names a simulator or a benchmark has learnt a domain.
DOMAIN_WORDS = re.compile(
    r"(?<![a-z0-9])(ai2thor|alfred|cartpole|gymnasium|habitat|isaac|libero|matterport\w*|mattersim"
    r"|maniskill|minigrid|mp3d|mujoco|objectnav|openeqa|procthor|r2r|reverie|robosuite|rxr|vlnce)"
    r"(?![a-z0-9])",
    re.IGNORECASE,
)
# Path or folder -> why it may name one.
DOMAIN_EXCEPTIONS = {
    "packages/nodeset/src/nodeset/metrics": "a metric cites the benchmark that defines it",
    "packages/nodeset/src/nodeset/submission.py": "a format cites the leaderboard that takes it",
    "packages/nodeset/src/nodeset/ports.py": "POSE documents the frames it may be given in",
}

HOME_FOLDER = re.compile(r"(?<![\w.])/(root|home/\w+|Users/\w+)/")


@dataclass(frozen=True)
class Source:
    """One Python file of the tree."""

    path: str
    text: str
    tree: ast.Module


@dataclass(frozen=True)
class Fault:
    """One broken rule, with the place to mend."""

    path: str
    line: int
    rule: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}"


def main() -> int:
    """Print every fault and return the exit status."""
    paths = tracked_paths()
    faults = [fault for path in paths for fault in check_path(path)]
    faults += check_exceptions(paths)
    for fault in sorted(faults, key=lambda fault: (fault.path, fault.line)):
        print(fault)
    return 1 if faults else 0


def tracked_paths() -> list[str]:
    """List the files that are, or would be, committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return sorted({path for path in listing.split("\0") if path and (ROOT / path).is_file()})


def check_path(path: str) -> Iterator[Fault]:
    """Yield what is wrong with one file."""
    if FORBIDDEN_FILE_NAMES.match(Path(path).stem):
        yield Fault(path, 1, "a file is named by what it is about, not utils/helpers/common/misc")
    try:
        text = (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    yield from check_home_folders(path, text)
    if path.endswith(".py"):
        source = Source(path, text, ast.parse(text, path))
        for rule in RULES:
            yield from rule(source)


def check_home_folders(path: str, text: str) -> Iterator[Fault]:
    """No committed file may depend on somebody's machine."""
    for number, line in enumerate(text.splitlines(), start=1):
        if found := HOME_FOLDER.search(line):
            yield Fault(path, number, f"names a folder of one machine: {found.group()!r}")


def check_file_length(source: Source) -> Iterator[Fault]:
    """Hold a file to the limit, or to its own where it has one."""
    lines = source.text.count("\n")
    limit, _ = LONG_FILES.get(source.path, (MAX_FILE_LINES, ""))
    if lines > limit:
        yield Fault(source.path, 1, f"has {lines} lines; the limit is {limit}: split it")


def check_functions(source: Source) -> Iterator[Fault]:
    """Hold every function to its length, a public one to three positional parameters too."""
    for name, function in functions_of(source.tree):
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        if lines > MAX_FUNCTION_LINES:
            rule = f"{name} has {lines} lines; the limit is {MAX_FUNCTION_LINES}"
            yield Fault(source.path, function.lineno, rule)
        if is_wide(function) and is_signature_public(source.path, name):
            rule = f"{name} takes more than three positional parameters: make the rest keyword-only"
            yield Fault(source.path, function.lineno, rule)


def is_wide(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether more than three parameters, self and cls aside, may be given by position."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return len([name for name in names if name not in ("self", "cls")]) > MAX_POSITIONAL_PARAMETERS


def is_signature_public(path: str, name: str) -> bool:
    """Tests take their fixtures by name, and a private function's callers stand around it."""
    last = name.rpartition(".")[2]
    is_private = last.startswith("_") and last != "__init__"
    return not (path.startswith("tests/") or is_private or f"{path}:{name}" in WIDE_SIGNATURES)


def functions_of(
    tree: ast.AST, prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield every function with its dotted name, nested ones too."""
    for node in ast.iter_child_nodes(tree):
        name = prefix
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}.{node.name}".lstrip(".")
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name, node
        yield from functions_of(node, name)


def check_classes(source: Source) -> Iterator[Fault]:
    """Hold every class to ten public methods."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef):
            count = len(public_methods(node))
            if count > MAX_PUBLIC_METHODS:
                rule = f"{node.name} has {count} public methods; the limit is {MAX_PUBLIC_METHODS}"
                yield Fault(source.path, node.lineno, rule)


def public_methods(node: ast.ClassDef) -> set[str]:
    """Name what a class offers; a property and its setter are one."""
    return {
        item.name
        for item in node.body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
        and not item.name.startswith("_")
    }


def check_dangerous(source: Source) -> Iterator[Fault]:
    """Nothing is ever pickled or evaluated from text."""
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in DANGEROUS_CALLS
        ):
            yield Fault(source.path, node.lineno, f"calls {node.func.id}()")
    for line, module in imports_of(source.tree):
        if module in DANGEROUS_MODULES:
            yield Fault(source.path, line, f"imports {module}: values cross as passive data only")


def check_imports(source: Source) -> Iterator[Fault]:
    """Keep Ray in one file, and a simulator's interpreter free of what it may not have."""
    allowed = NODESET_IMPORTS | sys.stdlib_module_names
    in_nodeset = source.path.startswith("packages/nodeset/src/")
    for line, module in imports_of(source.tree):
        if module == "ray" and not source.path.startswith((RAY_FILE, PEERS_FOLDER)):
            yield Fault(source.path, line, f"imports ray; only {RAY_FILE} may")
        if in_nodeset and module not in allowed:
            due = ", ".join(sorted(NODESET_IMPORTS))
            yield Fault(source.path, line, f"imports {module}; nodeset has only {due}")


def imports_of(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and top-level name of every absolute import, late ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module.partition(".")[0]


def check_domain_words(source: Source) -> Iterator[Fault]:
    """Keep simulators and benchmarks out of the framework."""
    if not source.path.startswith(FRAMEWORK) or source.path.startswith(tuple(DOMAIN_EXCEPTIONS)):
        return
    for number, line in enumerate(source.text.splitlines(), start=1):
        if found := DOMAIN_WORDS.search(line):
            yield Fault(source.path, number, f"names a domain: {found.group()!r}")


def check_exceptions(paths: list[str]) -> Iterator[Fault]:
    """An exception that nothing needs any more is a fault of this file."""
    for path, (limit, _) in LONG_FILES.items():
        if path not in paths:
            yield Fault("scripts/house_rules.py", 1, f"LONG_FILES names {path}, which is not there")
        elif limit > 500:
            yield Fault("scripts/house_rules.py", 1, f"LONG_FILES gives {path} more than 500 lines")


RULES = (
    check_file_length,
    check_functions,
    check_classes,
    check_dangerous,
    check_imports,
    check_domain_words,
)


if __name__ == "__main__":
    sys.exit(main())
