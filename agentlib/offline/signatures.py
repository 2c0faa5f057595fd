"""The parameters of a tool, those that must be given and those that may be left out.

Where the request holds a schema they come from it. A prompt writes them as a signature, such as
`city: string, unit: "celsius" or "fahrenheit" or null = null`: here it is read.
"""

import json
import re
from functools import lru_cache

from .offered import Parameter, Tool

_COMMA = re.compile(r",\s*(?=[`*]*[A-Za-z_]\w*\s*(?::|=|,|$))")
_KINDS = {"string": "string", "str": "string", "text": "string", "integer": "integer", "int": "integer",
          "number": "number", "float": "number", "boolean": "boolean", "bool": "boolean", "array": "array",
          "list": "array", "object": "object", "dict": "object"}


def required(tool: Tool) -> tuple[Parameter, ...]:
    """Give the parameters that a call must fill."""
    if tool.schema is not None:
        return tool.schema
    return tuple(part for part in _read(tool.signature) if part.name in tool.parameters)


def optional(tool: Tool) -> tuple[Parameter, ...]:
    """Give the parameters that a call may leave out."""
    if tool.schema is not None:
        return tool.optional
    return tuple(part for part in _read(tool.signature) if part.name not in tool.parameters)


@lru_cache(maxsize=512)  # a conversation is read again with each request
def _read(signature: str) -> tuple[Parameter, ...]:
    """Read a signature."""
    return tuple(_parameter(part) for part in _COMMA.split(signature) if part.strip())


def _parameter(written: str) -> Parameter:
    """Read one parameter: its name, its type or the values allowed, and whether it may be null."""
    name, _, rest = written.partition(":") if ":" in written.partition("=")[0] else written.partition("=")
    kinds = [each.strip(" ?") for each in re.split(r" or |\|", rest.partition("=")[0])]
    choices = tuple(json.loads(each) for each in kinds if re.fullmatch(r'"[^"\\]*"|-?\d+', each))
    named = [_KINDS[each.lower()] for each in kinds if each.lower() in _KINDS]
    return Parameter(name.strip("`* ?"), named[0] if named else "string" if choices else "any", choices=choices,
                     may_be_null="null" in kinds or "None" in kinds)
