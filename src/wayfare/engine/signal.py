"""What stands at a port when no value does.

Knows nothing else.
"""

from __future__ import annotations

from enum import Enum
from typing import Any


class Signal(Enum):
    """`OFF`: nothing will come this time. `FAILED`: something that this depends on failed."""

    OFF = "off"
    FAILED = "failed"


OFF: Any = Signal.OFF
FAILED: Any = Signal.FAILED
