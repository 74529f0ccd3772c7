"""Let one nodeset's code see another time of day, so that what depends on it shows.

Knows nothing of checks. Wall clocks only: what measures durations stays as it is.
"""

from __future__ import annotations

import datetime as dt
import sys
import time
from typing import Any, Callable, Dict

from nodeset.loading import NAMESPACE

_now = time.time
_now_ns = time.time_ns
_localtime = time.localtime
_gmtime = time.gmtime
_strftime = time.strftime
_ctime = time.ctime
_Date = dt.date
_Datetime = dt.datetime


def shift_clock(seconds: float) -> None:
    """Set the wall clock that Python code of this process sees ahead by so much."""
    replaced = {**_make_functions(seconds), **_make_dates(seconds)}
    for name in ("time", "time_ns", "localtime", "gmtime", "strftime", "ctime"):
        setattr(time, name, replaced[id(getattr(time, name))])
    for name in ("date", "datetime"):
        setattr(dt, name, replaced[id(getattr(dt, name))])
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith(NAMESPACE + "."):
            for name, value in list(vars(module).items()):
                if id(value) in replaced:
                    setattr(module, name, replaced[id(value)])


def _make_functions(seconds: float) -> Dict[int, Any]:
    """Return what stands for each function of `time`, by the identity of the real one."""

    def reading(read: Callable[..., Any]) -> Callable[..., Any]:
        def shifted(at: Any = None) -> Any:
            return read(_now() + seconds if at is None else at)

        return shifted

    def format_time(form: str, at: Any = None) -> str:
        return _strftime(form, _localtime(_now() + seconds) if at is None else at)

    return {
        id(_now): lambda: _now() + seconds,
        id(_now_ns): lambda: _now_ns() + int(seconds * 1e9),
        id(_localtime): reading(_localtime),
        id(_gmtime): reading(_gmtime),
        id(_ctime): reading(_ctime),
        id(_strftime): format_time,
    }


def _make_dates(seconds: float) -> Dict[int, Any]:
    delta = dt.timedelta(seconds=seconds)

    class IsDate(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, _Date)

    class IsDatetime(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, _Datetime)

    class ShiftedDate(_Date, metaclass=IsDate):
        @classmethod
        def today(cls) -> Any:
            return (_Datetime.now() + delta).date()

    class ShiftedDatetime(_Datetime, metaclass=IsDatetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return _Datetime.now(tz) + delta

        @classmethod
        def utcnow(cls) -> Any:
            return _Datetime.utcnow() + delta

        @classmethod
        def today(cls) -> Any:
            return _Datetime.now() + delta

    return {id(_Date): ShiftedDate, id(_Datetime): ShiftedDatetime}
