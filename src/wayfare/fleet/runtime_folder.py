"""Make the folder that holds a run's sockets: nobody else can enter it or put one in its place.

Knows nothing of what is kept there.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from wayfare.fleet.errors import FleetSetupError

MAX_SOCKET_PATH = 100  # the kernel takes 107 bytes
_OWN_LENGTH = 30
"""What is added to the folder's name: a name of its own, and that of a socket."""


def make_runtime_folder(environment: Mapping[str, str]) -> Path:
    """Return a new folder that only this user can enter, with a name short enough for sockets.

    It stands in XDG_RUNTIME_DIR, else in the temporary folder. Raises FleetSetupError.
    """
    return make_private_folder((environment.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"))  # noqa: S108


def make_private_folder(roots: Iterable[str | None]) -> Path:
    """Return a new folder, mode 0700, in the first root that can be used."""
    refused = []
    for root in dict.fromkeys(filter(None, roots)):
        try:
            reason = why_unfit(Path(root))
            if not reason:
                return Path(tempfile.mkdtemp(prefix="wayfare-", dir=Path(root).resolve()))
        except OSError as error:
            reason = error.strerror or str(error)
        refused.append(f"{root!r} {reason}")
    raise FleetSetupError(
        f"no folder for sockets: {'; '.join(refused)}. Set XDG_RUNTIME_DIR or TMPDIR to a folder "
        f"of your own with a short path."
    )


def why_unfit(root: Path) -> str:
    """Return why a folder can't hold sockets, as the end of a sentence; "" if it can."""
    path = root.resolve(strict=True)
    if not path.is_dir():
        return "is no folder"
    if len(os.fsencode(path)) + _OWN_LENGTH > MAX_SOCKET_PATH:
        return f"has a name too long for a Unix socket ({len(os.fsencode(path))} bytes)"
    if not os.access(path, os.W_OK | os.X_OK):
        return "is not writable"
    return next(_list_intruders(path), "")


def _list_intruders(path: Path) -> Iterator[str]:
    """Yield who else could put something in the place of what stands there."""
    trusted = {os.geteuid(), 0, Path("/").stat().st_uid}
    for folder in (path, *path.parents):
        found = folder.stat()
        if found.st_uid not in trusted:
            yield f"is not safe: {str(folder)!r} belongs to another user (uid {found.st_uid})"
        is_open = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if is_open and not found.st_mode & stat.S_ISVTX:
            mode = f"{stat.S_IMODE(found.st_mode):04o}"
            yield f"is not safe: others may rename what stands in {str(folder)!r} (mode {mode})"
