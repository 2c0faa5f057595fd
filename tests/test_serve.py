"""The offline model over HTTP: real clients on loopback, many at once, broken ones, and the command itself."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
import openai
import pydantic
import pytest
from native import WORLD, described
from test_offline_loop import REACT, STOP, opening

from agentlib import LLM, http_server
from agentlib.http_server import Server
from agentlib.offline import Settings, app
from agentlib.serve import ServeError, is_loopback, serve
from agentlib.world import weather

ROOT = Path(__file__).resolve().parents[1]
COMPARE = "Compare the weather in Beijing and Shanghai."
MESSAGES = [{"role": "user", "content": COMPARE}]
ASKED = {"model": "offline", "messages": MESSAGES}
TOOLS = described(*WORLD)


@contextmanager
def serving(application: Callable) -> Iterator[Server]:
    """Serve an application on a free port of loopback."""
    with Server(application, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(app()) as running:
        yield running


def client(server: Server, **options: object) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key="any text", max_retries=0, timeout=20, **options)


# The openai client, plain and async, whole and streaming.


def test_a_reply_in_text(server):
    reply = client(server).chat.completions.create(model="offline", messages=opening("Who runs Apple?"), stop=STOP)
    assert 'Action: search(query="Apple CEO")' in reply.choices[0].message.content
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


def test_a_loop_over_native_calls(server):
    messages: list = list(MESSAGES)
    for _ in range(3):
        choice = client(server).chat.completions.create(model="offline", messages=messages, tools=TOOLS).choices[0]
        messages.append(choice.message)
        for call in choice.message.tool_calls or ():
            result = weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        if choice.finish_reason == "stop":
            break
    assert len(messages) == 5 and messages[-1].content.startswith("Shanghai is warmer")


def test_the_models_are_listed(server):
    assert [model.id for model in client(server).models.list()] == ["offline"]
    assert client(server).models.retrieve("offline").object == "model"


def test_the_token_limit(server):
    reply = client(server).chat.completions.create(model="offline", messages=MESSAGES, max_tokens=2)
    assert reply.choices[0].finish_reason == "length" and reply.usage.completion_tokens == 2


def joined(chunks: list) -> tuple[str, list[list], list[str], object]:
    """Put a stream together: the text, the calls as [id, name, arguments], the finish reasons, the usage."""
    text, calls, reasons, usage = "", [], [], None
    for chunk in chunks:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reasons += [choice.finish_reason] if choice.finish_reason else []
            for part in choice.delta.tool_calls or ():
                if part.index == len(calls):
                    calls.append([part.id, part.function.name, ""])
                calls[part.index][2] += part.function.arguments or ""
    return text, calls, reasons, usage


STREAMED = [
    {"messages": MESSAGES}, {"messages": MESSAGES, "tools": TOOLS}, {"messages": MESSAGES, "tools": TOOLS, "seed": 4},
    {"messages": MESSAGES, "tools": TOOLS, "max_tokens": 7}, {"messages": opening("Who runs Apple?"), "stop": STOP},
    {"messages": opening("Who runs Apple?")}, {"messages": MESSAGES, "max_tokens": 3},
]


@pytest.mark.parametrize("body", STREAMED)
@pytest.mark.parametrize("over_http", [True, False])
def test_a_stream_adds_up_to_the_reply(server, body, over_http):
    in_process = {"http_client": httpx2.Client(transport=httpx2.WSGITransport(app()))}
    create = client(server, **({} if over_http else in_process)).chat.completions.create
    whole = create(model="offline", **body)
    chunks = list(create(model="offline", stream=True, stream_options={"include_usage": True}, **body))
    text, calls, reasons, usage = joined(chunks)
    message = whole.choices[0].message
    assert text == (message.content or "")
    assert calls == [[c.id, c.function.name, c.function.arguments] for c in message.tool_calls or ()]
    assert reasons == [whole.choices[0].finish_reason] and usage == whole.usage
    assert chunks[0].choices[0].delta.role == "assistant" and chunks[-1].choices == []
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"} and len({chunk.id for chunk in chunks}) == 1


def test_a_stream_comes_in_pieces_of_a_token(server):
    chunks = list(client(server).chat.completions.create(**ASKED, stream=True))
    pieces = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices[0].delta.content]
    assert len(pieces) > 5 and {len(piece) for piece in pieces[:-1]} == {4}
    assert all(chunk.usage is None for chunk in chunks)


def test_the_events_on_the_wire(server):
    answer = httpx2.post(f"{server.url}/chat/completions", json=ASKED | {"tools": TOOLS, "stream": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = answer.text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""] and all(event.startswith("data: {") for event in events[:-2])
    first = json.loads(events[1][6:])["choices"][0]["delta"]["tool_calls"][0]
    assert first["index"] == 0 and first["id"] and first["type"] == "function"
    assert first["function"] == {"name": "weather", "arguments": ""}
    assert "usage" not in json.loads(events[0][6:])


def test_the_clients_own_reader_of_streams(server):
    with client(server).chat.completions.stream(**ASKED, tools=TOOLS) as stream:
        kinds = [event.type for event in stream]
        calls = stream.get_final_completion().choices[0].message.tool_calls
    assert "tool_calls.function.arguments.delta" in kinds
    assert [call.function.arguments for call in calls] == ['{"city": "Beijing"}', '{"city": "Shanghai"}']


def test_the_async_client_whole_and_streaming(server):
    async def both() -> tuple[str, list]:
        async with openai.AsyncOpenAI(base_url=server.url, api_key="any", max_retries=0) as remote:
            whole = await remote.chat.completions.create(**ASKED)
            stream = await remote.chat.completions.create(**ASKED, stream=True)
            return whole.choices[0].message.content, [chunk async for chunk in stream]

    text, chunks = asyncio.run(both())
    assert joined(chunks)[0] == text


def test_our_own_client(server):
    llm = LLM("offline", base_url=server.url)
    assert not llm.in_process
    messages = opening("Who runs Apple?", REACT)
    assert llm.chat(messages, stop=STOP).content == LLM("offline").chat(messages, stop=STOP).content


# Its errors, as the client raises them.


@pytest.mark.parametrize(("settings", "body", "error", "code"), [
    (Settings(), {"messages": "Hello"}, openai.BadRequestError, "invalid_type"),
    (Settings(), {"temperature": 3}, openai.BadRequestError, "invalid_value"),
    (Settings(), {"tools": [{"type": "function", "function": {"name": "a b"}}]}, openai.BadRequestError,
     "invalid_value"),
    (Settings(), {"messages": [*MESSAGES, {"role": "tool", "tool_call_id": "a", "content": "x"}]},
     openai.BadRequestError, None),
    (Settings(), {"model": "gpt-9"}, openai.NotFoundError, "model_not_found"),
    (Settings(context_window=10), {}, openai.BadRequestError, "context_length_exceeded"),
    (Settings(api_keys=("right",)), {}, openai.AuthenticationError, "invalid_api_key"),
    (Settings(requests=0), {}, openai.RateLimitError, "rate_limit_exceeded"),
])
@pytest.mark.parametrize("stream", [False, True])
def test_an_error_has_its_class_and_its_body(settings, body, error, code, stream):
    with serving(app(settings)) as server, pytest.raises(error) as caught:
        client(server).chat.completions.create(**ASKED | body, stream=stream)
    assert caught.value.code == code and set(caught.value.body) == {"message", "type", "param", "code"}


def test_a_request_that_is_too_large(server, monkeypatch):
    monkeypatch.setattr(http_server, "MOST_BYTES", 1000)
    with pytest.raises(openai.APIStatusError) as caught:
        client(server).chat.completions.create(model="offline", messages=[{"role": "user", "content": "x" * 10**6}])
    assert caught.value.status_code == 413 and "larger than 1000 bytes" in str(caught.value)


def test_a_bug_in_the_model_is_a_server_error(capfd):
    def broken(environ: dict, start_response: Callable) -> list[bytes]:
        raise ZeroDivisionError("a bug")

    with serving(broken) as server, pytest.raises(openai.InternalServerError):
        client(server).models.list()
    assert "ZeroDivisionError: a bug" in capfd.readouterr().err


# Many clients.


def test_fifty_clients_at_once(server):
    start = threading.Barrier(50)

    def one(number: int) -> str:
        start.wait()
        question = [{"role": "user", "content": f"What is {number} plus {number}?"}]
        return client(server).chat.completions.create(model="offline", messages=question).choices[0].message.content

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(one, range(50)))
    assert all(str(2 * number) in answer for number, answer in enumerate(answers))


def test_a_slow_client_keeps_nobody_waiting(server):
    slow = [socket.create_connection(server.server_address) for _ in range(20)]
    for connection in slow:
        connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
    begun = time.perf_counter()
    client(server).chat.completions.create(**ASKED)
    assert time.perf_counter() - begun < 5
    for connection in slow:
        connection.close()


@pytest.mark.parametrize("start", [b"", b"POST /v1/chat", b"POST / HTTP/1.1\r\nContent-Length: 999\r\n\r\n{"])
def test_a_client_that_drips_is_let_go(server, monkeypatch, start):
    monkeypatch.setattr(http_server, "SECONDS", 0.6)
    with socket.create_connection(server.server_address) as connection:
        connection.sendall(start)
        begun, received = time.perf_counter(), b""
        connection.settimeout(0.05)
        while time.perf_counter() - begun < 10:
            try:
                connection.sendall(b"x" if start else b"")  # a byte in time, every time
                piece = connection.recv(10**5)
                if not piece:
                    break
                received += piece
            except TimeoutError:
                continue
            except ConnectionError:
                break
        assert time.perf_counter() - begun < 5
    if start.endswith(b"{"):
        assert b" 408 Request Timeout" in received


def test_a_client_that_vanishes_in_the_middle_of_a_stream(capfd):
    left = threading.Event()

    def endless(environ: dict, start_response: Callable) -> Iterator[bytes]:
        start_response("200 OK", [("Content-Type", "text/event-stream")])
        try:
            for _ in range(10**6):
                yield b"x" * 10**4
        finally:
            left.set()

    with serving(endless) as server:
        with socket.create_connection(server.server_address) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
            connection.recv(100)
        assert left.wait(10)  # the work stops when nobody listens
    assert capfd.readouterr().err == ""


# What is not HTTP, or not quite.


def exchange(server: Server, sent: bytes) -> bytes:
    """Send bytes, then read until the server closes."""
    with socket.create_connection(server.server_address, timeout=10) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(10**5), b""))


def post(headers: str, body: bytes = b"") -> bytes:
    return f"POST /v1/chat/completions HTTP/1.1\r\n{headers}\r\n\r\n".encode() + body


BODY = json.dumps(ASKED).encode()
CHUNKED = "Transfer-Encoding: chunked"
LENGTH = f"Content-Length: {len(BODY)}"


@pytest.mark.parametrize(("sent", "status"), [
    (b"GARBAGE\r\n\r\n", 400), (b"a b c d e\r\n\r\n", 400), (b"\x00\xff\x00\r\n\r\n", 400),
    (b"GET /v1/models HTTP/9.9\r\n\r\n", 505), (b"BREW /pot HTTP/1.1\r\n\r\n", 501),
    (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", 414), (b"GET http://[ HTTP/1.1\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000 + b"\r\n\r\n", 431), (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200, 431),
    (post("A: b"), 411), (post("Content-Length: many"), 400), (post("Content-Length: -1"), 400),
    (post("Content-Length: ٣", BODY), 400), (post(f"{LENGTH}\r\nContent-Length: 3", BODY), 400),
    (post("Content-Length: 99999999999999999999"), 400), (post("Content-Length: 999999999"), 413),
    (post(f"Content-Length: {len(BODY) + 1}", BODY), 400), (post(f"{LENGTH}\r\n{CHUNKED}", BODY), 400),
    (post("Transfer-Encoding: gzip", BODY), 400), (post(CHUNKED, b"zz\r\n"), 400), (post(CHUNKED, b""), 400),
    (post(CHUNKED, b"5\r\nab"), 400), (post(CHUNKED, b"2\r\nabX"), 400), (post(CHUNKED, b"-1\r\n"), 400),
    (post(CHUNKED, b"ffffffff\r\n"), 413), (post(CHUNKED, b"0\r\n" + b"a: b\r\n" * 200), 400),
    (post("Content-Length: 0"), 400), (post("Content-Length: 4", b"\xff\xfe\x00{"), 400),
])
def test_a_malformed_request_gets_an_error_of_the_api_and_the_server_lives(server, sent, status, capfd):
    head, _, content = exchange(server, sent).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert json.loads(content)["error"]["message"]
    assert client(server).models.list().data[0].id == "offline"
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"\x16\x03\x01\x02\x00", b"GET"])
def test_what_asks_for_nothing_is_closed(server, sent):
    answer = exchange(server, sent)
    assert answer == b"" or b" 400 " in answer


def test_https_is_closed_at_once(server):
    with pytest.raises(openai.APIConnectionError):
        openai.OpenAI(base_url=server.url.replace("http", "https"), api_key="any", max_retries=0).models.list()


def test_a_chunked_body_is_read(server):
    chunks = [BODY[:7], BODY[7:50], BODY[50:]]
    body = b"".join(b"%X;note=1\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\nTrailer: x\r\n\r\n"
    assert b"Shanghai" in exchange(server, post(CHUNKED, body))
    sent = httpx2.post(f"{server.url}/chat/completions", content=iter(chunks))  # the client chunks what has no length
    assert "Shanghai" in sent.json()["choices"][0]["message"]["content"]


def test_a_connection_is_kept_and_requests_may_follow_without_waiting(server):
    answers = exchange(server, post(LENGTH, BODY) * 2 + b"GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert answers.count(b"HTTP/1.1 200 OK") == 3


def test_a_client_of_http_1_0_gets_a_stream_that_ends_with_the_connection(server):
    body = json.dumps(ASKED | {"stream": True}).encode()
    request = b"POST /v1/chat/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    head, _, content = exchange(server, request).partition(b"\r\n\r\n")
    assert b"chunked" not in head and content.startswith(b"data: {") and content.endswith(b"data: [DONE]\n\n")


def test_a_client_may_ask_before_it_sends_the_body(server):
    with socket.create_connection(server.server_address, timeout=10) as connection:
        connection.sendall(post(f"{LENGTH}\r\nExpect: 100-continue"))
        assert b"100 Continue" in connection.recv(1000)
        connection.sendall(BODY)
        assert b"200 OK" in connection.recv(10**5)


# Another framework.


def test_an_agent_of_pydantic_ai_runs_a_tool_loop(server):
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    class Warmer(pydantic.BaseModel):
        city: str
        temperature: float

    asked = []

    def get_weather(city: str) -> str:
        """Get today's weather in a city."""
        asked.append(city)
        return weather(city)

    async def talk() -> tuple[str, str, Warmer]:
        provider = OpenAICompatibleProvider("agentlib", base_url=server.url, api_key="any text")
        model = OpenAIChatModel("offline", provider=provider)
        agent = Agent(model, tools=[get_weather])
        whole = await agent.run(COMPARE)
        async with agent.run_stream(COMPARE) as stream:
            streamed = "".join([piece async for piece in stream.stream_text(delta=True, debounce_by=None)])
        structured = await Agent(model, tools=[get_weather], output_type=Warmer).run(COMPARE)
        return whole.output, streamed, structured.output

    whole, streamed, structured = asyncio.run(talk())
    assert whole.startswith("Shanghai is warmer") and streamed == whole
    assert structured == Warmer(city="Shanghai", temperature=26)
    assert sorted(asked) == ["Beijing"] * 3 + ["Shanghai"] * 3  # its threads are in no order


