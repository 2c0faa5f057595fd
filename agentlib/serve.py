"""The offline model over HTTP, for any client of the OpenAI API: python3 -m agentlib serve.

It needs the standard library only. Every command reads this module, and only `serve` needs what it imports inside.
"""

import argparse
import contextlib

ABOUT = "It answers POST /v1/chat/completions and GET /v1/models as the OpenAI API does, until Ctrl-C."
HOST, PORT = "127.0.0.1", 8765


class ServeError(Exception):
    """The server cannot start. The text says why, in one line."""


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
    from agentlib.http_server import Server
    from agentlib.offline import app

    try:
        server = Server(app(), host, port)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ServeError(f"cannot listen on {host}, port {port}: {reason}; choose another --port") from None
    with server, contextlib.suppress(KeyboardInterrupt):
        if not is_loopback(server.server_address[0]):
            print(f"agentlib: {host} is not loopback: whoever reaches this machine can ask, without a key.", flush=True)
        print(f"The offline model answers until Ctrl-C. For a client of the OpenAI API:\n"
              f"  base URL  {server.url}\n  API key   any text\n  model     offline", flush=True)
        server.serve_forever()


def is_loopback(address: str) -> bool:
    """Say whether only this machine can reach an address."""
    import ipaddress

    return ipaddress.ip_address(address.partition("%")[0]).is_loopback
