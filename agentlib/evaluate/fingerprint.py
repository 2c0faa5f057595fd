"""A short text that changes when a function or a value does, and is the same in every process.

What counts of a function: its code, its defaults, what it encloses, and what it names in its own module: functions,
classes, tools and plain values. What it imports counts by name only, so a change inside another module is not noticed.
Another version of Python compiles to other code, and so gives other fingerprints.
"""

from __future__ import annotations

import hashlib
import types
from functools import partial
from typing import Any

from ..tools import Tool

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))
_DATA = (*_PLAIN, list, tuple, set, frozenset, dict, types.FunctionType, type)


def fingerprint(*values: Any) -> str:
    """Give 16 hexadecimal digits for the values."""
    words = "\n".join(_Describer(_home(value)).words(value) for value in values)
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]


def _home(value: Any) -> str | None:
    """Give the name of the module that a value was defined in."""
    return _home(value.func) if isinstance(value, partial) else getattr(value, "__module__", None)


class _Describer:
    """Describes values by their content, never by their address. What was described once is then only counted."""

    def __init__(self, home: str | None) -> None:
        self.home = home
        self.seen: list[Any] = []

    def words(self, value: Any) -> str:
        if isinstance(value, _PLAIN):
            return f"{type(value).__name__}:{value!r}"
        if isinstance(value, tuple):
            return f"({', '.join(map(self.words, value))})"
        if isinstance(value, set | frozenset):
            return f"{{{', '.join(sorted(map(self.words, value)))}}}"
        if isinstance(value, types.CodeType):
            return f"code {value.co_code.hex()} {value.co_names} {self.words(value.co_consts)}"
        for number, each in enumerate(self.seen):
            if value is each:
                return f"again {number}"
        self.seen.append(value)
        return f"{type(value).__qualname__} {self.words(self._parts(value))}"

    def _parts(self, value: Any) -> tuple:
        """Give what makes up a value that is neither plain nor fixed."""
        match value:
            case list():
                return tuple(value)
            case dict():
                return tuple(value.items())
            case types.FunctionType():
                return self._parts_of_function(value)
            case types.MethodType():
                return value.__func__, value.__self__
            case partial():
                return value.func, value.args, value.keywords
            case types.ModuleType() | types.BuiltinFunctionType():
                return (value.__name__,)
            case type():
                return self._parts_of_class(value)
            case classmethod() | staticmethod():
                return (value.__func__,)
            case property():
                return value.fget, value.fset
        return type(value), value.__getstate__()

    def _parts_of_function(self, function: types.FunctionType) -> tuple:
        cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
        given = (function.__module__, function.__name__, function.__defaults__, function.__kwdefaults__, tuple(cells))
        if function.__module__ != self.home:
            return given
        named = [(each, self._own(function.__globals__.get(each))) for each in sorted(_names(function.__code__))]
        return *given, function.__code__, tuple(named)

    def _parts_of_class(self, cls: type) -> tuple:
        members = vars(cls).items() if cls.__module__ == self.home else ()
        kept = [(name, each) for name, each in members if isinstance(each, _MEMBERS) or not name.startswith("__")]
        return cls.__module__, cls.__qualname__, cls.__bases__ if kept else (), tuple(kept)

    def _own(self, value: Any) -> Any:
        """Give a global value if it counts: other objects may change with their use."""
        return value if isinstance(value, (*_DATA, Tool)) else None


_MEMBERS = (types.FunctionType, classmethod, staticmethod, property)


def _names(code: types.CodeType) -> set[str]:
    """Give the names that code and the functions within it look up."""
    inner = [_names(each) for each in code.co_consts if isinstance(each, types.CodeType)]
    return set(code.co_names).union(*inner)


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
