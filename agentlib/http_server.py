"""HTTP/1.1 around a WSGI application, with every refusal in the form of the OpenAI API.

Each connection has a thread, so that a client that is slow, vanishes, or sends what is not HTTP costs no more than its
own connection.
"""

import contextlib
import io
import itertools
import json
import os
import re
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from http.client import responses
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from urllib.parse import unquote, urlsplit

MOST_BYTES = 10 * 2**20  # of the body of a request
SECONDS = 60.0  # for a request to begin, for the whole of it to arrive, and for a piece of an answer to leave
_LINGER = 2.0  # seconds to read on after a refusal, so that the client sees it and no reset
_TLS = b"\x16"  # how a connection by https begins
_LINE = 1024  # bytes of a chunk's head


class Refused(Exception):
    """A request that is not passed on. The connection is closed."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Handler(BaseHTTPRequestHandler):
    """Reads a request, has the server's application answer it, and goes on while the client keeps the connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 2**16

    def setup(self) -> None:
        """Read with a deadline for the whole request: a timeout for each byte would let a slow client stay for ever."""
        super().setup()
        self.incoming = _Incoming(self.connection)
        self.rfile = io.BufferedReader(self.incoming)

    def handle(self) -> None:
        """Answer requests until either side has enough."""
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def handle_one_request(self) -> None:
        """Wait for the next request, and give it its time."""
        self.incoming.until = time.monotonic() + SECONDS
        if self.rfile.peek(1)[:1] == _TLS:  # https was asked for, and would be waited for
            self.close_connection = True
            return
        self.incoming.until = time.monotonic() + SECONDS
        super().handle_one_request()

    def answer(self) -> None:
        """Answer one request."""
        try:
            environ = self._environ(self._body())
        except Refused as refusal:
            return self.send_error(refusal.status, str(refusal))
        except TimeoutError:
            return self.send_error(408, "The body of the request did not arrive in time.")
        started: list = []
        try:
            answered = self.server.app(environ, lambda status, headers: started.extend((status, headers)))
            pieces = iter(answered)
            first = next(pieces, b"")  # only then must an application have started
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return self.send_error(500, "The server had an error while processing your request.")
        try:
            self._send(int(started[0][:3]), started[1], itertools.chain([first], pieces))
        finally:
            getattr(answered, "close", tuple)()  # WSGI's word for: nobody listens any more

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = answer

    def finish(self) -> None:
        """Let go of the connection, also where the client has let go already."""
        with contextlib.suppress(OSError):
            super().finish()

    def handle_expect_100(self) -> bool:
        """Tell a client that asks first to send the body."""
        super().handle_expect_100()
        self.wfile.flush()
        return True

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse a request in the form of the API's errors, and close the connection."""
        kind = "server_error" if code >= 500 else "invalid_request_error"
        text = message or responses.get(code, "Error")
        body = json.dumps({"error": {"message": text, "type": kind, "param": None, "code": None}}).encode()
        self.close_connection = True
        if not self.request_version.startswith("HTTP/1."):  # then no answer would have a head
            self.request_version = "HTTP/1.0"
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("Connection", "close")]
        self._send(int(code), headers, [body])
        self._linger()

    def version_string(self) -> str:
        """Name the server in the head of an answer."""
        return "agentlib"

    def log_message(self, *_: object) -> None:
        """Stay quiet: what was asked is the client's to print."""

    def _send(self, status: int, headers: list[tuple[str, str]], pieces: Iterable[bytes]) -> None:
        """Send an answer: whole where its length is known, else in chunks as they come."""
        self.connection.settimeout(SECONDS)
        sized = any(name.lower() == "content-length" for name, _ in headers)
        chunked = not sized and self.request_version >= "HTTP/1.1"
        self.close_connection = self.close_connection or not (sized or chunked)
        self.send_response(status)
        more = [("Transfer-Encoding", "chunked")] if chunked else []
        more += [("Connection", "close")] if self.close_connection and not sized else []
        for name, value in [*headers, *more]:
            self.send_header(name, value)
        self.end_headers()
        for piece in filter(None, pieces) if self.command != "HEAD" else ():  # an empty chunk would be the end
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n" if chunked and self.command != "HEAD" else b"")
        self.wfile.flush()

    def _environ(self, body: bytes) -> dict:
        """Describe the request as WSGI does."""
        try:
            address = urlsplit(self.path)
        except ValueError:
            raise Refused(400, "The address of the request cannot be read.") from None
        sent = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in self.headers.items()}
        host, port = self.server.server_address[:2]
        return sent | {
            "REQUEST_METHOD": self.command, "SCRIPT_NAME": "", "PATH_INFO": unquote(address.path, "iso-8859-1"),
            "QUERY_STRING": address.query, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)), "SERVER_NAME": host, "SERVER_PORT": str(port),
            "SERVER_PROTOCOL": self.request_version, "REMOTE_ADDR": self.client_address[0],
            "wsgi.version": (1, 0), "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr, "wsgi.multithread": True, "wsgi.multiprocess": False, "wsgi.run_once": False,
        }

    def _body(self) -> bytes:
        """Read the body of the request, however its end is marked."""
        lengths, coding = self.headers.get_all("Content-Length", []), self.headers.get("Transfer-Encoding")
        if coding is not None:
            if coding.strip().lower() != "chunked" or lengths:
                raise Refused(400, "A request has either a Content-Length or Transfer-Encoding: chunked.")
            return _chunks(self.rfile.readline, self.rfile.read)
        if not lengths:
            if self.command == "POST":
                raise Refused(411, "A POST needs a Content-Length or Transfer-Encoding: chunked.")
            return b""
        if len(set(lengths)) > 1 or not re.fullmatch(r"[0-9]{1,18}", lengths[0].strip()):
            raise Refused(400, "The Content-Length is not a number.")
        if int(lengths[0]) > MOST_BYTES:
            raise Refused(413, f"The body of the request is larger than {MOST_BYTES} bytes.")
        body = self.rfile.read(int(lengths[0]))
        if len(body) < int(lengths[0]):
            raise Refused(400, "The body of the request is shorter than its Content-Length.")
        return body

    def _linger(self) -> None:
        """Read what a refused client still sends."""
        try:
            self.connection.shutdown(socket.SHUT_WR)
            self.incoming.until = time.monotonic() + _LINGER
            while self.rfile.read1(2**16):
                pass
        except OSError:  # it is gone, or has had its time
            return


