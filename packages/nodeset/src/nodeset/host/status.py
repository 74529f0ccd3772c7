"""How a copy's process ends.

Knows nothing of who reads the status.
"""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """The exit status of `python -m nodeset host`."""

    OK = 0
    WRONG_USAGE = 2
    CONTRACT_REFUSED = 3
    IMPORT_FAILED = 4
    CANNOT_LISTEN = 5
    INITIALIZE_FAILED = 6
    SHUTDOWN_FAILED = 7
    SERVER_FAILED = 8
