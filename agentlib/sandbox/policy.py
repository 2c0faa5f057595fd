"""What a run may use and touch. Every limit is hard: a backend that cannot enforce one says so and is not used."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 1_000_000  # seconds; waiting without an end is no limit


class PolicyError(ValueError):
    """A policy that cannot be meant, such as a limit below zero. The text says which field is at fault."""


@dataclass(frozen=True)
class Policy:
    """The limits of one run of untrusted code.

    seconds    time on the clock from the first line to the last exit handler
    memory     MB of address space; where `processes` is more than one, of each process, and in use by all together
    processes  processes at once, the code's own included; with one, the code cannot start any (threads are free)
    output     bytes kept of stdout, and of stderr; what writes many times as much is killed
    disk       MB in all the files that the code writes
    inodes     files and folders that the code makes
    read       files and folders of the host, by absolute path, that the code may read besides Python itself
    network    () for none, or the only places that may be reached, each as "host:port"
    """

    seconds: float = 5.0
    memory: int = 768
    processes: int = 1
    output: int = 100_000
    disk: int = 64
    inodes: int = 2_000
    read: tuple[str, ...] = ()
    network: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("read", "network"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise PolicyError(f"Policy({name}=...) is a list of texts, not one text: write ({value!r},)")
            object.__setattr__(self, name, tuple(map(str, value)))
        for name in ("seconds", "memory", "processes", "output", "disk", "inodes"):
            if not getattr(self, name) > 0:
                raise PolicyError(f"Policy({name}={getattr(self, name)!r}) must be more than 0")
        if not self.seconds < LONGEST:
            raise PolicyError(f"Policy(seconds={self.seconds!r}) must be less than {LONGEST:,}")
        for path in self.read:
            if not path.startswith("/") and path[1:3] not in (":\\", ":/"):
                raise PolicyError(f"Policy(read=...) needs absolute paths, and {path!r} is none")
        for place in self.network:
            host, _, port = place.rpartition(":")
            if not host or not (port.isdecimal() and 0 < int(port) < 65536):
                raise PolicyError(f'Policy(network=...) needs "host:port", such as "example.org:443", not {place!r}')
