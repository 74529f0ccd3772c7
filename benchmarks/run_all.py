"""Run every benchmark, each in a process of its own, and gather their tables.

With `--readme` the tables go into README.md between its markers.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
README = FOLDER / "README.md"
NAMES = (
    *("transport", "batching", "episodes", "stragglers", "startup", "scale", "memory"),
    *("baking", "policy", "pure_environments"),
)
BEGIN, END = "<!-- tables begin -->", "<!-- tables end -->"


def run(name: str, arguments: list[str], results: Path) -> str:
    """Return the Markdown that one benchmark printed; its JSON is kept in `results`."""
    command = [sys.executable, str(FOLDER / f"{name}.py"), *arguments]
    command += ["--output", str(results / f"{name}.json")]
    done = subprocess.run(command, cwd=FOLDER.parent, stdout=subprocess.PIPE, text=True, check=True)
    _, _, tables = done.stdout.partition("\n")
    return f"### {name}\n\n{tables.strip()}\n"


def fill_readme(sections: Mapping[str, str]) -> None:
    """Put the sections in the place of those of their names; the others stay."""
    before, _, rest = README.read_text().partition(BEGIN)
    tables, _, after = rest.partition(END)
    parts = re.split(r"^(?=### )", tables, flags=re.MULTILINE)
    kept = {part.split()[1]: f"{part.strip()}\n" for part in parts if part.startswith("### ")}
    found = {**kept, **sections}
    introduction = parts[0].strip() if not parts[0].startswith("### ") else ""
    body = "\n".join(found[name] for name in NAMES if name in found)
    README.write_text(f"{before}{BEGIN}\n\n{introduction}\n\n{body}\n{END}{after}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--repetitions", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--results", type=Path, help="where the JSON files go")
    parser.add_argument("--readme", action="store_true", help="put each table into README.md")
    options = parser.parse_args()
    results = options.results or Path(tempfile.mkdtemp(prefix="wayfare-benchmarks-"))
    results.mkdir(parents=True, exist_ok=True)
    arguments = ["--tiny"] if options.tiny else []
    if options.repetitions:
        arguments += ["--repetitions", str(options.repetitions)]
    for name in options.only:
        section = run(name, arguments, results)
        print(section, flush=True)
        if options.readme:
            fill_readme({name: section})
    print(f"JSON: {results}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
