"""What the API refuses about tools: their descriptions, the choice among them, and calls without results."""

import json
import re

from .wrong import APIError, empty_array, missing, wrong_type, wrong_value

MOST_TOOLS = 128
_LONGEST_NAME = 64
_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_DEEPEST = 50  # levels of a schema


def check_tools(body: dict) -> None:
    """Refuse tools that cannot be called, and a choice that is none of them."""
    tools = body.get("tools")
    if tools is None:
        for name in ("tool_choice", "parallel_tool_calls"):
            if body.get(name) not in (None, "none" if name == "tool_choice" else None):
                raise wrong_value(name, f"'{name}' is only allowed when 'tools' are specified.")
        return
    if not isinstance(tools, list):
        raise wrong_type("tools", "an array of objects")
    if not tools:
        raise empty_array("tools")
    if len(tools) > MOST_TOOLS:
        raise APIError(400, f"Invalid 'tools': array too long. Expected an array with maximum length {MOST_TOOLS}, but"
                            f" got an array with length {len(tools)} instead.", param="tools",
                       code="array_above_max_length")
    names = [_checked_name(tool, f"tools[{place}]") for place, tool in enumerate(tools)]
    if not isinstance(body.get("parallel_tool_calls"), bool | None):
        raise wrong_type("parallel_tool_calls", "a boolean")
    _check_choice(body.get("tool_choice"), names)


def check_history(messages: list[dict]) -> None:
    """Refuse results without their call, calls without their result, and calls that are not as the API writes them."""
    waiting: dict[str, None] = {}
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            call_id = message.get("tool_call_id")
            if call_id is None:
                raise missing(f"messages[{place}].tool_call_id")
            if not isinstance(call_id, str):
                raise wrong_type(f"messages[{place}].tool_call_id", "a string")
            if call_id not in waiting:
                raise APIError(400, "Invalid parameter: messages with role 'tool' must be a response to a preceding"
                                    " message with 'tool_calls'.", param=f"messages.[{place}].role")
            del waiting[call_id]
            continue
        _refuse_unanswered(waiting, place)
        if message["role"] == "assistant" and message.get("tool_calls") is not None:
            waiting = dict.fromkeys(_checked_calls(message["tool_calls"], f"messages[{place}].tool_calls"))
    _refuse_unanswered(waiting, len(messages))


def _refuse_unanswered(waiting: dict[str, None], place: int) -> None:
    if waiting:
        raise APIError(400, f"An assistant message with 'tool_calls' must be followed by tool messages responding to"
                            f" each 'tool_call_id'. The following tool_call_ids did not have response messages:"
                            f" {', '.join(waiting)}", param=f"messages.[{place}].role")


def _checked_calls(calls: object, param: str) -> list[str]:
    """Give the ids of calls in the history, after a look at each."""
    if not isinstance(calls, list):
        raise wrong_type(param, "an array of objects")
    if not calls:
        raise empty_array(param)
    for place, call in enumerate(calls):
        where = f"{param}[{place}]"
        if not isinstance(call, dict):
            raise wrong_type(where, "an object")
        if call.get("type") != "function":
            raise _only_functions(f"{where}.type", call.get("type"))
        function = call.get("function")
        if not isinstance(function, dict):
            raise wrong_type(f"{where}.function", "an object")
        for name, value in (("id", call.get("id")), ("function.name", function.get("name")),
                            ("function.arguments", function.get("arguments"))):
            if value is None:
                raise missing(f"{where}.{name}")
            if not isinstance(value, str):
                raise wrong_type(f"{where}.{name}", "a string")
    ids = [call["id"] for call in calls]
    double = next((each for place, each in enumerate(ids) if each in ids[:place]), None)
    if double is not None:
        raise wrong_value(param, f"the id '{double}' is given to two calls.")
    return ids