class Server(ThreadingMixIn, TCPServer):
    """A WSGI application behind HTTP. Port 0 takes any free port; `url` says where it listens."""

    daemon_threads = True  # an open connection does not keep the process alive
    request_queue_size = 256  # connections that may arrive at the same moment
    allow_reuse_address = os.name != "nt"  # on Windows two servers could then share a port

    def __init__(self, app: Callable, host: str, port: int) -> None:
        self.app = app
        self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        super().__init__((host, port), Handler)

    @property
    def url(self) -> str:
        """The base URL for clients on this machine."""
        host, port = self.server_address[:2]
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/v1"


class _Incoming(io.RawIOBase):
    """The bytes from a client, as long as they come before a deadline."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection, self.until = connection, 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request did not arrive in time")
        self.connection.settimeout(left)
        return self.connection.recv_into(buffer)


def _chunks(readline: Callable[[int], bytes], read: Callable[[int], bytes]) -> bytes:
    """Read a chunked body to its end."""
    body = bytearray()
    while True:
        head = re.fullmatch(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n", readline(_LINE))
        if not head:
            raise Refused(400, "The body of the request is not chunked as it says.")
        size = int(head.group(1), 16)
        if len(body) + size > MOST_BYTES:
            raise Refused(413, f"The body of the request is larger than {MOST_BYTES} bytes.")
        if size == 0:
            break
        chunk = read(size)
        if len(chunk) < size or readline(3) not in (b"\r\n", b"\n"):
            raise Refused(400, "The body of the request is not chunked as it says.")
        body += chunk
    for _ in range(100):  # trailers
        if readline(_LINE) in (b"\r\n", b"\n", b""):
            return bytes(body)
    raise Refused(400, "The body of the request has too many trailers.")
