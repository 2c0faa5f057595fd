"""The seam to a model: settings, requests, replies, and each thing that goes wrong as one line with what to change."""

import contextlib
import json
import os
import pickle
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest

from agentlib import LLM, LLMError, Message, ReAct, Reply, ScriptedLLM, Status, Usage
from agentlib.llm import SETTINGS, ScriptError, read_settings

ROOT = Path(__file__).parents[1]
KEY = "sk-very-secret-0123456789"
HELLO = [Message("user", "Hello")]


class Handler(BaseHTTPRequestHandler):
    """Answers every request with what the server was told to, and keeps what it was sent."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.received.append((self.path, headers, json.loads(body)))
        status, content, headers, pause = self.server.answers[0]
        if len(self.server.answers) > 1:
            self.server.answers.pop(0)
        time.sleep(pause)
        with contextlib.suppress(ConnectionError):  # the client gave up
            self.send_response(status)
            for name, value in {"content-type": "application/json", "content-length": len(content), **headers}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Keep quiet."""


class Server(ThreadingHTTPServer):
    """A provider on loopback."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.received: list[tuple[str, dict, dict]] = []
        self.answers: list[tuple[int, bytes, dict, float]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def answer(self, status: int, body: object, *, pause: float = 0.0, **headers: str) -> None:
        """Answer so from now on, after what was to be answered before."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers.append((status, content, {k.replace("_", "-"): v for k, v in headers.items()}, pause))


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    """Start without settings, in a folder without a .env."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def completion(content: object = "hi", **changes) -> dict:
    """Give a chat completion as the API sends it."""
    message = {"role": "assistant", "content": content}
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 30, "completion_tokens": 4, "total_tokens": 34},
    } | changes  # fmt: skip


def error(message: str, code: str | None = None, parameter: str | None = None) -> dict:
    """Give an error as the API sends it."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": parameter, "code": code}}


def model(server: Server, **options) -> LLM:
    """Give a client of the server."""
    return LLM("gpt-x", **{"base_url": server.url, "api_key": KEY, "max_retries": 0, "timeout": 10.0} | options)


def failure(llm: LLM) -> LLMError:
    """Give the error of asking; it is one line and holds no key."""
    with pytest.raises(LLMError) as caught:
        llm.chat(HELLO, stop=["Observation:"])
    text = str(caught.value)
    assert "\n" not in text
    assert KEY not in text
    assert KEY not in repr(caught.value)
    assert caught.value.__cause__ is None
    return caught.value


# -- requests and replies


def test_what_is_sent_and_what_is_read(server):
    server.answer(200, completion("Paris"))
    llm = model(server, seed=7, temperature=0.0, max_tokens=50)
    assert llm.chat(HELLO, stop=["Observation:"]) == Reply("Paris", "stop", Usage(1, 30, 4))
    path, headers, body = server.received[0]
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert body == {
        "model": "gpt-x", "messages": [{"role": "user", "content": "Hello"}], "stop": ["Observation:"],
        "seed": 7, "temperature": 0.0, "max_tokens": 50,
    }  # fmt: skip
    assert body == llm.request(HELLO, stop=["Observation:"])


def test_what_is_not_given_is_not_sent(server):
    server.answer(200, completion())
    model(server).chat([{"role": "user", "content": "Hello"}])
    assert server.received[0][2] == {"model": "gpt-x", "messages": [{"role": "user", "content": "Hello"}]}


def test_settings_can_leave_parameters_out(server, monkeypatch):
    monkeypatch.setenv("AGENTLIB_OMIT", "stop, seed")
    server.answer(200, completion())
    model(server, seed=7, temperature=0.5).chat(HELLO, stop=["Observation:"])
    assert set(server.received[0][2]) == {"model", "messages", "temperature"}


TEXT_PART = {"type": "text", "text": "a"}