def _checked_name(tool: object, param: str) -> str:
    """Give the name of a tool, after a look at all of it."""
    if not isinstance(tool, dict):
        raise wrong_type(param, "an object")
    if tool.get("type") != "function":
        raise _only_functions(f"{param}.type", tool.get("type"))
    function = tool.get("function")
    if function is None:
        raise missing(f"{param}.function")
    if not isinstance(function, dict):
        raise wrong_type(f"{param}.function", "an object")
    name, where = function.get("name"), f"{param}.function.name"
    if name is None:
        raise missing(where)
    if not isinstance(name, str):
        raise wrong_type(where, "a string")
    if not _NAME.fullmatch(name):
        raise APIError(400, f"Invalid '{where}': string does not match pattern. Expected a string that matches the"
                            f" pattern '^{_NAME.pattern}$'.", param=where, code="invalid_value")
    if len(name) > _LONGEST_NAME:
        raise APIError(400, f"Invalid '{where}': string too long. Expected a string with maximum length"
                            f" {_LONGEST_NAME}, but got a string with length {len(name)} instead.", param=where,
                       code="string_above_max_length")
    if not isinstance(function.get("description"), str | None):
        raise wrong_type(f"{param}.function.description", "a string")
    if function.get("parameters") is not None:
        _check_parameters(function["parameters"], name, f"{param}.function.parameters")
    return name


def _only_functions(param: str, value: object) -> APIError:
    if value is None:
        return missing(param)
    return APIError(400, f"Invalid value: {json.dumps(value)[:40]}. Supported values are: 'function'.", param=param,
                    code="invalid_value")


def _check_parameters(schema: object, name: str, param: str) -> None:
    """Refuse a schema of a tool's parameters that is none, or not that of an object."""
    if not isinstance(schema, dict):
        raise wrong_type(param, "an object")
    kind = schema.get("type", "object" if "properties" in schema or not schema else None)
    said = None
    if kind != "object":
        said = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: {json.dumps(kind)[:40]}'."
    elif schema and "properties" not in schema:
        said = "In context=(), object schema missing properties."
    said = said or _fault(schema, ())
    if said:
        raise APIError(400, f"Invalid schema for function '{name}': {said}", param=param,
                       code="invalid_function_parameters")


def _fault(schema: object, context: tuple[str, ...]) -> str | None:
    """Say what is wrong with a schema, and where; None if nothing is."""
    where = f"In context=({', '.join(map(repr, context))}{',' * (len(context) == 1)})"
    if isinstance(schema, bool):
        return None
    if not isinstance(schema, dict) or len(context) > _DEEPEST:
        return f"{where}, schema must be an object or a boolean."
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    unknown = next((kind for kind in kinds if kind not in _TYPES), None)
    if unknown is not None:
        return f"{where}, {json.dumps(unknown)[:40]} is not a type."
    if "array" in kinds and "items" not in schema and "prefixItems" not in schema:
        return f"{where}, array schema missing items."
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(each, str) for each in required):
        return f"{where}, 'required' must be an array of strings."
    if not isinstance(schema.get("enum", [1]), list) or not schema.get("enum", [1]):
        return f"{where}, 'enum' must be an array with at least one value."
    for key in ("properties", "$defs", "definitions"):
        if not isinstance(schema.get(key, {}), dict):
            return f"{where}, '{key}' must be an object."
    for key in ("anyOf", "oneOf", "allOf"):
        if not isinstance(schema.get(key, []), list):
            return f"{where}, '{key}' must be an array."
    return next(filter(None, (_fault(part, (*context, *path)) for path, part in _parts(schema))), None)


def _parts(schema: dict) -> list[tuple[tuple[str, ...], object]]:
    """Give the schemas inside a schema, each with its path."""
    found = [((key, str(name)), part) for key in ("properties", "$defs", "definitions")
             for name, part in schema.get(key, {}).items()]
    found += [((key, str(place)), part) for key in ("anyOf", "oneOf", "allOf")
              for place, part in enumerate(schema.get(key, []))]
    return found + [((key,), schema[key]) for key in ("items", "additionalProperties") if key in schema]


def _check_choice(choice: object, names: list[str]) -> None:
    """Refuse a choice that is none of the words and names no tool."""
    if choice is None or choice in ("none", "auto", "required"):
        return
    if isinstance(choice, str):
        raise APIError(400, f"Invalid value: '{choice[:40]}'. Supported values are: 'none', 'auto', and 'required'.",
                       param="tool_choice", code="invalid_value")
    if not isinstance(choice, dict):
        raise wrong_type("tool_choice", "one of 'none', 'auto' and 'required', or an object")
    if choice.get("type") != "function":
        raise _only_functions("tool_choice.type", choice.get("type"))
    function = choice.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise missing("tool_choice.function.name")
    if function["name"] not in names:
        raise wrong_value("tool_choice", f"the function '{function['name'][:64]}' is not in the 'tools' parameter.")
