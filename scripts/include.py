"""Write the code that the pages show from the files that the tests run.

Knows nothing of what the code does. On a page `<!-- from: examples/x.py -->` stands above a fenced
block and names its file; `:name` after the file takes what lies between the lines
`# start of name` and `# end of name`.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("examples/", "docs/snippets/")
LANGUAGES = {".py": "python", ".json": "json"}
BLOCK = re.compile(r"(?ms)^<!-- from: (?P<source>\S+) -->\n```\w+[^\n]*\n.*?^```$")


def include(page: str, root: Path) -> str:
    """Return the page with every marked block as its file has it now."""
    return BLOCK.sub(lambda found: write_block(found["source"], root), page)


def write_block(source: str, root: Path) -> str:
    """Return the marker and the fenced code of `path` or `path:section`."""
    name, _, section = source.partition(":")
    if not name.startswith(SOURCES):
        raise ValueError(f"{source!r} is not in {' or '.join(SOURCES)}, which the tests run")
    code = (root / name).read_text()
    if section:
        code = read_section(code, section, source)
    language = LANGUAGES[Path(name).suffix]
    title = "" if section else f' title="{name}"'
    return f"<!-- from: {source} -->\n```{language}{title}\n{code.rstrip()}\n```"


def read_section(code: str, section: str, source: str) -> str:
    """Return what lies between the lines that start and end a section, dedented."""
    found = re.search(
        rf"^ *# start of {section}\n(.*?)^ *# end of {section}$", code, re.MULTILINE | re.DOTALL
    )
    if found is None:
        raise ValueError(f"{source!r} has no lines '# start of {section}' and '# end of {section}'")
    return textwrap.dedent(found[1])


def main() -> int:
    """Rewrite the pages that differ and name them."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        page = path.read_text()
        written = include(page, ROOT)
        if written != page:
            path.write_text(written)
            print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