# The command.


@contextmanager
def command(*arguments: str) -> Iterator[subprocess.Popen]:
    """Run `serve` as a user does."""
    flags = subprocess.CREATE_NEW_PROCESS_GROUP if os.name == "nt" else 0
    process = subprocess.Popen([sys.executable, "-m", "agentlib", "serve", *arguments], cwd=ROOT, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, creationflags=flags)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def said(process: subprocess.Popen, lines: int) -> list[str]:
    return [process.stdout.readline().strip() for _ in range(lines)]


def test_the_command_says_how_to_use_it_and_ends_quietly():
    with command("--port", "0") as process:
        lines = said(process, 4)
        url = lines[1].split()[-1]
        assert url.startswith("http://127.0.0.1:") and url.endswith("/v1")
        assert lines[2].split()[:2] == ["API", "key"] and lines[3].split() == ["model", "offline"]
        openai.OpenAI(base_url=url, api_key="any", max_retries=0).chat.completions.create(**ASKED)
        held = socket.create_connection(("127.0.0.1", int(url.split(":")[2].split("/")[0])))  # an open connection
        process.send_signal(signal.CTRL_BREAK_EVENT if os.name == "nt" else signal.SIGINT)
        rest, errors = process.communicate(timeout=10)
        held.close()
    assert errors == "" and rest.strip() == ""
    assert process.returncode == 0 or os.name == "nt"