@pytest.mark.parametrize(
    ("body", "reply"),
    [
        (completion(None), Reply("", "stop", Usage(1, 30, 4))),
        (completion(""), Reply("", "stop", Usage(1, 30, 4))),
        ({"choices": [{"message": {"content": [{"type": "thinking"}, TEXT_PART, TEXT_PART]}}]}, Reply("aa")),
        (completion(usage=None), Reply("hi")),
        (completion(usage={}), Reply("hi")),
        (completion(usage={"prompt_tokens": None, "completion_tokens": 5}), Reply("hi", "stop", Usage(1, 0, 5))),
        ({"choices": [{"message": {"content": "hi"}}]}, Reply("hi")),
        ({"choices": [{"finish_reason": "length", "message": {"content": "h"}}]}, Reply("h", "length")),
        ({"choices": [{"finish_reason": None, "message": {"content": "h"}}]}, Reply("h", "stop")),
        (completion("\ud83d\ude00 grüß"), Reply("😀 grüß", "stop", Usage(1, 30, 4))),
    ],
)  # fmt: skip
def test_what_servers_leave_out_is_not_needed(server, body, reply):
    server.answer(200, body)
    assert model(server).chat(HELLO) == reply


# -- what goes wrong

CASES = [
    ("wrong_key", 401, error(f"Incorrect API key: {KEY}.\nSee the docs.", "invalid_api_key"), "OPENAI_API_KEY"),
    ("not_allowed", 403, error("Country not supported", "unsupported_country_region_territory"), "key or region"),
    ("unknown_model", 404, error("The model `gpt-x` does not exist", "model_not_found"), "AGENTLIB_MODEL"),
    ("unknown_model", 404, b"<html>\n<body>Not Found</body>\n</html>", "OPENAI_BASE_URL"),
    ("rate_limit", 429, error("Rate limit reached for gpt-x", "rate_limit_exceeded"), "run agent.resume(state)"),
    ("no_credit", 429, error("You exceeded your current quota", "insufficient_quota"), "credit"),
    ("no_credit", 402, error("Insufficient Balance"), "credit"),
    ("context_too_long", 400, error("it is at most 8192 tokens", "context_length_exceeded"), "8192"),
    ("context_too_long", 400, {"message": "maximum context length is 4096 tokens", "code": 400}, "4096"),
    ("context_too_long", 400, error("the request exceeds the available context size"), "context of 'gpt-x'"),
    ("context_too_long", 413, b"too large", "context of 'gpt-x'"),
    ("content_filter", 400, error("The response was filtered", "content_filter"), "word the question differently"),
    ("content_filter", 400, error("it triggered the content management policy."), "word the question differently"),
    ("unsupported", 400, error("Unsupported parameter: 'stop' is not supported.", "unsupported_parameter", "stop"),
     "AGENTLIB_OMIT=stop"),
    ("unsupported", 400, error("Unsupported parameter: 'stop' is not supported.", "unsupported_parameter"),
     "AGENTLIB_OMIT=stop"),
    ("unsupported", 400, error("Unrecognized request argument supplied: seed"), "AGENTLIB_OMIT=seed"),
    ("unsupported", 422, error("`temperature` does not support 0.2", "unsupported_value", "temperature"),
     "AGENTLIB_OMIT=temperature"),
    ("bad_request", 400, error(f"messages[0] is odd, {KEY}"), "status 400"),
    ("bad_request", 418, b"x" * 3000, "status 418"),
    ("server_error", 500, error("The server had an error"), "status 500"),
    ("server_error", 503, b"<html>\nUnavailable\n</html>", "status 503"),
    ("bad_reply", 200, b"<html>\n<body>Sign in</body>\n</html>", "OPENAI_BASE_URL"),
    ("bad_reply", 200, b"", "OPENAI_BASE_URL"),
    ("bad_reply", 200, b'{"choices": [', "OPENAI_BASE_URL"),
    ("bad_reply", 200, b"[" * 100_000, "OPENAI_BASE_URL"),
    ("bad_reply", 200, b'{"choices": [{"message": {}}], "usage": {"prompt_tokens": 1e999}}', "OPENAI_BASE_URL"),
    ("bad_reply", 200, b'{"a": "\xff"}', "OPENAI_BASE_URL"),
    ("bad_reply", 200, {"object": "list", "data": []}, "OPENAI_BASE_URL"),
    ("bad_reply", 200, completion(choices=[]), "OPENAI_BASE_URL"),
    ("bad_reply", 200, completion(choices=None), "OPENAI_BASE_URL"),
    ("bad_reply", 200, completion(choices=["hi"]), "OPENAI_BASE_URL"),
    ("bad_reply", 200, completion(choices=[{"text": "hi"}]), "OPENAI_BASE_URL"),
    ("bad_reply", 200, completion(3), "OPENAI_BASE_URL"),
    ("bad_reply", 200, [1, 2], "OPENAI_BASE_URL"),
    ("bad_reply", 200, "hi", "OPENAI_BASE_URL"),
    ("bad_reply", 200, None, "OPENAI_BASE_URL"),
    ("bad_reply", 200, {"error": {"message": f"upstream\nfailed with {KEY}", "code": 502}}, "upstream"),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "status", "body", "fix"), CASES)
