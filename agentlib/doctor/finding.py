"""What a check found, and how checks are run so that none can stop the others. Standard library only."""

import getpass
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

SAME_LETTERS = re.IGNORECASE if os.name == "nt" else re.NOFLAG  # how paths compare
OK, WARNING, PROBLEM = "ok", "warning", "problem"


@dataclass(frozen=True)
class Finding:
    """One line of the doctor: what was checked, how it stands, what was seen, and what to do about it."""

    check: str
    level: str
    text: str
    fix: str = ""


def run_checks(checks: Iterable[Callable[..., Iterable[Finding]]], *arguments: object) -> Iterator[Finding]:
    """Give what the checks find, without the names of people; a check that fails is a finding too."""
    for check in checks:
        try:
            for finding in check(*arguments):
                yield anonymous(finding)
        except Exception as error:  # whatever it is, the other checks must run
            name = check.__name__.replace("_", " ")
            text = f"the check failed: {type(error).__name__}: {error}"
            yield anonymous(Finding(name, PROBLEM, text, "report this line to the authors of the lessons"))


def anonymous(finding: Finding) -> Finding:
    """Take the home folder and the user's name out of a finding, which may be sent to a teacher."""
    return replace(finding, text=without_names(finding.text), fix=without_names(finding.fix))


def without_names(text: str) -> str:
    """Write ~ for the home folder, and [user] where the user's name is a part of another path."""
    home = str(Path.home())
    for written in {home, os.path.realpath(home)} - {os.sep}:
        text = re.sub(rf"(?<![\w.\-/\\]){re.escape(written)}(?![\w.-])", "~", text, flags=SAME_LETTERS)
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name, as containers have
        return text
    return re.sub(rf"(?<=[/\\]){re.escape(user)}(?=[/\\]|$)", "[user]", text, flags=SAME_LETTERS)


def command(name: str) -> str:
    """Write one of our commands as it is typed on this system."""
    return f"{'py' if os.name == 'nt' else 'python3'} -m agentlib {name}"