def test_a_port_in_use_is_one_line(server):
    port = server.server_address[1]
    with command("--port", str(port)) as process:
        out, errors = process.communicate(timeout=20)
    assert process.returncode == 1 and out == ""
    assert errors.startswith(f"agentlib: cannot listen on 127.0.0.1, port {port}: ") and errors.count("\n") == 1


def test_another_host_is_warned_about_in_one_line():
    with command("--host", "0.0.0.0", "--port", "0") as process:
        first = said(process, 1)[0]
    assert first.startswith("agentlib: 0.0.0.0 is not loopback") and "without a key" in first


@pytest.mark.parametrize("arguments", [["--port", "x"], ["--port", "70000"], ["--port", "-1"], ["--nope"], ["more"]])
def test_wrong_arguments_are_one_line(arguments):
    with command(*arguments) as process:
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 2 and errors.startswith("agentlib: ") and errors.count("\n") == 1


def test_a_host_that_is_none(monkeypatch):
    def unknown(*_: object, **__: object) -> None:  # the network is blocked in tests, so that none can be asked for
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(ServeError, match="cannot listen on nowhere, port 0: Name or service not known"):
        serve("nowhere", 0)


@pytest.mark.parametrize(("address", "expected"), [
    ("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("0.0.0.0", False), ("::", False), ("192.168.0.1", False),
    ("fe80::1%eth0", False),
])
def test_which_addresses_only_this_machine_can_reach(address, expected):
    assert is_loopback(address) == expected


def test_nobody_is_asked_who_an_address_is(monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("a look-up")

    for name in ("getfqdn", "gethostbyaddr", "getnameinfo"):
        monkeypatch.setattr(socket, name, refuse)
    with serving(app()) as server:
        assert client(server).models.list().data


def test_it_needs_the_standard_library_only():
    code = ("import sys; before = set(sys.modules); import agentlib.http_server, agentlib.offline\n"
            "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)))")
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert found.split() == ["agentlib"]
