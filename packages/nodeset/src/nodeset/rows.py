"""Check the values of a call, stack them with those of other calls, and split the result again.

Knows nothing of who calls, of queues or of when a batch is due.
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, Iterator, List, Mapping, NoReturn, Sequence, Tuple, Union

import numpy as np

from nodeset.contract import BaseCanvasNode
from nodeset.errors import AuthorError, NodeSetError, PortError
from nodeset.passive import describe
from nodeset.ports import STACKED, PortDef, accept

Row = Dict[str, Any]
Signature = Tuple[Tuple[Any, ...], ...]


def check_inputs(tool: BaseCanvasNode, inputs: Mapping[str, Any]) -> Row:
    """Return one call's inputs as the tool gets them; raises PortError."""
    where = f"{tool.node_type} input"
    row: Row = {}
    missing: List[PortDef] = []
    for port in tool.input_ports:
        name = port.name
        if name in inputs:
            row[name] = accept(port, inputs[name], where)
        elif not port.optional:
            missing.append(port)
    if len(row) != len(inputs):
        _refuse_unknown(tool.input_ports, inputs, where)
    if missing:
        _refuse_missing(missing[0], where)
    return row


def check_outputs(tool: BaseCanvasNode, outputs: Any) -> Row:
    """Return one call's outputs as they leave the tool; raises PortError.

    None at an optional port means that the port was left out.
    """
    where = f"{tool.node_type} output"
    _refuse_other_than_dict(outputs, where)
    row: Row = {}
    for port in tool.output_ports:
        name = port.name
        value = outputs.get(name)
        if value is None and port.optional:
            continue
        if name not in outputs:
            _refuse_unknown(tool.output_ports, outputs, where)
            _refuse_missing(port, where)
        row[name] = accept(port, value, where)
    if len(row) != len(outputs):
        _refuse_unknown(tool.output_ports, outputs, where)
    return row


def volatile_outputs(tool: BaseCanvasNode) -> FrozenSet[str]:
    """Return the names of the outputs that no digest sees."""
    return frozenset(port.name for port in tool.output_ports if port.volatile)


def sign(tool: BaseCanvasNode, row: Row) -> Signature:
    """Return what two rows must have in common to share a batch: ports, kinds, shapes, dtypes."""
    signature: List[Tuple[Any, ...]] = []
    for port in tool.input_ports:
        if port.name not in row:
            continue
        value = row[port.name]
        if is_stacked(port, value):
            signature.append((port.name, value.shape, value.dtype.str))
        else:
            signature.append((port.name,))
    return tuple(signature)


def is_stacked(port: PortDef, value: Any) -> bool:
    """Say whether `port` reaches a batched tool as one array; `ACTION` does if its value is one."""
    if port.wire_type in STACKED:
        return True
    return port.wire_type == "ACTION" and isinstance(value, np.ndarray)


def stack(tool: BaseCanvasNode, rows: Sequence[Row]) -> Dict[str, Any]:
    """Return the inputs of a batched tool for rows of one signature."""
    inputs: Dict[str, Any] = {}
    for port in tool.input_ports:
        if port.name not in rows[0]:
            continue
        values = [row[port.name] for row in rows]
        if is_stacked(port, values[0]):
            stacked = np.stack(values) if len(values) > 1 else values[0][np.newaxis]
            stacked.setflags(write=False)
            inputs[port.name] = stacked
        else:
            inputs[port.name] = values
    return inputs


def split(
    tool: BaseCanvasNode, result: Any, size: int, *, count: int
) -> Iterator[Union[Row, NodeSetError]]:
    """Return the first `count` rows of a result for `size` inputs, each checked when it is taken.

    A row may be its own error. Raises AuthorError if the number of results is wrong, PortError if
    there are no rows at all.
    """
    where = f"{tool.node_type} output"
    _refuse_other_than_dict(result, where)
    columns = {name: _column(tool, name, result[name], size) for name in result}
    return (_take_row(tool, columns, index) for index in range(count))


def _take_row(
    tool: BaseCanvasNode, columns: Mapping[str, Sequence[Any]], index: int
) -> Union[Row, NodeSetError]:
    try:
        return check_outputs(tool, {name: values[index] for name, values in columns.items()})
    except NodeSetError as error:
        return error


def _column(tool: BaseCanvasNode, name: str, values: Any, size: int) -> Sequence[Any]:
    is_array = isinstance(values, np.ndarray) and values.ndim > 0
    if not is_array and not isinstance(values, (list, tuple)):
        raise PortError(
            f"{tool.node_type} output {name!r}: got {describe(values)}, due an array with axis 0 = "
            f"{size} or a list of {size}; a batched tool must return one per input"
        )
    if len(values) != size:
        raise AuthorError(
            f"{tool.node_type} output {name!r}: expected {size} results, got {len(values)}; "
            "a batched tool must return one per input",
            "ResultCountError",
        )
    column: Sequence[Any] = values
    return column


def _refuse_other_than_dict(outputs: Any, where: str) -> None:
    if not isinstance(outputs, dict):
        raise PortError(f"{where}: got {describe(outputs)}, due a dict of port names to values")


def _refuse_unknown(ports: Sequence[PortDef], values: Mapping[str, Any], where: str) -> None:
    names = [port.name for port in ports]
    for name in values:
        if name not in names:
            known = ", ".join(names) or "none"
            raise PortError(f"{where} {name!r}: there is no such port; the ports are: {known}")


def _refuse_missing(port: PortDef, where: str) -> NoReturn:
    raise PortError(
        f"{where} {port.name!r} ({port.wire_type}): got nothing, due a value: the port is required"
    )
