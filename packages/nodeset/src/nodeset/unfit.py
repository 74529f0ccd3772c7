"""Say which port's value is to blame where a message can't be encoded.

Knows nothing of who sends it: it looks only after the encoding has failed.
"""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional

from nodeset.errors import WireError
from nodeset.ports import PortDef
from nodeset.wire import encode


def name_unfit(
    error: WireError,
    where: str,
    values: Mapping[str, Any],
    *,
    ports: Iterable[PortDef] = (),
) -> WireError:
    """Return the error with `where` and the port whose value can't cross by itself, if one can't.

    `where` is such as `env_line__step output`.
    """
    types = {port.name: f" ({port.wire_type})" for port in ports}
    for name, value in values.items():
        reason = _why_not(name, value)
        if reason is not None:
            return WireError(f"{where} {name!r}{types.get(name, '')}: {reason}")
    return WireError(f"{where}: {error}")


def _why_not(name: str, value: Any) -> Optional[str]:
    try:
        encode({"outputs": {name: value}})
    except WireError as error:
        return str(error)
    return None
