"""What makes a process offline: no network but loopback, no keys, the offline model.

`environment` is given to every kernel and every test. It puts this folder on PYTHONPATH, so that Python children run
`sitecustomize.py` beside this file and are blocked too. What is not blocked: a child started with -I or -E or one that
is no Python program (it only finds no keys and no proxy), and the look-up of a name that a bare `socket.connect` does
before Python tells anyone; the connection is refused then.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HARNESS = Path(__file__).resolve().parent
ROOT = HARNESS.parents[1]

# Wildcard addresses are the machine itself.
LOCAL_NAMES = {"", "localhost", "0.0.0.0", "::", "::1"}
# A proxy on loopback would lead out, a backend chosen by the user would change what a plot shows.
DROPPED = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY", "MPLBACKEND"}
LOOK_UPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}


class NetworkBlocked(RuntimeError):
    """Raised where a test or a notebook tries to leave the machine."""


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """A copy of `environ` for a process that must stay offline."""
    kept = {name: value for name, value in environ.items() if not _is_dropped(name.upper())}
    paths = [str(HARNESS), str(ROOT)]
    paths += [path for path in kept.get("PYTHONPATH", "").split(os.pathsep) if path and path not in paths]
    # NO_PROXY also keeps a proxy in the system's settings (macOS, Windows) from being used.
    return kept | {"AGENTLIB_MODEL": "offline", "NO_PROXY": "*", "PYTHONPATH": os.pathsep.join(paths)}


def _is_dropped(name: str) -> bool:
    return name.startswith("OPENAI_") or name.endswith("_API_KEY") or name in DROPPED


def block_network() -> None:
    """Make every later connection and name look-up of this process fail, but for loopback; it cannot be undone."""
    sys.addaudithook(_refuse_network)


def _refuse_network(event: str, args: tuple[Any, ...]) -> None:
    # An audit hook sees every way Python opens a connection, asyncio's included, and needs no import of socket.
    if not event.startswith("socket."):
        return
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        host = _host(args[1])
    elif event == "socket.getnameinfo":
        host = _host(args[0])
    elif event in LOOK_UPS:
        host = args[0]
    else:
        return
    if isinstance(host, bytes | bytearray):
        host = bytes(host).decode("ascii", "replace")
    if not _is_local(host):
        raise NetworkBlocked(f"The network is blocked in tests and notebooks: {host} (only loopback is open).")


def _host(address: Any) -> str | bytes | None:
    """The host of an internet address; None for a Unix socket's path and other local kinds."""
    return address[0] if isinstance(address, tuple) and isinstance(address[0], str | bytes) else None


def _is_local(host: str | None) -> bool:
    if host is None or host.lower() in LOCAL_NAMES:
        return True
    parts = host.removeprefix("::ffff:").split(".")
    if len(parts) == 4 and parts[0] == "127" and all(part.isdigit() for part in parts):
        return True
    import socket  # Loaded already, or there would be nothing to refuse.

    return host == socket.gethostname()  # A server asks for the name of its own machine.
