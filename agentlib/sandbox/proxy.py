"""The host's end of the network: connects code to the places that the policy names, and to no others.

Code inside reaches it as an HTTP proxy: CONNECT for https, whole addresses for http (RFC 9110, RFC 9112).
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

MOST_AT_ONCE = 32
HEAD = 64 * 1024  # bytes of a request before its body
WAIT = 30.0  # seconds for a request to arrive, and for a place to answer the connection


class Proxy:
    """Answers what connects to the listening sockets, by name: "proxy", or the one place that it leads to."""

    def __init__(self, listening: Mapping[str, socket.socket], allowed: Sequence[str]) -> None:
        self._listening = dict(listening)
        self._allowed = {place.lower() for place in allowed}
        self._room = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._open: set[socket.socket] = set()
        for name in self._listening:
            threading.Thread(target=self._accept, args=(name,), daemon=True).start()

    def close(self) -> None:
        """End all connections, and take no more."""
        for each in (*self._listening.values(), *self._open.copy()):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for each in self._listening.values():
            each.close()

    def leave_to_parent(self) -> None:
        """Close what a fork has inherited. The threads are the parent's, and so not there."""
        for each in (*self._listening.values(), *self._open):
            each.close()

    def _accept(self, name: str) -> None:
        while True:
            self._room.acquire()
            try:
                inner = self._listening[name].accept()[0]
            except OSError:  # closed
                self._room.release()
                return
            threading.Thread(target=self._answer, args=(name, inner), daemon=True).start()

    def _answer(self, name: str, inner: socket.socket) -> None:
        """Serve one connection to its end."""
        try:
            with inner:
                self._open.add(inner)
                inner.settimeout(WAIT)
                if name == "proxy":
                    self._answer_request(inner)
                else:
                    self._connect(inner, name, b"", b"")
        except OSError:  # one side went away
            return
        finally:
            self._open.discard(inner)
            self._room.release()

    def _answer_request(self, inner: socket.socket) -> None:
        """Read one request and do what it asks, if it is for an allowed place."""
        head, rest = read_head(inner)
        place, forwarded = understand(head)
        if place.lower() not in self._allowed:
            text = f"The sandbox's policy does not allow {place or 'this request'}.\n".encode()
            head = f"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: {len(text)}\r\n\r\n"
            inner.sendall(head.encode() + text)
        elif forwarded:
            self._connect(inner, place, b"", forwarded + rest)
        else:
            self._connect(inner, place, b"HTTP/1.1 200 Connection established\r\n\r\n", rest)

    def _connect(self, inner: socket.socket, place: str, to_inner: bytes, to_outer: bytes) -> None:
        """Connect to a place, say so, pass on what was read already, and then everything."""
        host, _, port = place.rpartition(":")
        with socket.create_connection((host.strip("[]"), int(port)), WAIT) as outer:
            self._open.add(outer)
            try:
                inner.sendall(to_inner)
                outer.sendall(to_outer)
                relay(inner, outer)
            finally:
                self._open.discard(outer)


def read_head(connection: socket.socket) -> tuple[bytes, bytes]:
    """Read a request up to the empty line after its fields; give that, and what came after."""
    data = b""
    while b"\r\n\r\n" not in data and len(data) < HEAD:
        piece = connection.recv(4096)
        if not piece:
            break
        data += piece
    head, end, rest = data.partition(b"\r\n\r\n")
    return head + end, rest


def understand(head: bytes) -> tuple[str, bytes]:
    """Give the place that a request is for, and the request as that place wants it; b'' where it asks for a tunnel.

    The place is '' for what is no request to a proxy.
    """
    line, _, fields = head.partition(b"\r\n")
    method, _, target = line.decode("latin-1").rpartition(" ")[0].partition(" ")
    if method == "CONNECT":
        return target, b""
    try:
        address = urlsplit(target)
        place = f"{address.hostname}:{address.port or 80}"
    except ValueError:
        return "", b""
    if address.scheme != "http" or not address.hostname:
        return "", b""
    path = (address.path or "/") + (f"?{address.query}" if address.query else "")
    kept = [each for each in fields.split(b"\r\n") if not each.lower().startswith((b"proxy-", b"connection:"))]
    return place, b"\r\n".join([f"{method} {path} HTTP/1.1".encode("latin-1"), b"Connection: close", *kept])


def relay(one: socket.socket, other: socket.socket) -> None:
    """Pass on what each sends to the other until both have ended, or one is gone."""
    one.settimeout(None)
    other.settimeout(None)
    with selectors.DefaultSelector() as waiting:
        waiting.register(one, selectors.EVENT_READ, other)
        waiting.register(other, selectors.EVENT_READ, one)
        while waiting.get_map():
            for key, _ in waiting.select():
                if data := key.fileobj.recv(65_536):
                    key.data.sendall(data)
                else:
                    waiting.unregister(key.fileobj)
                    key.data.shutdown(socket.SHUT_WR)
