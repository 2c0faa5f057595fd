"""When a name that a model wrote is meant to be one that exists: a slip of the pen, and not another word."""

from __future__ import annotations

import re
from collections.abc import Iterable


def meant(written: str, known: Iterable[str]) -> str | None:
    """Give the one known name that `written` is near to, or None where there is none or more than one."""
    near = [name for name in known if is_near(written, name)]
    return near[0] if len(near) == 1 else None


def is_near(written: str, name: str) -> bool:
    """Say whether two names differ in capitals, in - _ and spaces, in one letter, or in a word that was cut short.

    `max_temp` is not near to `min_temp` nor `amount` to `amount_cents`: those are words of their own.
    """
    if len(written) > 64 or len(name) > 64:
        return False
    a, b = (re.sub(r"[\W_]+", "", each.lower()) for each in (written, name))
    if not a or a == b:
        return bool(a)
    return _one_slip(a, b) or _cut_short(written.lower(), name.lower())


def _one_slip(a: str, b: str) -> bool:
    """One letter too many, too few or another one, in a word of five or more; or two neighbours of four swapped."""
    a, b = sorted((a, b), key=len)
    same = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) == len(b):
        rest, other = a[same:], b[same:]
        if rest[:2] == other[1::-1] and rest[2:] == other[2:]:
            return len(a) >= 4 and rest[:2].isalpha()
        return len(b) >= 5 and same > 0 and rest[1:] == other[1:] and (rest[0] + other[0]).isalpha()
    return len(b) >= 5 and same > 0 and a[same:] == b[same + 1 :] and b[same].isalpha()


def _cut_short(written: str, name: str) -> bool:
    """`temp` for `temperature`: at least three letters, and only the rest of the same word is left out."""
    rest = name[len(written) :]
    return len(written) >= 3 and name.startswith(written) and rest.isalpha()
