"""Python as a tool for agents: the model writes code, the sandbox runs it, the model reads what it printed."""

from __future__ import annotations

from collections.abc import Mapping

from ..tools import Tool
from . import run
from .backends import Backend
from .inputs import is_plain
from .policy import Policy
from .result import Result, Status

NAMED = 20  # how many files are named in a result


class CodeFailed(RuntimeError):
    """The code did not end as it should. The text is for the model: how it ended, what it printed, the traceback."""


class PythonSession:
    """The calls of one `python` tool: its policy, and with `keep_files` the working files from call to call.

    `files` holds the working files after the last call, path -> bytes; `results` every result so far, with its
    pictures. No variable outlives its call.
    """

    def __init__(
        self,
        policy: Policy = Policy(),  # noqa: B008 - frozen
        keep_files: bool = False,
        backend: str | Backend | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        self.policy, self.keep_files, self.backend = policy, keep_files, backend
        self.given = dict(files or {})
        self.files = dict(self.given)
        self.results: list[Result] = []

    def python(self, code: str) -> str:
        """Run Python code and give what it prints.

        Args:
            code: the whole program; print what you want to see
        """
        result = run(code, self.files if self.keep_files else self.given, self.policy, self.backend)
        self.results.append(result)
        made = {path for path, data in result.files.items() if self.files.get(path) != data}
        if result.status is not Status.UNAVAILABLE:
            self.files = {path: data for path, data in result.files.items() if is_plain(path)}
        if not result.ok:
            raise CodeFailed(failure(result))
        return success(result, sorted(made))

    def tool(self) -> Tool:
        """Give the tool, named `python`."""
        return Tool(self.python, name="python", description=description(self.policy, self.keep_files))


def python_tool(policy: Policy = Policy(), keep_files: bool = False, backend: str | Backend | None = None) -> Tool:  # noqa: B008
    """Give the sandbox as a tool named `python`, with one parameter, `code`.

    Each call is a run of its own: no variable is kept, and files only with `keep_files`. To give it files or to see
    the pictures, make a `PythonSession` and use its `tool()`. Where no sandbox can run the policy, a call raises
    SandboxUnavailable, which says what to do.
    """
    return PythonSession(policy, keep_files, backend).tool()


def description(policy: Policy, keep_files: bool) -> str:
    """Say to a model what the tool is for and what holds in it."""
    network = f"only {', '.join(policy.network)} on the network" if policy.network else "no network"
    kept = "Files in the working directory are kept between calls" if keep_files else "No files are kept between calls"
    return (
        "Run Python code and give what it prints. Use it for arithmetic, dates, counting, text, data and plots: "
        "whatever must be exact. Print what you want to see; a last expression alone shows nothing. "
        f"Each call is a new program, so no variables are kept. {kept}. "
        f"There is {network}, and at most {policy.seconds:g} seconds."
    )


def success(result: Result, made: list[str]) -> str:
    """Give what the code printed, and the names of the files that it made or changed."""
    lines = [result.stdout.rstrip("\n") or "(the code printed nothing)"]
    if made:
        more = f" and {len(made) - NAMED} more" if len(made) > NAMED else ""
        lines.append(f"[files: {', '.join(made[:NAMED])}{more}]")
    return "\n".join([*lines, *(f"[{note}]" for note in result.truncated)])


def failure(result: Result) -> str:
    """Give how the code failed, what it had printed, and its traceback."""
    how = result.reason or (f"exit code {result.exit_code}" if result.exit_code >= 0 else f"signal {-result.exit_code}")
    printed = f"It had printed:\n{result.stdout}" if result.stdout else ""
    return "\n".join(text.rstrip("\n") for text in (f"{result.status}: {how}", result.stderr, printed) if text)
