"""Tools: Python functions that a model may call, described by a schema, their arguments checked before they run.

pydantic makes the schema from the signature and validates; this module decides what counts as an unambiguous repair,
and words every error so that a model can act on it.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_type_hints

MAX_OBSERVATION = 4_000  # characters of a result that the model gets to see

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what the chat completions API accepts


class ToolDefinitionError(TypeError):
    """A function that cannot be described to a model. Raised when the tool is defined, not when it is called."""


class ArgumentsError(ValueError):
    """Arguments that do not fit the tool. The text names every field at fault and is written for the model."""


@dataclass(frozen=True)
class Outcome:
    """What came of a call: the text of the result or of the error. `kind` is ok, unknown_tool, bad_arguments or
    tool_error; `repairs` says what was changed in the arguments, such as "n: str to int"."""

    text: str
    kind: str = "ok"
    repairs: tuple[str, ...] = ()

    @property
    def is_error(self) -> bool:
        return self.kind != "ok"


class Tool:
    """A function with a name, a description and a schema of its parameters. It can still be called as it was."""

    def __init__(self, function: Callable, name: str | None = None, description: str | None = None) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "") if name is None else name
        if not _NAME.fullmatch(self.name):
            raise ToolDefinitionError(f"{self.name!r} cannot be a tool's name: use 1 to 64 of A-Z a-z 0-9 _ -")
        self._fields = _parameters(function, self.name)
        self.description = _summary(function) if description is None else description

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Tool({self.signature})"

    @cached_property
    def parameters(self) -> dict:
        """The JSON Schema of the arguments: always an object."""
        schema = self._model.model_json_schema()
        return {"type": "object", "properties": {}} | {k: v for k, v in schema.items() if k != "title"}

    @cached_property
    def signature(self) -> str:
        """The tool in one line for a prompt, such as `weather(city: string, days: integer = 1)`."""
        parts = []
        for name, schema in self.parameters["properties"].items():
            default = f" = {json.dumps(schema['default'], ensure_ascii=False)}" if "default" in schema else ""
            parts.append(f"{name}: {_type_words(schema)}{default}")
        return f"{self.name}({', '.join(parts)})"

    def bind(self, arguments: dict) -> tuple[dict, tuple[str, ...]]:
        """Give the arguments as the function wants them, and the repairs made. Raises ArgumentsError."""
        from pydantic import ValidationError

        try:
            return self._validate(arguments), ()
        except ValidationError as error:
            repaired, repairs = _coerce(arguments, error.errors(include_url=False))
            if repairs:
                try:
                    return self._validate(repaired), repairs
                except ValidationError:
                    pass  # the first error names the fields as the model wrote them
            raise ArgumentsError(_explain(error.errors(include_url=False), list(self._fields))) from None

    def _validate(self, arguments: dict) -> dict:
        model = self._model.model_validate_json(json.dumps(arguments), strict=True)
        return {name: getattr(model, alias) for name, alias in self._aliases.items()}

    @cached_property
    def _aliases(self) -> dict[str, str]:
        return {name: f"field_{i}" for i, name in enumerate(self._fields)}  # a parameter may be named like a method

    @cached_property
    def _model(self) -> Any:
        from pydantic import ConfigDict, Field, create_model

        fields = {
            self._aliases[name]: (hint, Field(**({} if default is _REQUIRED else {"default": default}), alias=name))
            for name, (hint, default) in self._fields.items()
        }
        return create_model(self.name, __config__=ConfigDict(extra="forbid", arbitrary_types_allowed=False), **fields)


def tool(function: Callable) -> Tool:
    """Make a function a tool: `@tool` above its definition."""
    return Tool(function)


class Toolbox:
    """The tools of one agent, by name."""

    def __init__(self, tools: Iterable[Tool | Callable]) -> None:
        self.tools: dict[str, Tool] = {}
        for each in tools:
            made = each if isinstance(each, Tool) else Tool(each)
            if made.name in self.tools:
                raise ToolDefinitionError(f"two tools are named {made.name!r}")
            self.tools[made.name] = made

    def describe(self) -> str:
        """Give the tools as a list for a prompt, one line each."""
        return "\n".join(f"- {tool.signature}: {tool.description}" for tool in self.tools.values()) or "(no tools)"

    def resolve(self, name: str, arguments: str) -> tuple[str, str]:
        """Give a call with the tool's own name and its parameters' names, where what was written is unambiguous.

        `Search` means `search` when only that exists; the positional keys "0", "1" … take the names in their order.
        """
        same = [known for known in self.tools if known.lower() == name.lower()]
        name = same[0] if name not in self.tools and len(same) == 1 else name
        if name not in self.tools:
            return name, arguments
        names = list(self.tools[name].parameters["properties"])
        given = json.loads(arguments)
        positions = {str(i): known for i, known in enumerate(names) if known not in given and str(i) not in names}
        return name, json.dumps({positions.get(key, key): value for key, value in given.items()}, ensure_ascii=False)

    def run(self, name: str, arguments: str) -> Outcome:
        """Check the arguments (the text of a JSON object), call the tool and give what came of it, errors too."""
        if name not in self.tools:
            return Outcome(f"Error: unknown tool {name!r}. The tools are: {', '.join(self.tools)}", "unknown_tool")
        tool = self.tools[name]
        try:
            values, repairs = tool.bind(json.loads(arguments))
        except ArgumentsError as error:
            return Outcome(f"Error: {error}. The tool is {tool.signature}", "bad_arguments")
        try:
            return Outcome(_to_text(_finished(tool.function(**values))), "ok", repairs)
        except Exception as error:  # whatever a tool raises is for the model; KeyboardInterrupt is for the person
            said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return Outcome(f"Error: {said}", "tool_error", repairs)


def shorten(text: str, limit: int = MAX_OBSERVATION) -> str:
    """Keep the head and the tail of a text that is longer than `limit` characters, and say what was left out."""
    if len(text) <= limit:
        return text
    marker = f"\n[… {len(text)} characters, truncated …]\n"
    head = (limit - len(marker)) * 2 // 3
    return text[:head] + marker + text[len(text) - (limit - len(marker) - head) :]


# -- from a function to fields

_REQUIRED = object()


def _parameters(function: Callable, name: str) -> dict[str, tuple[Any, Any]]:
    """Give each parameter's type and default. Refuses what a model cannot be told about."""
    try:
        hints = get_type_hints(inspect.unwrap(getattr(function, "__func__", function)), include_extras=True)
    except NameError as error:
        raise ToolDefinitionError(f"tool {name!r}: {error}") from None
    fields = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ToolDefinitionError(f"tool {name!r}: parameter {str(parameter)!r} cannot be described to a model")
        if parameter.name in ("self", "cls"):
            raise ToolDefinitionError(f"tool {name!r}: {parameter.name!r} is open; give the method of an object")
        default = _REQUIRED if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints.get(parameter.name, Any), default)
    return fields


