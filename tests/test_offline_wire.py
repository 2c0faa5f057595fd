"""The offline model on the wire: what the openai client sees of it, and the API's own answers to wrong requests."""

import io
import json
import os
import re
import subprocess
import sys
import time

import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletion
from test_offline_loop import STOP, chat, opening, send

from agentlib.offline import Settings, app

QUESTION = "Which university did DeepMind's CEO attend?"


def client(settings: Settings | None = None, key: str = "any key") -> openai.OpenAI:
    """Make a real client whose requests go to the application in this process."""
    http = httpx2.Client(transport=httpx2.WSGITransport(app(settings)))
    return openai.OpenAI(api_key=key, base_url="http://offline/v1", http_client=http, max_retries=0)


def test_a_reply_is_a_chat_completion():
    reply = client().chat.completions.create(model="offline", messages=opening(QUESTION), stop=list(STOP), seed=1,
                                             temperature=0)
    assert reply.object == "chat.completion" and reply.model == "offline"
    assert reply.choices[0].finish_reason == "stop"
    assert re.search(r'Action: search\(query="[^"]*DeepMind', reply.choices[0].message.content)
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    assert reply.usage.completion_tokens == -(-len(reply.choices[0].message.content) // 4)


def test_the_client_may_post_the_body_itself():
    body = {"model": "offline", "messages": opening(QUESTION), "stop": list(STOP)}
    reply = client().post("/chat/completions", body=body, cast_to=ChatCompletion)
    assert reply.choices[0].message.content == chat(opening(QUESTION))


def test_models_are_listed():
    assert [model.id for model in client().models.list()] == ["offline"]
    assert client().models.retrieve("offline").owned_by == "agentlib"


def test_the_same_request_gives_the_same_bytes():
    def answer() -> bytes:
        raw = json.dumps({"model": "offline", "messages": opening(QUESTION), "seed": 3}).encode()
        environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/v1/chat/completions", "CONTENT_LENGTH": str(len(raw)),
                   "wsgi.input": io.BytesIO(raw)}
        return b"".join(app()(environ, lambda status, headers: None))

    assert answer() == answer()


def test_the_same_request_gives_the_same_bytes_in_another_process():
    code = ("import sys; sys.path[:0] = sys.argv[1:]\n"
            "from test_offline_loop import send, opening\n"
            f"print(send({{'model': 'offline', 'messages': opening({QUESTION!r})}}))")
    seen = {subprocess.run([sys.executable, "-c", code, *sys.path], capture_output=True, text=True, check=True,
                           encoding="utf-8",
                           env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}).stdout
            for seed in ("1", "2")}
    assert len(seen) == 1


def test_another_request_has_another_id():
    ids = {send({"model": "offline", "messages": opening(QUESTION), "seed": seed})[1]["id"] for seed in range(5)}
    assert len(ids) == 5


@pytest.mark.parametrize("stop", [["Observation:"], "Observation:", ["nowhere", "Observation:"]])
def test_a_stop_word_ends_the_reply_and_is_not_returned(stop):
    _, body = send({"model": "offline", "messages": opening(QUESTION), "stop": stop})
    content = body["choices"][0]["message"]["content"]
    assert content.endswith(')\n') and "Observation" not in content
    assert body["choices"][0]["finish_reason"] == "stop"


def test_the_finish_reason_is_stop_with_and_without_a_stop_word():
    reasons = [send({"model": "offline", "messages": opening(QUESTION), "stop": stop})[1]["choices"][0]["finish_reason"]
               for stop in (None, ["Observation:"])]
    assert reasons == ["stop", "stop"]


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_the_token_limit_cuts_the_reply(name):
    whole = chat(opening(QUESTION))
    _, body = send({"model": "offline", "messages": opening(QUESTION), name: 5})
    choice = body["choices"][0]
    assert choice["message"]["content"] == whole[:20]
    assert choice["finish_reason"] == "length" and body["usage"]["completion_tokens"] == 5


# What the API refuses.

MESSAGES = [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize(("body", "param"), [
    ({"model": "offline"}, "messages"), ({"model": "offline", "messages": []}, "messages"),
    ({"messages": MESSAGES}, "model"), ({"model": "offline", "messages": "Hello"}, "messages"),
    ({"model": "offline", "messages": ["Hello"]}, "messages[0]"),
    ({"model": "offline", "messages": [{"role": "robot", "content": "x"}]}, "messages[0].role"),
    ({"model": "offline", "messages": [{"role": "user", "content": 7}]}, "messages[0].content"),
    ({"model": "offline", "messages": [{"role": "user"}]}, "messages[0].content"),
    ({"model": "offline", "messages": MESSAGES, "stop": list("abcde")}, "stop"),
    ({"model": "offline", "messages": MESSAGES, "stop": [1]}, "stop"),
    ({"model": "offline", "messages": MESSAGES, "temperature": 3}, "temperature"),
    ({"model": "offline", "messages": MESSAGES, "temperature": "hot"}, "temperature"),
    ({"model": "offline", "messages": MESSAGES, "max_tokens": 0}, "max_tokens"),
    ({"model": "offline", "messages": MESSAGES, "seed": "lucky"}, "seed"),
    ({"model": "offline", "messages": MESSAGES, "n": 2}, "n"),
    ({"model": "offline", "messages": MESSAGES, "stream": "yes"}, "stream"),
    ({"model": "offline", "messages": MESSAGES, "tools": [{"type": "function"}]}, "tools[0].function"),
])
def test_a_wrong_field_is_named(body, param):
    status, answer = send(body)
    assert status == "400 Bad Request"
    assert answer["error"]["type"] == "invalid_request_error" and answer["error"]["param"] == param


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b"[" * 100000, b'{"model": "offline", "messages": NaN}'])
def test_a_body_that_is_not_a_json_object_is_refused(raw):
    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/v1/chat/completions", "CONTENT_LENGTH": str(len(raw)),
               "wsgi.input": io.BytesIO(raw)}
    seen = []
    body = json.loads(b"".join(app()(environ, lambda status, headers: seen.append(status))))
    assert seen == ["400 Bad Request"] and body["error"]["type"] == "invalid_request_error"


def test_a_wrong_key():
    with pytest.raises(openai.AuthenticationError) as error:
        wrong = client(Settings(api_keys=("right",)), key="sk-wrong-key")
        wrong.chat.completions.create(model="offline", messages=MESSAGES)
    assert error.value.code == "invalid_api_key"
    assert "sk-wrong-key" not in str(error.value)
    client(Settings(api_keys=("right",)), key="right").chat.completions.create(model="offline", messages=MESSAGES)


def test_an_unknown_model():
    with pytest.raises(openai.NotFoundError) as error:
        client().chat.completions.create(model="gpt-9", messages=MESSAGES)
    assert error.value.code == "model_not_found"


def test_a_context_that_is_too_long():
    long = [{"role": "user", "content": "word " * 500}]
    with pytest.raises(openai.BadRequestError) as error:
        client(Settings(context_window=500)).chat.completions.create(model="offline", messages=long)
    assert error.value.code == "context_length_exceeded"
    assert "500 tokens" in str(error.value)
    with pytest.raises(openai.BadRequestError):
        client(Settings(context_window=500)).chat.completions.create(model="offline", messages=MESSAGES, max_tokens=500)


def test_the_rate_limit():
    limited = client(Settings(requests=2))
    for _ in range(2):
        limited.chat.completions.create(model="offline", messages=MESSAGES)
    with pytest.raises(openai.RateLimitError) as error:
        limited.chat.completions.create(model="offline", messages=MESSAGES)
    assert error.value.code == "rate_limit_exceeded"
    assert error.value.response.headers["Retry-After"] == "1"


@pytest.mark.parametrize(("method", "path", "status"), [
    ("GET", "/v1/chat/completions", 405), ("POST", "/v1/nothing", 404), ("GET", "/", 404),
])
def test_other_addresses(method, path, status):
    response = httpx2.Client(transport=httpx2.WSGITransport(app())).request(method, f"http://offline{path}")
    assert response.status_code == status and "error" in response.json()


# What it costs.


def test_a_long_conversation_is_read_quickly():
    messages = opening(QUESTION)
    for number in range(100):
        action = f'Thought: I look up {number}.\nAction: search(query="{number}")'
        messages.append({"role": "assistant", "content": action})
        messages.append({"role": "user", "content": f"Observation: Thing {number}: Its CEO is Person Number{number}."})
    body = {"model": "offline", "messages": messages}
    send(body, Settings(context_window=10**6))
    start = time.perf_counter()
    for _ in range(5):
        send(body, Settings(context_window=10**6))
    assert (time.perf_counter() - start) / 5 < 0.05  # 3 ms on the machine where it was written


def test_it_needs_the_standard_library_only():
    code = ("import sys; sys.path[:0] = sys.argv[1:]; before = set(sys.modules); import agentlib.offline\n"
            "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before} -"
            " set(sys.stdlib_module_names)))\n"
            "print(*sorted(name for name in sys.modules if name.startswith('agentlib.') and 'offline' not in name))")
    found = subprocess.run([sys.executable, "-c", code, *sys.path], capture_output=True, text=True, check=True).stdout
    assert found.split("\n")[:2] == ["agentlib", ""]
