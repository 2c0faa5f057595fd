"""Mistakes in .env: every line whose setting is not read, or is not read as it was meant. No value is ever shown.

What python-dotenv understands (`export`, quotes, blanks around the =, a byte order mark) is no mistake.
"""

import difflib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from agentlib.doctor.finding import OK, PROBLEM, WARNING, Finding
from agentlib.llm import SETTINGS

FORMER_NAMES = {"OPENAI_API_BASE": "OPENAI_BASE_URL"}  # in older examples
CURLY = "“”„‘’‚«»"


def settings(root: Path, environment: object) -> Iterator[Finding]:
    """Check the .env that the lessons read."""
    path = find(root)
    mistakes = list(check_file(path, root)) if path else []
    yield from mistakes
    for stray in (".env.txt", "env.txt", "env"):
        if path is None and (root / stray).is_file():
            yield Finding("settings", WARNING, f"{stray} is not read", f"rename {stray} to .env")
            return
    if not mistakes:
        yield Finding("settings", OK, ".env has no mistakes" if path else "no .env: the offline model answers")


def find(root: Path) -> Path | None:
    """Give the nearest .env at or above the folder in which the lessons run."""
    lessons = root / "work" / "notebooks"
    return next((path for folder in (lessons, *lessons.parents) if (path := folder / ".env").is_file()), None)


def check_file(path: Path, root: Path) -> Iterator[Finding]:
    """Check one .env as a whole, then its lines."""
    if path.parent != root:
        text = f"the lessons read {path.relative_to(root) if path.is_relative_to(root) else path}"
        yield Finding("settings", WARNING, f"{text}, not the .env beside README.md", "move it there, or leave it so")
    try:
        lines = path.read_bytes().decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        fix = "save it again with the encoding UTF-8, or write it anew from .env.example"
        yield Finding("settings", PROBLEM, ".env is not a text file in UTF-8, and cannot be read", fix)
        return
    except OSError as error:
        fix = "make it a file that you may read, or delete it"
        yield Finding("settings", PROBLEM, f".env cannot be read: {error.strerror}", fix)
        return
    values: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, found = read(line)
        if mistake := check_line(line, name, found, values):
            text, fix = mistake
            yield Finding("settings", WARNING, f".env, line {number}: {text}", fix)
        values[name] = found
    yield from compare(values)


def read(line: str) -> tuple[str, str]:
    """Split a line into its name and its value, without what python-dotenv takes away."""
    name, _, value = re.sub(r"^\s*export\s+", "", line).partition("=")
    value = value.strip()
    if quoted := re.fullmatch(r"""(["'])(.*)\1\s*(?:#.*)?""", value):
        return name.strip(), quoted[2].strip()
    return name.strip(), value if value[:1] in ("'", '"') else re.sub(r"\s+#.*", "", value).strip()


def check_line(line: str, name: str, value: str, before: dict[str, str]) -> tuple[str, str] | None:
    """Say what is wrong with one line, and what to do."""
    if "=" not in line:
        return "there is no = in it", "write NAME=value, or put # before a comment"
    if not re.fullmatch(r"[A-Za-z_]\w*", name):  # the name may be a key in the wrong place: it is not shown
        return "what stands before the = is no name", "write NAME=value, with nothing before the name"
    if name not in SETTINGS:
        return unknown(name)
    if name in before:
        return f"{name} is set a second time, and only the last one counts", "delete one of the lines"
    if value[:1] in ("'", '"'):
        return f"the quotation mark before the value of {name} is not closed", "leave quotation marks out"
    if set(value) & set(CURLY):
        return f"typographic quotation marks are part of the value of {name}", "leave quotation marks out"
    if re.search(r"\s", value):
        return f"there is a blank within the value of {name}", "write the value without blanks"
    if name == "OPENAI_BASE_URL" and value and not re.match(r"https?://\w", value):
        return f"{name} does not start with http:// or https://", "write the whole address"
    if name == "OPENAI_BASE_URL" and value.rstrip("/").endswith("/completions"):
        return f"{name} is the address of one request", "leave /chat/completions out: it is added"
    return None


def unknown(name: str) -> tuple[str, str] | None:
    """Say which name was meant. Names that have nothing to do with ours are somebody else's."""
    former = FORMER_NAMES.get(name.upper())
    near = [former] if former else difflib.get_close_matches(name.upper(), SETTINGS, 1, 0.8)
    if not near and not name.upper().startswith(("AGENTLIB_", "OPENAI_")):
        return None
    return f"{name} is not a setting", f"write {near[0]}" if near else f"the settings are {', '.join(SETTINGS)}"


def compare(values: dict[str, str]) -> Iterator[Finding]:
    """Check what the lines say together, and with the environment's variables, which come first."""
    for name in SETTINGS:
        if values.get(name) and os.environ.get(name, "").strip() not in ("", values[name]):
            text = f"{name} is set in the environment too, and that value is used, not the one in .env"
            yield Finding("settings", WARNING, text, f"remove the variable {name}, then start again")
    model = os.environ.get("AGENTLIB_MODEL", "").strip() or values.get("AGENTLIB_MODEL")
    if values.get("OPENAI_API_KEY") and not model:
        text = ".env has a key, but AGENTLIB_MODEL names no model: the offline model answers"
        yield Finding("settings", WARNING, text, "set AGENTLIB_MODEL to a model's name, or to offline")
