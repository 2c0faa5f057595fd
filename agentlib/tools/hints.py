"""Type hints as pydantic wants them: a note in `Annotated` is a description, and an old TypedDict is a new one."""

from __future__ import annotations

import inspect
import sys
import types
import typing
from dataclasses import dataclass
from typing import Annotated, Any, Optional, get_args, get_origin


@dataclass(frozen=True)
class Hinted:
    """The type of a parameter and its default, as in the signature."""

    hint: Any
    default: Any


def described_as(hinted: Hinted, name: str, said: str | None) -> tuple[Any, Any]:
    """Give the type and the field of a pydantic model. What `Annotated` says goes before what the docstring says."""
    from pydantic import Field
    from pydantic.fields import FieldInfo

    hint, default = hinted.hint, hinted.default
    is_field = isinstance(default, FieldInfo)
    if (default.default if is_field else default) is None:  # `n: int = None` takes None
        hint = Optional[hint]  # noqa: UP045 - a hint that is still a text has no `|`
    if is_field:  # n: int = Field(3, description="How many.")
        hint, default = Annotated[hint, default], inspect.Parameter.empty
    words = note(hint) or _described(hint) or said
    options = {"alias": name} | ({"description": words} if words else {})
    return hint, Field(**options, **({} if default is inspect.Parameter.empty else {"default": default}))


def _described(hint: Any) -> str | None:
    """Give the description in `Annotated[int, Field(description=...)]`, also where that stands in an Optional."""
    from pydantic.fields import FieldInfo

    said = [each.description for each in getattr(hint, "__metadata__", ()) if isinstance(each, FieldInfo)]
    inner = get_args(hint) if get_origin(hint) in (typing.Union, types.UnionType) else ()
    return next((each for each in [*reversed(said), *map(_described, inner)] if each), None)


def note(hint: Any) -> str | None:
    """Give the text in `Annotated[int, "How many."]`, also where that stands in an Optional."""
    if get_origin(hint) is Annotated:
        return next((each for each in hint.__metadata__ if isinstance(each, str)), None) or note(get_args(hint)[0])
    if get_origin(hint) in (typing.Union, types.UnionType):
        return next((found for each in get_args(hint) if (found := note(each))), None)
    return None


def for_pydantic(hint: Any) -> Any:
    """Give a hint whose `typing.TypedDict`s are those of typing_extensions, which pydantic needs before 3.12."""
    if sys.version_info >= (3, 12):
        return hint
    if typing.is_typeddict(hint) and type(hint).__module__ == "typing":
        return _new_typed_dict(hint)
    inner = get_args(hint)
    new = tuple(for_pydantic(each) if not isinstance(each, list) else each for each in inner)
    if all(a is b for a, b in zip(inner, new, strict=True)) or get_origin(hint) is typing.Literal:
        return hint
    if get_origin(hint) is types.UnionType:
        return typing.Union[new]  # noqa: UP007 - `|` takes no tuple
    if get_origin(hint) is Annotated:
        return hint.copy_with(new[:1])
    return get_origin(hint)[new[0] if len(new) == 1 else new]


def _new_typed_dict(old: Any) -> Any:
    import typing_extensions

    hints = typing.get_type_hints(old, include_extras=True)
    fields = {}
    for name, hint in hints.items():
        said = get_origin(hint) in (typing.Required, typing.NotRequired)  # as texts they are not in __optional_keys__
        optional = name in old.__optional_keys__ and not said
        fields[name] = typing_extensions.NotRequired[for_pydantic(hint)] if optional else for_pydantic(hint)
    return typing_extensions.TypedDict(old.__name__, fields)
