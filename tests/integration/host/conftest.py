"""Give tests copies in processes of their own.

Knows nothing of what the tests ask of them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.integration.host.client import Client
from tests.integration.host.starter import Host


@pytest.fixture
def host() -> Iterator[Host]:
    """Give a starter of copies, and end them all afterwards."""
    with tempfile.TemporaryDirectory(prefix="wf") as folder:
        found = Host(Path(folder))
        yield found
        found.stop()


@pytest.fixture
def line(host: Host) -> str:
    """Give the address of an initialized copy of the shared nodeset `line`."""
    _, url = host.start("line.py", "--tag", "line#0")
    host.connect(url).request("initialize")
    return url


@pytest.fixture
def open_clients(host: Host, line: str) -> Callable[[int], list[Client]]:
    """Give a function that connects that many workers to `line`, each with an episode open."""
    return partial(host.open_clients, line)