def _summary(function: Callable) -> str:
    """Give the docstring up to its section on arguments, on one line."""
    section = re.compile(r"^\s*(?:Args|Arguments|Parameters|Returns|Raises)\b.*$", re.MULTILINE)
    return " ".join(section.split(inspect.getdoc(function) or "", maxsplit=1)[0].split())


def _type_words(schema: dict) -> str:
    if "enum" in schema:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type_words(each) for each in schema["anyOf"])
    return schema.get("type", "any")


# -- from arguments to values


def _coerce(arguments: dict, errors: list[dict]) -> tuple[dict, tuple[str, ...]]:
    """Change each scalar that the schema refused into the type it wants, where nothing is lost by it."""
    repaired, repairs = dict(arguments), []
    for error in errors:
        convert, value = _LOSSLESS.get(error["type"]), error["input"]
        if convert and len(error["loc"]) == 1 and (converted := convert(value)) is not None:
            name = error["loc"][0]
            repaired[name] = converted
            repairs.append(f"{name}: {type(value).__name__} to {type(converted).__name__}")
    return repaired, tuple(repairs)


def _number(kind: type, pattern: str) -> Callable[[Any], Any]:
    return lambda value: kind(value) if isinstance(value, str) and re.fullmatch(pattern, value.strip()) else None


_LOSSLESS = {
    "int_type": _number(int, r"[+-]?\d{1,18}"),
    "float_type": _number(float, r"[+-]?\d{1,18}(\.\d{1,18})?([eE][+-]?\d{1,2})?"),
    "bool_type": lambda value: {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None,
    "string_type": lambda value: json.dumps(value) if type(value) in (int, float) else None,
}


def _explain(errors: list[dict], allowed: list[str]) -> str:
    """Name what is missing, what is unexpected and what has the wrong type, in words a model can act on."""
    names = {kind: [str(e["loc"][0]) for e in errors if e["type"] == kind] for kind in ("missing", "extra_forbidden")}
    wrong = [e for e in errors if e["type"] not in names]
    parts = [f"missing: {', '.join(names['missing'])}"] if names["missing"] else []
    if names["extra_forbidden"]:
        parts.append(f"unexpected: {', '.join(names['extra_forbidden'])} (allowed: {', '.join(allowed) or 'none'})")
    parts += [f"{'.'.join(map(str, e['loc']))}: {e['msg']}, got {json.dumps(e['input'])[:60]}" for e in wrong]
    return "; ".join(parts)


def _finished(result: Any) -> Any:
    """Wait for the result of an async function, also where an event loop already runs, as in a notebook."""
    if not inspect.isawaitable(result):
        return result

    async def wait() -> Any:
        return await result

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, wait()).result()


def _to_text(result: Any) -> str:
    if isinstance(result, str):
        return result
    try:
        return json.dumps(result, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(result)