def test_what_a_server_refuses_is_one_line_that_says_what_to_change(server, reason, status, body, fix):
    server.answer(status, body)
    found = failure(model(server))
    assert found.reason == reason
    assert fix in str(found)
    assert len(str(found)) < 600


def test_a_page_in_place_of_json_is_told_as_one(server):
    server.answer(200, b"<html>\n<body>Sign in</body>\n</html>", content_type="text/html")
    assert "<html> <body>Sign in</body> </html>" in str(failure(model(server)))


@pytest.mark.parametrize(("reason", "status", "body", "fix"), CASES[::4])
def test_through_an_agent_it_is_a_stopped_state_with_the_trace_so_far(server, reason, status, body, fix):
    server.answer(200, completion("Thought: t\nAction: nowhere(x=1)"))
    server.answer(status, body)
    last = ReAct(model(server)).run("Where?")
    assert (last.status, last.reason, last.answer) == (Status.STOPPED, reason, None)
    assert [type(event).__name__ for event in last.events] == ["Thought", "ToolCall", "Observation", "Problem"]
    assert last.usage == Usage(1, 30, 4)
    assert fix in last.events[-1].text
    assert KEY not in str(last)


def test_a_filtered_reply_stops_the_run_after_one_call(server):
    server.answer(200, completion(choices=[{"finish_reason": "content_filter", "message": {"content": None}}]))
    last = ReAct(model(server)).run("q")
    assert (last.status, last.reason, len(server.received)) == (Status.STOPPED, "content_filter", 1)


def test_a_rate_limit_is_retried_as_often_as_asked(server):
    refused = error("Rate limit reached", "rate_limit_exceeded")
    server.answer(429, refused, retry_after_ms="1")
    server.answer(429, refused, retry_after_ms="1")
    server.answer(200, completion("at last"))
    assert model(server, max_retries=2).chat(HELLO).content == "at last"
    assert len(server.received) == 3

    server.answers[:] = [(429, json.dumps(refused).encode(), {"retry-after-ms": "1"}, 0.0)]
    last = ReAct(model(server, max_retries=1)).run("q")
    assert (last.status, last.reason, len(server.received)) == (Status.STOPPED, "rate_limit", 5)


def test_a_server_that_does_not_answer_in_time(server):
    server.answer(200, completion(), pause=1.0)
    found = failure(model(server, timeout=0.2))
    assert found.reason == "timeout"
    assert "longer timeout" in str(found)


