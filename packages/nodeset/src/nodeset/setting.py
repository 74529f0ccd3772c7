"""Read a nodeset's configuration: each setting held to its rule, and refused by its name.

Knows nothing of any nodeset's settings, or of where they were set.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, Dict, Mapping, NoReturn, Optional, Sequence, Tuple

from nodeset.errors import SettingError

MAX_WHOLE = 2**31 - 1
MAX_SHOWN = 80
MAX_PATH_BYTES, MAX_NAME_BYTES = 4095, 255


class Settings:
    """The configuration of `owner`: a nodeset's name, or a tool's node type for `ctx.config`.

    Every method returns the setting of a key that the configuration has, or raises SettingError.
    """

    def __init__(self, config: Mapping[str, Any], owner: str) -> None:
        self._config = config
        self._owner = owner

    def is_given(self, key: str) -> bool:
        """Return whether it is set to anything but None."""
        return self._config[key] is not None

    def whole(self, key: str, least: int = 0, most: int = MAX_WHOLE) -> int:
        """Return a whole number within bounds."""
        value = self._config[key]
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self.refuse(key, f"a whole number from {least} to {most}")
        return value

    def number(
        self, key: str, least: float = -math.inf, most: float = math.inf, *, is_above: bool = False
    ) -> float:
        """Return a finite number within bounds; `is_above`: it is not `least` itself."""
        value = self._config[key]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        # As they are: a whole number may be too large for a float.
        is_within = is_number and least <= value <= most and abs(value) < math.inf
        if not is_within or (is_above and value == least):
            self.refuse(key, _describe_range(least, most, is_above=is_above))
        try:
            return float(value)
        except OverflowError:
            self.refuse(key, _describe_range(least, most, is_above=is_above))

    def flag(self, key: str) -> bool:
        """Return true or false."""
        value = self._config[key]
        if not isinstance(value, bool):
            self.refuse(key, "true or false")
        return value

    def text(self, key: str, *, may_be_empty: bool = False) -> str:
        """Return a text."""
        value = self._config[key]
        if not isinstance(value, str) or not (value.strip() or (may_be_empty and not value)):
            self.refuse(key, "a text" if may_be_empty else "a text that is not empty")
        return value

    def choice(self, key: str, options: Sequence[str]) -> str:
        """Return one of the options."""
        value = self._config[key]
        if not isinstance(value, str) or value not in options:
            self.refuse(key, f"one of {', '.join(options)}")
        return value

    def path(self, key: str, *, may_be_empty: bool = False) -> str:
        """Return a text that a file or folder can have as its path; `~` is left as it is."""
        value = self.text(key, may_be_empty=may_be_empty)
        reason = _why_no_path(value)
        if reason is not None:
            self.refuse(key, f"the path of a file or folder, and {reason}")
        return value

    def mapping(self, key: str) -> Dict[str, Any]:
        """Return an object: its keys are texts."""
        value = self._config[key]
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            self.refuse(key, "an object (key: value)")
        return dict(value)

    def texts(self, key: str) -> Tuple[str, ...]:
        """Return a list of texts, none of them empty."""
        value = self._config[key]
        is_list = isinstance(value, (list, tuple))
        if not is_list or not all(isinstance(item, str) and item.strip() for item in value):
            self.refuse(key, "a list of texts that are not empty")
        return tuple(value)

    def refuse(self, key: str, rule: str, because: Optional[BaseException] = None) -> NoReturn:
        """Raise the SettingError that says what the setting is and what it must be.

        `because`: what went wrong with it; its text is told too.
        """
        shown = repr(self._config[key])
        shown = shown if len(shown) <= MAX_SHOWN else shown[: MAX_SHOWN - 3] + "..."
        told = "" if because is None else f" ({type(because).__name__}: {because})"
        place = "nodes.ID" if "__" in self._owner else f"nodesets.{self._owner}"
        raise SettingError(
            f"{self._owner}: setting {key!r} is {shown}; it must be {rule}{told}: "
            f"--set {place}.{key}=VALUE sets it"
        ) from because


def _describe_range(least: float, most: float, *, is_above: bool) -> str:
    lower = f"above {least:g}" if is_above else f"from {least:g}"
    if math.isinf(least):
        return "a finite number" if math.isinf(most) else f"a finite number up to {most:g}"
    return f"a finite number {lower}" + ("" if math.isinf(most) else f" to {most:g}")


def _why_no_path(text: str) -> Optional[str]:
    """Return why no file can have the path, or none."""
    if "\0" in text:
        return "no file's has a NUL in it"
    try:
        path = Path(text).expanduser()
        parts = [os.fsencode(part) for part in path.parts]
    except (RuntimeError, UnicodeEncodeError) as error:
        return f"this is none ({error})"
    if len(os.fsencode(path)) > MAX_PATH_BYTES or any(len(part) > MAX_NAME_BYTES for part in parts):
        return "none is that long"
    return None
