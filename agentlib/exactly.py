"""Text that a person decides on, with nothing hidden in it."""

import json


def exactly(text: str) -> str:
    r"""Give JSON, or a call with arguments in JSON, with what cannot be seen as its \u escape, which says the same.

    A terminal obeys control characters, and others turn the direction of what follows, or take no space at all.
    """
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
