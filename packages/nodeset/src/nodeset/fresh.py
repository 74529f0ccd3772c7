"""Import a nodeset's own files from their source text, never from bytecode kept beside them.

Knows nothing of nodesets. Python takes bytecode for current when time (in whole seconds) and size
of the source are what they were: an edit that changes neither would run as the old code under the
new file's hash.
"""

from __future__ import annotations

import sys
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from pathlib import Path
from typing import Any, NoReturn


class FreshLoader(SourceFileLoader):
    """Compiles a file whenever it is imported; neither reads nor writes bytecode."""

    def path_stats(self, path: Any) -> NoReturn:
        """Say that nothing is known of the source's age, which rules bytecode out."""
        raise OSError(f"{path}: bytecode is not used")


def import_fresh_from(folder: Path) -> None:
    """Let imports from `folder` and the packages in it use `FreshLoader` from now on.

    What else is below it, such as an environment with its libraries, keeps its bytecode.
    """
    loaders = (ExtensionFileLoader, EXTENSION_SUFFIXES), (FreshLoader, SOURCE_SUFFIXES)
    hook = FileFinder.path_hook(*loaders)

    def find_inside(path: str) -> Any:
        if not _is_inside(Path(path), folder):
            raise ImportError(f"{path} is no package in {folder}")
        return hook(path)

    sys.path_hooks.insert(0, find_inside)
    for known in list(sys.path_importer_cache):
        if _is_inside(Path(known), folder):
            del sys.path_importer_cache[known]


def _is_inside(path: Path, folder: Path) -> bool:
    if path == folder:
        return True
    if folder not in path.parents:
        return False
    return (folder / path.relative_to(folder).parts[0] / "__init__.py").is_file()
