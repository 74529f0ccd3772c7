"""How long tests wait for what must happen: a deadline only guards against a hang.

Knows nothing of what is waited for. A slow or busy machine makes a test take longer and nothing
else, so no claim is about seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable

HANG_SECONDS = 240.0
"""What has not happened by then never will; a whole test may take the `timeout` of pyproject."""
LOOK_SECONDS = 0.01


def wait_until(claim: Callable[[], object]) -> None:
    """Return once `claim()` is true; fail if it does not become so."""
    deadline = time.monotonic() + HANG_SECONDS
    while not claim():
        assert time.monotonic() < deadline, f"not so after {HANG_SECONDS:g} s"
        time.sleep(LOOK_SECONDS)
