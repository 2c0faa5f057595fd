"""Where a tool's signature, its annotations and its docstring are written: below partials, wrappers and methods."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any


def signature(function: Callable) -> inspect.Signature:
    """Give the signature without the arguments that a partial has filled in: they are not for the model to choose.

    Raises TypeError or ValueError where there is none.
    """
    found = inspect.signature(function)
    return found.replace(parameters=[p for name, p in found.parameters.items() if name not in hidden(function)])


def hidden(function: Callable) -> set[str]:
    """Give the names of the parameters that partials have filled in."""
    names: set[str] = set()
    while isinstance(function, functools.partial):
        bound = inspect.signature(function.func).bind_partial(*function.args, **function.keywords)
        names |= set(bound.arguments)
        function = function.func
    return names


def resolved_hint(function: Callable, parameter: inspect.Parameter) -> Any:
    """Give the type of a parameter, evaluated where its annotation is a text. Whatever that raises is raised."""
    if parameter.annotation is inspect.Parameter.empty:
        return Any
    names = getattr(written(function), "__globals__", {})
    holder = types.SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    return typing.get_type_hints(holder, dict(names), include_extras=True)[parameter.name]


def written(function: Callable) -> Callable:
    """Give the function that stands in the source: below partials, wrappers, methods and callable objects."""
    for _ in range(100):
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif inspect.isclass(function):
            return function.__init__
        elif inspect.isroutine(function):
            return function
        else:
            function = type(function).__call__
    return function


def documented(function: Callable) -> str | None:
    """Give the docstring of the function that is called, or that of the class of a callable object."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isroutine(function) or inspect.isclass(function):
        return inspect.getdoc(function)
    return inspect.getdoc(type(function).__call__) or inspect.getdoc(function)


def named(function: Callable) -> str:
    """Give the name of a function, or that of the function below a partial; an object has none."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__name__", "")
