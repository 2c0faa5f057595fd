"""The only way out: sockets that listen inside, where there is no network, and are answered by the host.

A socket belongs to the network it was made in, whoever holds it. So the server makes the sockets and sends them to
the host, which accepts what connects to them and decides. Nothing inside has to be trusted with it.
"""

from __future__ import annotations

import os
import socket

LOOPBACK = ("127.0.0.1", "localhost")


def listen(places: list[str]) -> dict[str, socket.socket]:
    """Make the listening sockets: "proxy", for programs that use one, and each place on this machine at its own port.

    A place whose port only root may use is left to the proxy.
    """
    found = {"proxy": socket.create_server((LOOPBACK[0], 0))}
    for place in places:
        host, _, port = place.rpartition(":")
        if host in LOOPBACK:
            try:
                found[place] = socket.create_server((LOOPBACK[0], int(port)))
            except OSError:
                continue
    return found


def announce_proxy(port: int) -> None:
    """Tell programs of the proxy, by the variables that urllib, requests, httpx and curl read."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        os.environ[name] = f"http://{LOOPBACK[0]}:{port}"
