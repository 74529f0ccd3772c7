"""Listen where an address says: `unix:PATH` or `tcp:HOST:PORT`.

Knows nothing of what is served there.
"""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

_BACKLOG = 1024
_PROBE_SECONDS = 1.0


class AddressError(Exception):
    """The text is no address, or nothing can listen there."""


@dataclass(frozen=True)
class Listener:
    """A listening socket; `path` is the file of a Unix one."""

    socket: socket.socket
    path: Optional[Path] = None

    def describe(self) -> str:
        """Return the address that clients connect to."""
        if self.path is not None:
            return f"unix:{self.path}"
        host, port = self.socket.getsockname()[:2]
        return f"tcp:{host}:{port}"

    def close(self) -> None:
        """Stop listening and remove the file."""
        self.socket.close()
        if self.path is not None and self.path.exists():
            self.path.unlink()


def is_tcp(address: str) -> bool:
    """Say whether an address is reachable from other machines, so that a token is due."""
    return address.startswith("tcp:")


def listen(address: str) -> Listener:
    """Return a socket that listens at `address`; raises AddressError."""
    scheme, _, place = address.partition(":")
    try:
        if scheme == "unix" and place:
            return _listen_unix(Path(place))
        if scheme == "tcp":
            host, _, port = place.rpartition(":")
            if host and port.isdigit():
                return _listen_tcp(host.strip("[]"), int(port))
    except (OSError, OverflowError) as error:
        raise AddressError(f"cannot listen at {address!r}: {error}") from error
    raise AddressError(f"{address!r} is no address; it must be unix:PATH or tcp:HOST:PORT")


def _listen_unix(path: Path) -> Listener:
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        try:
            found.bind(str(path))
        except OSError as error:
            if error.errno != errno.EADDRINUSE or not _is_abandoned(path):
                raise
            path.unlink()
            found.bind(str(path))
        path.chmod(0o600)
        found.listen(_BACKLOG)
    except OSError:
        found.close()
        raise
    return Listener(found, path)


def _is_abandoned(path: Path) -> bool:
    """Say whether `path` is a socket that nobody listens to any more."""
    if not path.is_socket():
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_SECONDS)
        return probe.connect_ex(str(path)) == errno.ECONNREFUSED


def _listen_tcp(host: str, port: int) -> Listener:
    family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    found = socket.socket(family, kind, protocol)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(place)
        found.listen(_BACKLOG)
    except OSError:
        found.close()
        raise
    return Listener(found)
