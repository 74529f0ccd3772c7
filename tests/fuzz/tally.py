"""Count what fuzzed input came to, and see whether the process that took it stays as it was.

Knows nothing of what is fuzzed.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HANG_SECONDS = 600.0
"""A case that takes longer ends the program with a traceback."""
MAX_GROWTH_BYTES = 48 * 2**20
SLOW_SECONDS = 5.0
_KEPT_FAILURES = 20


@dataclass(frozen=True)
class Footprint:
    """What a process holds."""

    rss_bytes: int
    descriptors: int

    @classmethod
    def of(cls, pid: int) -> Footprint:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        held = len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208  a count, as quick as it gets
        return cls(pages * os.sysconf("SC_PAGE_SIZE"), held)


@dataclass
class Tally:
    """Outcomes by the rule that refused; `failures` are what must never happen."""

    rules: Mapping[str, str]
    """Name of a rule -> a pattern of its message."""
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest_seconds: float = 0.0
    _known: set[str] = field(default_factory=set)

    def accepted(self) -> None:
        self.outcomes["accepted"] += 1

    def refused(self, message: str, case: object) -> None:
        """Count a refusal under the rule that its message names; one of no rule is a failure."""
        for name, pattern in self.rules.items():
            if re.search(pattern, message):
                self.outcomes[name] += 1
                return
        self.failed(f"a refusal that names no rule: {message[:300]!r}", case)

    def failed(self, what: str, case: object) -> None:
        self.outcomes["FAILED"] += 1
        if what not in self._known and len(self._known) < _KEPT_FAILURES:
            self.failures.append(f"{what} at {str(case)[:2000]}")
        self._known.add(what)

    def run(self, count: int, one: Callable[[int], None]) -> None:
        """Do case 0 to `count` - 1; whatever one raises is a failure; watch time, memory, files."""
        pid = os.getpid()
        warm = max(1, count // 5)
        before = Footprint.of(pid)
        for number in range(count):
            if number % 500 == 0:
                faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
            if number == warm:
                gc.collect()
                before = Footprint.of(pid)
            begun = time.process_time()
            try:
                one(number)
            except Exception as error:  # noqa: BLE001  the very thing that is looked for
                self.failed(f"{type(error).__module__}.{type(error).__name__}: {error}", number)
            self.slowest_seconds = max(self.slowest_seconds, time.process_time() - begun)
        faulthandler.cancel_dump_traceback_later()
        gc.collect()
        self.compare(before, Footprint.of(pid))
        if self.slowest_seconds > SLOW_SECONDS:
            self.failed(f"a case took {self.slowest_seconds:.1f} s of processor time", "")

    def compare(self, before: Footprint, after: Footprint) -> None:
        """Fail if the process grew or kept files."""
        self.outcomes["grown KiB"] = (after.rss_bytes - before.rss_bytes) // 1024
        if after.rss_bytes - before.rss_bytes > MAX_GROWTH_BYTES:
            self.failed(f"memory grew from {before.rss_bytes} to {after.rss_bytes} bytes", "")
        if after.descriptors > before.descriptors:
            self.failed(f"files grew from {before.descriptors} to {after.descriptors}", "")

    def describe(self) -> str:
        lines = [f"{count:>9}  {name}" for name, count in self.outcomes.most_common()]
        lines.append(f"slowest case: {self.slowest_seconds * 1e3:.1f} ms of processor time")
        return "\n".join([*lines, *(f"FAILURE: {failure}" for failure in self.failures)])
