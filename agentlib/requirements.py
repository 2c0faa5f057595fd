"""What the project needs, and whether the running Python has it. Standard library only."""

import re
import tomllib
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

NEWEST_TESTED = (3, 13)  # of the versions of Python


def direct_requirements(pyproject: Path, extras: Sequence[str] = ()) -> list[str]:
    """Read the direct dependencies from pyproject.toml, with those of the `extras`."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return project["dependencies"] + [line for extra in extras for line in project["optional-dependencies"][extra]]


def misfits(requirements: Sequence[str]) -> list[str]:
    """Say what is wrong with each requirement (such as 'openai>=3.57,<4') that the running Python does not meet."""
    wrong = []
    for requirement in requirements:
        name, limits = re.fullmatch(r"([\w.-]+)(?:\[.*\])?(.*)", requirement).groups()
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{name} is missing")
        else:
            wrong += [f"{name} {version} is not {limit}" for limit in limits.split(",") if not within(version, limit)]
    return wrong


def within(version: str, limit: str) -> bool:
    """Tell whether a version meets one limit, '>=3.57' or '<4', by the numbers that it starts with."""
    sign, bound = re.fullmatch(r"(>=|<)(.+)", limit).groups()
    return (numbers(version) < numbers(bound)) == (sign == "<")


def numbers(version: str) -> list[int]:
    """Read the leading numbers, without zeros at the end: '4.6.0rc1' gives [4, 6]."""
    parts = [int(part) for part in re.match(r"\d+(\.\d+)*", version).group().split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return parts
