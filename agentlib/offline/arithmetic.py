"""Sums in the head: exact while the numbers are short, slightly wrong when they are long, as with language models.

The offline model uses it where it has no calculator, and where it makes up what a calculator would say.
"""

import ast
import math
import operator

EXACT_DIGITS = 4  # results with more digits come out wrong in one digit when they are worked out in the head

_BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def in_head(expression: str) -> float | None:
    """Work an expression out in the head; None if it cannot be read or is too hard."""
    try:
        value = _value(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError, TypeError):
        return None
    if abs(value) < 10**EXACT_DIGITS or not any(sign in expression for sign in "*/"):
        return value
    return value + 10 if abs(value) < 10**12 else float(f"{value:.3g}")


def is_easy(expression: str) -> bool:
    """Say whether a sum needs no tool: one sign between two one-digit numbers."""
    parts = expression.split()
    return len(parts) == 3 and all(len(part) == 1 and part.isdigit() for part in parts[::2]) and parts[1] in "+-*"


def _value(node: ast.AST) -> float:
    """Work out one node of the expression."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, exponent = _value(node.left), _value(node.right)
        if abs(exponent) <= 64:
            return float(base**exponent)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        function = {"sqrt": math.sqrt, "abs": abs}.get(node.func.id)
        if function:
            return function(_value(node.args[0]))
    raise ValueError("not arithmetic")