def test_nobody_listens_there(server):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        found = failure(model(server, base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1"))
    assert found.reason == "unreachable"
    assert "OPENAI_BASE_URL" in str(found)


@pytest.mark.parametrize(
    ("url", "fix"),
    [
        ("127.0.0.1:1/v1", "OPENAI_BASE_URL must start with http:// or https://, and is 127.0.0.1:1/v1"),
        ("localhost:8000", "OPENAI_BASE_URL must start with http:// or https://, and is localhost:8000"),
        ("ftp://127.0.0.1/v1", "OPENAI_BASE_URL must start with http:// or https://, and is ftp://127.0.0.1/v1"),
        ("not a url", "OPENAI_BASE_URL must start with http:// or https://, and is not a url"),
        ("http://", "check OPENAI_BASE_URL"),
        ("http://127.0.0.1:nonsense/v1", "check OPENAI_BASE_URL"),
        ("http://[::1", "check OPENAI_BASE_URL"),
        ("http://127.0.0.1\x00/v1", "check OPENAI_BASE_URL"),
        (f"http://user:{KEY}@127.0.0.1:1/v1", "cannot reach http://127.0.0.1:1/v1; check OPENAI_BASE_URL"),
    ],
)
def test_an_address_that_is_none(server, url, fix):
    found = failure(model(server, base_url=url))
    assert found.reason == "unreachable"
    assert fix in str(found)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/v1?api-key={}",
        "http://127.0.0.1:1/v1?a=b&key={}#{}",
        "http://127.0.0.1:1/{}/v1",
        "http://127.0.0.1:1/v1/{}",
        "http://user:{}@127.0.0.1:1/v1",
        "http://{}@127.0.0.1:1/v1",
        "user:{}@127.0.0.1:1/v1",
        "http://user:a/{}@127.0.0.1:1/v1",
        "http://127.0.0.1:nonsense/v1?api-key={}",
        "127.0.0.1:1/v1?api-key={}",
    ],
)
@pytest.mark.parametrize("key", ["SECRETKEY1234567890", "sk-%21very-secret-0123"])
def test_no_error_shows_a_key_of_the_address(url, key):
    found = failure(LLM("m", base_url=url.format(*[key] * 2), max_retries=0))
    assert found.reason == "unreachable"
    assert not any(part in str(found) for part in (key, unquote(key)))


@pytest.mark.parametrize("status", [200, 400, 403, 404, 429])
def test_a_server_that_repeats_the_address_shows_no_key_of_it(server, status):
    server.answer(status, error("no route for /part-0123456789abc/v1?api-key=in-query-1 of in-login-1"))
    url = server.url.replace("//", "//user:in-login-1@").replace("/v1", "/part-0123456789abc/v1?api-key=in-query-1")
    text = str(failure(model(server, base_url=url)))
    assert "no route for /[key]/v1" in text
    assert not re.search("part-0|in-query|in-login|user", text)


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "htp://x:y", "http://127.0.0.1:1"])
def test_a_proxy_that_does_not_work(monkeypatch, proxy):
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setenv("NO_PROXY", "")
    found = failure(LLM("gpt-x", base_url="http://192.0.2.1/v1", api_key=KEY, max_retries=0))
    assert found.reason == "unreachable"
    assert LLM().chat(HELLO).content  # the offline model takes no way out


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_a_file_of_certificates_that_is_none(monkeypatch, tmp_path, content):
    if content is not None:
        (tmp_path / "certificates.pem").write_text(content, "utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificates.pem"))
    found = failure(LLM("gpt-x", base_url="http://127.0.0.1:1/v1", api_key=KEY, max_retries=0))
    assert found.reason == "bad_settings"
    assert "check SSL_CERT_FILE" in str(found)
    assert LLM().chat(HELLO).content  # the offline model needs none


@pytest.mark.parametrize("key", ["sk-é", "sk-“quoted”", "sk-1\n2", "sk-1\r\nX: y", "sk 1", "sk-\x00", "sk-\ud800"])
def test_a_key_that_cannot_be_one(server, key):
    server.answer(401, error("no"))
    found = failure(model(server, api_key=key))
    assert found.reason == "wrong_key"
    assert "OPENAI_API_KEY" in str(found)
    assert key not in str(found)


def test_half_a_character_in_a_message_is_not_blamed_on_the_key(server):
    with pytest.raises(LLMError, match="a message holds half a character") as caught:
        model(server).chat([{"role": "user", "content": "\ud800"}])
    assert caught.value.reason == "bad_request"
    assert server.received == []


