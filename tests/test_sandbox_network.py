"""The network of a sandbox: the places that the policy names answer, and nothing else does."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandboxes import linux_only, needs

from agentlib.sandbox import Policy, SandboxUnavailable, run
from agentlib.sandbox.proxy import understand

TRY = """
import http.client, os, socket, urllib.request
def attempt(name, action):
    try:
        print(name, action())
    except OSError as error:
        print(name, "refused", type(error).__name__)
def direct(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/direct")
    return connection.getresponse().read().decode()
def tunnel(port):
    proxy = os.environ["https_proxy"].rpartition(":")[2]
    connection = http.client.HTTPConnection("127.0.0.1", int(proxy), timeout=20)
    connection.set_tunnel("127.0.0.1", port)
    connection.request("GET", "/tunnel")
    return connection.getresponse().read().decode()
def fetch(port):
    return urllib.request.urlopen(f"http://127.0.0.1:{port}/fetch?q=1", timeout=20).read().decode()
for port in PORTS:
    for kind in (fetch, direct, tunnel):
        attempt(kind.__name__, lambda: kind(port))
attempt("outside", lambda: socket.create_connection(("192.0.2.1", 80), 5))
attempt("packets", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("serving", lambda: socket.create_server(("127.0.0.1", 0)))
attempt("local", lambda: socket.socket(socket.AF_UNIX))
"""


class Greeting(BaseHTTPRequestHandler):
    """Answers with the path that was asked for, and counts."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        text = f"hello {self.path}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def two_servers():
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Greeting) for _ in range(2)]
    for server in servers:
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield servers
    for server in servers:
        server.shutdown()
        server.server_close()


@linux_only
def test_an_allowed_place_answers_and_any_other_does_not(two_servers):
    needs("bubblewrap")
    allowed, other = two_servers
    code = f"PORTS = [{allowed.server_port}, {other.server_port}]\n{TRY}"
    result = run(code, policy=Policy(seconds=60, network=(f"127.0.0.1:{allowed.server_port}",)))
    assert result.isolation == "bubblewrap" and result.stdout.splitlines() == [
        "fetch hello /fetch?q=1",
        "direct hello /direct",
        "tunnel hello /tunnel",
        "fetch refused HTTPError",
        "direct refused ConnectionRefusedError",
        "tunnel refused OSError",
        "outside refused OSError",
        "packets refused PermissionError",
        "serving refused PermissionError",
        "local refused PermissionError",
    ], result.stderr
    assert allowed.asked == ["/fetch?q=1", "/direct", "/tunnel"] and other.asked == []


@linux_only
def test_without_a_network_nothing_answers(two_servers):
    needs("bubblewrap")
    code = f"PORTS = []\n{TRY}\nattempt('direct', lambda: direct({two_servers[0].server_port}))"
    assert run(code, policy=Policy(seconds=60)).stdout.splitlines()[-1].startswith("direct refused")
    assert two_servers[0].asked == []


@linux_only
def test_where_no_backend_can_do_it_nothing_is_run():
    needs("landlock")
    with pytest.raises(SandboxUnavailable, match="a network"):
        run("print()", policy=Policy(network=("127.0.0.1:80",)), backend="landlock")


@linux_only
def test_many_bytes_go_both_ways():
    needs("bubblewrap")
    with socket.create_server(("127.0.0.1", 0)) as echo:

        def serve() -> None:
            with echo.accept()[0] as connection:
                while data := connection.recv(65536):
                    connection.sendall(data)

        threading.Thread(target=serve, daemon=True).start()
        port = echo.getsockname()[1]
        code = f"""
import socket, threading
connection = socket.create_connection(("127.0.0.1", {port}), 30)
sent = bytes(range(256)) * 8000
threading.Thread(target=lambda: (connection.sendall(sent), connection.shutdown(socket.SHUT_WR))).start()
got = b""
while data := connection.recv(65536):
    got += data
print(got == sent)
"""
        assert run(code, policy=Policy(seconds=60, network=(f"127.0.0.1:{port}",))).stdout == "True\n"


@pytest.mark.parametrize(
    ("head", "place", "line"),
    [
        (b"CONNECT example.org:443 HTTP/1.1\r\nHost: other\r\n\r\n", "example.org:443", b""),
        (b"GET http://example.org/a?b HTTP/1.1\r\nHost: x\r\n\r\n", "example.org:80", b"GET /a?b HTTP/1.1"),
        (b"GET http://a:80@b:81/ HTTP/1.1\r\n\r\n", "b:81", b"GET / HTTP/1.1"),
        (b"GET https://example.org/ HTTP/1.1\r\n\r\n", "", b""),
        (b"GET /path HTTP/1.1\r\n\r\n", "", b""),
        (b"GET http://[::1/ HTTP/1.1\r\n\r\n", "", b""),
        (b"", "", b""),
    ],
)
def test_what_a_request_is_for(head, place, line):
    found, forwarded = understand(head)
    assert (found, forwarded.partition(b"\r\n")[0]) == (place, line)


@given(st.binary(max_size=200))
def test_no_request_breaks_the_proxy(head):
    place, forwarded = understand(head)
    assert isinstance(place, str) and isinstance(forwarded, bytes)
