"""Run uv, pass on what it says while it works, and say what it could not get.

Knows nothing of environments or nodesets.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

UV_SECONDS = 3600.0
"""How long one step of uv may take: a large package over a slow line."""
_MISSING = (
    re.compile(r"Because ([\w.\[\]-]+) was not found"),
    re.compile(r"(?:is|are) no versions? of ([\w.-]+)"),
    re.compile(r"[Ff]ailed to (?:download|fetch|build|resolve) `([^`]+)`"),
    re.compile(r"Because only ([\w.-]+)[<=>]"),
    re.compile(r"Because ([\w.\[\]-]+)[<=>! ]"),
)
_PROGRESS = re.compile(r"\s*(Resolved|Prepared|Installed|Build|Built|Download|Updat|Updated)")
_OFFLINE = re.compile(
    r"network was disabled|network connectivity is disabled|dns error|[Cc]onnection refused"
    r"|error sending request|timed out"
)


class UvError(Exception):
    """A step of uv failed; `text` is what it said."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    @property
    def missing(self) -> str:
        """Return the package that could not be had, if uv says so."""
        joined = " ".join(self.text.split())
        found = (pattern.search(joined) for pattern in _MISSING)
        return next((match[1] for match in found if match), "")

    @property
    def is_offline(self) -> bool:
        """Return whether there was no network, by uv's account."""
        return _OFFLINE.search(self.text) is not None


async def run_uv(
    uv: Path,
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    say: Callable[[str], None],
) -> None:
    """Run one step in a folder; what it says of its progress is passed on line by line.

    Raises UvError when it fails or takes longer than UV_SECONDS. Cancellation ends it, with all
    that it started.
    """
    process = await asyncio.create_subprocess_exec(
        *(str(uv), *arguments, "--color", "never", "--no-progress"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        cwd=folder,
        start_new_session=True,
    )
    assert process.stderr is not None  # noqa: S101  it is a pipe
    lines = []
    try:
        async with asyncio.timeout(UV_SECONDS):
            while line := await process.stderr.readline():
                lines.append(line.decode(errors="replace").rstrip())
                if _PROGRESS.match(lines[-1]):
                    say(lines[-1])
            status = await process.wait()
    except TimeoutError as error:
        raise UvError(f"it took longer than {UV_SECONDS:g} s") from error
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if status:
        raise UvError("\n".join(lines))