def test_half_a_character_in_a_message_of_ours_is_replaced(server):
    server.answer(200, completion("Yes."))
    assert model(server).chat([Message("user", "caf\udce9")]).content == "Yes."
    assert server.received[0][2]["messages"] == [{"role": "user", "content": "caf?"}]


def test_no_key_and_no_address():
    found = failure(LLM("gpt-x"))
    assert found.reason == "no_key"
    assert str(found) == (
        "there is no key for 'gpt-x'; set OPENAI_API_KEY in .env, or set AGENTLIB_MODEL=offline to go on without it"
    )


def test_a_local_server_needs_no_key(server):
    server.answer(200, completion())
    assert LLM("llama", base_url=server.url).chat(HELLO).content == "hi"


def test_an_error_can_be_pickled():
    copy = pickle.loads(pickle.dumps(LLMError("wrong_key", "correct it")))
    assert (type(copy), copy.reason, str(copy)) == (LLMError, "wrong_key", "correct it")


def test_jupyter_shows_one_line_and_no_traceback(tmp_path):
    cell = "from agentlib import LLM\nLLM('gpt-x').chat([])"  # in a process of its own: a shell replaces __main__
    environ = os.environ | {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "IPython", "--quick", "-c", cell], env=environ, cwd=tmp_path,
                          capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    assert (done.stdout + done.stderr).strip() == (
        "LLMError (no_key): there is no key for 'gpt-x'; set OPENAI_API_KEY in .env, "
        "or set AGENTLIB_MODEL=offline to go on without it"
    )


# -- settings


def test_the_offline_model_is_the_default():
    for llm in (LLM(), LLM("offline")):
        assert (llm.model, llm.in_process) == ("offline", True)
    reply = LLM().chat([Message("user", "Question: What is 2 + 2?")])
    assert "4" in reply.content
    assert reply.usage.calls == 1
    assert reply.usage.prompt_tokens > 0


OFFLINE_WITH_A_KEY = """
import sys
from agentlib import LLM, Message

def refuse(event, args):
    if event.startswith("socket.") and event != "socket.gethostname" and event != "socket.__new__":
        raise SystemExit(f"the network was used: {event} {args}")

sys.addaudithook(refuse)
llm = LLM()
reply = llm.chat([Message("user", "Question: What is 2 + 2?")])
assert reply.content
print(llm.model, llm.client.api_key)
"""


@pytest.mark.parametrize("setting", ["offline", "Offline", ""])
def test_offline_sends_nothing_however_many_keys_lie_around(server, tmp_path, setting):
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY={KEY}\n", "utf-8")
    environ = os.environ | {"AGENTLIB_MODEL": setting, "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url}
    command = [sys.executable, "-c", OFFLINE_WITH_A_KEY]
    environ["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("offline offline\n", "", 0)
    assert server.received == []


def test_the_settings_of_the_environment_are_used(server, monkeypatch):
    monkeypatch.setenv("AGENTLIB_MODEL", " gpt-env ")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.answer(200, completion())
    LLM().chat(HELLO)
    assert server.received[0][1]["authorization"] == f"Bearer {KEY}"
    assert server.received[0][2]["model"] == "gpt-env"


def test_the_nearest_env_file_upward_is_read(tmp_path, monkeypatch):
    deep = tmp_path / "course" / "notebooks" / "src"
    deep.mkdir(parents=True)
    (tmp_path / ".env").write_text("AGENTLIB_MODEL=far\nAGENTLIB_OMIT=stop\n", "utf-8")
    (tmp_path / "course" / ".env").write_text("AGENTLIB_MODEL='near'  # this one\nPATH=/nowhere\n", "utf-8")
    monkeypatch.chdir(deep)
    assert read_settings() == {"AGENTLIB_MODEL": "near"}
    assert LLM().model == "near"
    assert os.environ.get("AGENTLIB_MODEL") is None  # read, and put nowhere


def test_the_environment_wins_and_empty_values_do_not_count(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("AGENTLIB_MODEL=file\nOPENAI_API_KEY=\nOPENAI_BASE_URL=\nAGENTLIB_OMIT\n", "utf-8")
    monkeypatch.setenv("AGENTLIB_MODEL", "environment")
    assert read_settings() == {"AGENTLIB_MODEL": "environment"}
    monkeypatch.setenv("AGENTLIB_MODEL", "  ")
    assert LLM().model == "offline"


def test_what_is_given_wins_over_all_settings(server, tmp_path):
    (tmp_path / ".env").write_text("AGENTLIB_MODEL=file\nOPENAI_API_KEY=other\nOPENAI_BASE_URL=http://x\n", "utf-8")
    server.answer(200, completion())
    model(server).chat(HELLO)
    assert server.received[0][2]["model"] == "gpt-x"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])  # editors on Windows add a mark
def test_an_env_file_of_any_editor_is_read(tmp_path, encoding):
    (tmp_path / ".env").write_bytes("AGENTLIB_MODEL=größer\r\n".encode(encoding))
    assert LLM().model == "größer"


def test_an_env_file_that_is_no_text_is_one_line(tmp_path):
    (tmp_path / ".env").write_bytes("AGENTLIB_MODEL=x".encode("utf-16"))
    with pytest.raises(LLMError, match=r"\.env cannot be read; it must be a text file in UTF-8$"):
        LLM()


@pytest.mark.skipif(sys.platform == "win32", reason="there the directory of a process cannot be deleted")
def test_a_deleted_working_directory_has_no_env_file(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("AGENTLIB_MODEL=file\n", "utf-8")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert read_settings() == {"OPENAI_API_KEY": KEY}
    assert LLM().chat(HELLO).content


# -- the object


def test_its_repr_shows_no_key():
    llm = LLM("gpt-x", api_key=KEY, base_url="http://127.0.0.1:1")
    assert repr(llm) == "LLM('gpt-x')"


def test_it_can_be_pickled_with_its_client_made(server):
    server.answer(200, completion())
    llm = model(server, seed=7)
    llm.chat(HELLO)
    copy = pickle.loads(pickle.dumps(llm))
    assert "client" not in vars(copy)
    assert copy.chat(HELLO) == llm.chat(HELLO)
    assert server.received[0] == server.received[1]
    offline = pickle.loads(pickle.dumps(LLM()))
    assert offline.chat(HELLO) == LLM().chat(HELLO)


def test_importing_the_package_imports_no_client():
    program = "import sys, agentlib, agentlib.llm; print(sorted({'openai', 'httpx2', 'pydantic'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# -- the scripted model


def test_a_script_gives_its_replies_in_order_and_keeps_what_it_was_sent():
    with ScriptedLLM(["a", Reply("b", "length"), LLMError("rate_limit", "wait")]) as llm:
        assert llm.chat(HELLO, stop=["x"]) == Reply("a", "stop", Usage(1))
        assert llm.chat([{"role": "user", "content": "dict"}]) == Reply("b", "length")
        with pytest.raises(LLMError, match="wait"):
            llm.chat([])
    assert llm.requests == [
        {"messages": [{"role": "user", "content": "Hello"}], "stop": ["x"]},
        {"messages": [{"role": "user", "content": "dict"}], "stop": []},
        {"messages": [], "stop": []},
    ]


def test_a_script_complains_when_asked_for_too_much_or_too_little():
    with pytest.raises(ScriptError, match="the script holds 1 replies, and was asked for one more"):
        ReAct(ScriptedLLM(["hm"])).run("q")
    with pytest.raises(ScriptError, match="only 1 of the script's 2 replies were used"), ScriptedLLM(["a", "b"]) as llm:
        llm.chat(HELLO)
    with pytest.raises(ZeroDivisionError), ScriptedLLM(["a"]):  # another error is not hidden by the complaint
        raise ZeroDivisionError


def test_a_script_that_is_used_up_is_no_problem_of_the_run():
    with pytest.raises(ScriptError):  # it must reach the test, and not end as a stopped state
        ReAct(ScriptedLLM([])).run("q")
    assert not issubclass(ScriptError, LLMError)
