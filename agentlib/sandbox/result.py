"""What came of one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """How a run ended."""

    OK = "ok"  # the code ended by itself with exit code 0; that alone never proves that it did what it should
    ERROR = "error"  # it ended by itself in another way: an exception, an exit code, a signal
    TIMEOUT = "timeout"
    MEMORY = "memory"  # it needed more memory than it may use
    OUTPUT_LIMIT = "output_limit"  # it printed far more than is kept, and was killed
    KILLED = "killed"  # it went over another limit (disk, inodes, processes), and was killed
    UNAVAILABLE = "unavailable"  # the sandbox could not be started, so the code did not run


class Files(Mapping[str, bytes]):
    """Files by path, with forward slashes. It cannot be changed, and shows sizes instead of contents."""

    def __init__(self, files: Mapping[str, bytes] | tuple = ()) -> None:
        self._files = dict(files)

    def __getitem__(self, path: str) -> bytes:
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{path!r}: {len(content):,} bytes" for path, content in self._files.items()) + "}"


@dataclass(frozen=True)
class Result:
    """What came of one run.

    `exit_code` is negative for the number of the signal that ended the code, and None when it did not end by itself.
    `files` maps each path in the working directory to the file's bytes.
    `truncated` says in words what is not all there: output that was cut, files that were left out and why.
    `seconds` was measured. `isolation` names the backend that kept the code in, or is "none".
    `reason` says in one line why the run did not end by itself, and is empty when it did.
    """

    status: Status
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    files: Mapping[str, bytes] = field(default_factory=Files)
    truncated: tuple[str, ...] = ()
    seconds: float = 0.0
    isolation: str = "none"
    reason: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", Status(self.status))
        object.__setattr__(self, "files", Files(self.files))
        object.__setattr__(self, "truncated", tuple(self.truncated))

    @property
    def ok(self) -> bool:
        """Whether the code ended by itself with exit code 0."""
        return self.status is Status.OK
