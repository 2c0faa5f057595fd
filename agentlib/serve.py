"""The offline model over HTTP, for any client of the OpenAI API: python3 -m agentlib serve.

It needs the standard library only. Each connection has a thread, so that a client that is slow, vanishes, or sends what
is not HTTP costs no more than its own connection.
"""

import argparse
import contextlib
import ipaddress
import os
import socket
from collections.abc import Callable
from socketserver import TCPServer, ThreadingMixIn

ABOUT = "It answers POST /v1/chat/completions and GET /v1/models as the OpenAI API does, until Ctrl-C."
HOST, PORT = "127.0.0.1", 8765


class ServeError(Exception):
    """The server cannot start. The text says why, in one line."""


class Server(ThreadingMixIn, TCPServer):
    """A WSGI application behind HTTP. Port 0 takes any free port; `url` says where it listens."""

    daemon_threads = True  # an open connection does not keep the process alive
    request_queue_size = 256  # connections that may arrive at the same moment
    allow_reuse_address = os.name != "nt"  # on Windows two servers could then share a port

    def __init__(self, app: Callable, host: str = HOST, port: int = PORT) -> None:
        from agentlib.http_handler import Handler  # every command reads this module, and only one needs that

        self.app = app
        try:
            self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            super().__init__((host, port), Handler)
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ServeError(f"cannot listen on {host}, port {port}: {reason}; choose another --port") from None

    @property
    def url(self) -> str:
        """The base URL for clients on this machine."""
        host, port = self.server_address[:2]
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/v1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of `serve`."""
    parser.add_argument("--host", default=HOST, help="default: %(default)s, which only this machine can reach")
    parser.add_argument("--port", type=port, default=PORT, help="0 takes any free one (default: %(default)s)")


def port(text: str) -> int:
    """Read the number of a port."""
    if not (text.isascii() and text.isdecimal() and int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: 0 to 65535")
    return int(text)


def serve(host: str = HOST, port: int = PORT) -> None:
    """Serve the offline model until Ctrl-C. Raises ServeError when it cannot start."""
    from agentlib.offline import app

    with Server(app(), host, port) as server, contextlib.suppress(KeyboardInterrupt):
        if not is_loopback(server.server_address[0]):
            print(f"agentlib: {host} is not loopback: whoever reaches this machine can ask, without a key.", flush=True)
        print(f"The offline model answers until Ctrl-C. For a client of the OpenAI API:\n"
              f"  base URL  {server.url}\n  API key   any text\n  model     offline", flush=True)
        server.serve_forever()


def is_loopback(address: str) -> bool:
    """Say whether only this machine can reach an address."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback
