"""Read literals from a syntax tree; numbers may be computed of number literals, within bounds.

Knows nothing of nodesets. Runs nothing: names and calls are refused.
"""

from __future__ import annotations

import ast
import math
import operator
from typing import Any, Callable, Dict, Type, Union

MAX_BITS = 128
"""How large a whole number may be that takes part in arithmetic or comes of it."""
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What `ast` raises for text that is no Python, or that is nested too deep."""
_Number = Union[int, float]
_OPERATORS: Dict[Type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}


class LiteralError(ValueError):
    """An expression is no literal; the message says what it must be, as in "it must …"."""


def read_literal(value: ast.expr) -> Any:
    """Return the value of a literal. Raises LiteralError."""
    try:
        return ast.literal_eval(_Arithmetic().visit(value))
    except LiteralError:
        raise
    except (*UNREADABLE, TypeError) as error:
        raise LiteralError(
            "must be a literal, or arithmetic of number literals such as 300 * 2**20"
        ) from error


class _Arithmetic(ast.NodeTransformer):
    """Puts numbers in the place of the arithmetic that they come of, the innermost first."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left, right = _number(node.left), _number(node.right)
        if type(node.op) not in _OPERATORS or left is None or right is None:
            return node
        return ast.copy_location(ast.Constant(_compute(left, node.op, right)), node)


def _number(node: ast.expr) -> Any:
    """Return the number that stands there, with its sign; none where it is no int or float."""
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) in (int, float) else None


def _compute(left: _Number, sign: ast.operator, right: _Number) -> _Number:
    if isinstance(sign, ast.Pow):
        _check_power(left, right)
    try:
        result: Any = _OPERATORS[type(sign)](_check(left), _check(right))
    except ArithmeticError as error:
        raise LiteralError(f"must be a number; the arithmetic fails: {error}") from error
    if isinstance(result, complex):
        raise LiteralError("must be a number that is not complex")
    number: _Number = _check(result)
    return number


def _check_power(base: _Number, exponent: _Number) -> None:
    """Refuse a power that would take long to compute, before it is computed."""
    if isinstance(base, int) and isinstance(exponent, int):
        bits = (abs(base) - 1).bit_length() if base else 0  # 2**20 has 21 bits, not 40
        if bits * abs(exponent) > MAX_BITS:
            _refuse_size()


def _check(number: Any) -> Any:
    is_bounded = number.bit_length() <= MAX_BITS if isinstance(number, int) else True
    if not is_bounded or not math.isfinite(number):
        _refuse_size()
    return number


def _refuse_size() -> None:
    raise LiteralError(f"must be finite, and whole numbers in its arithmetic below 2**{MAX_BITS}")
