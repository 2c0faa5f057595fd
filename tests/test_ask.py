"""The agent in the terminal, with a person who is asked in a real one, and with nobody there."""

import argparse
import codecs
import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

from agentlib import ask
from agentlib.llm import SETTINGS

ROOT = Path(__file__).parents[1]
PATIENCE = 60  # seconds; only a failure takes that long
REFUND = {"order_id": "A-1001", "amount": 5, "reason": "it came broken"}
PROMPT = "or the reason why not: "


class Quiet(WSGIRequestHandler):
    def log_message(self, *args: object) -> None:
        """Keep quiet."""


class Model:
    """A server that asks for a call, then answers; `requests` are what it was sent."""

    def __init__(self, name: str, arguments: dict) -> None:
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        self.replies = [{"content": "I do it.", "tool_calls": [call]}, {"content": "That is all."}]
        self.requests: list[dict] = []

    def __call__(self, environ: dict, start_response) -> list[bytes]:
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        message = {"role": "assistant", **self.replies[len(self.requests)]}
        self.requests.append(json.loads(body))
        start_response("200 OK", [("Content-Type", "application/json")])
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return [json.dumps({"id": "1", "object": "chat.completion", "choices": [choice]}).encode()]

    @property
    def told(self) -> str:
        """The result of the call, as the model was told it."""
        return self.requests[1]["messages"][-1]["content"]


@contextlib.contextmanager
def serving(model: Model) -> Iterator[dict]:
    """Serve a model on loopback; gives the settings that name it."""
    with make_server("127.0.0.1", 0, model, handler_class=Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield {"AGENTLIB_MODEL": "m", "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "k"}
        finally:
            server.shutdown()
            thread.join()


def environ(settings: dict) -> dict:
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return kept | settings | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "agentlib.ask", *arguments]


SHOP = ("--strategy=function_calling", "--tools=orders", "--", "Refund 5 euros for order A-1001.")


class Terminal:
    """A command in a terminal of its own, and a person at it."""

    def __init__(self, arguments: list[str], settings: dict, folder: Path) -> None:
        import pty

        self.screen, inner = pty.openpty()
        self.text, self.seen = "", 0
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.process = subprocess.Popen(
            arguments, stdin=inner, stdout=inner, stderr=inner, env=environ(settings), cwd=folder,
            start_new_session=True,
        )  # fmt: skip
        os.close(inner)

    def read_until(self, text: str) -> None:
        """Read on until the text has come since the last time."""
        end = time.monotonic() + PATIENCE
        while text not in self.text[self.seen :]:
            assert time.monotonic() < end, f"{text!r} did not come: {self.text}"
            if select.select([self.screen], [], [], 1)[0]:
                self.text += self._read()
        self.seen = self.text.index(text, self.seen) + len(text)

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C; again after a while, as one would, since Python misses one that comes just before it reads."""
        for _ in range(PATIENCE // 5):
            self.process.send_signal(signal.SIGINT)
            if select.select([self.screen], [], [], 5)[0]:
                return

    def end(self) -> int:
        """Read to the end, and give the exit status."""
        while more := self._read():
            self.text += more
        os.close(self.screen)
        return self.process.wait(PATIENCE)

    def _read(self) -> str:
        try:
            return self.decoder.decode(os.read(self.screen, 4096)).replace("\r\n", "\n")
        except OSError:  # Linux's way to say that nobody writes any more
            return ""


@pytest.fixture
def at_terminal(tmp_path):
    """A function that runs the refund in a terminal, types each line at its prompt, and gives what happened."""
    pytest.importorskip("pty", reason="a terminal of its own needs a Unix")

    def run(*typed: tuple[str, str], arguments: dict = REFUND) -> tuple[Model, str, int]:
        model = Model("refund", arguments)
        with serving(model) as settings:
            terminal = Terminal(command(*SHOP), settings, tmp_path)
            for prompt, text in typed:
                terminal.read_until(prompt)
                terminal.type(text)
            status = terminal.end()
        return model, terminal.text, status

    return run


def test_a_person_approves(at_terminal):
    model, text, status = at_terminal((PROMPT, "y\n"))
    assert status == 0
    assert 'This call writes, and waits for you: refund(order_id="A-1001", amount=5, reason="it came broken")' in text
    assert model.told.startswith("Refunded EUR 5.00")
    assert 'Decision: approved: refund(order_id="A-1001"' in text
    assert text.index("Decision: approved") < text.index("Observation: Refunded") < text.index("Final Answer: That is")


def test_a_person_rejects_with_a_reason(at_terminal):
    model, text, status = at_terminal((PROMPT, "the customer must send it back first\n"))
    assert status == 0
    assert model.told == "Error: rejected by a person: the customer must send it back first"
    assert "Decision: rejected" in text


def test_a_person_changes_the_arguments_and_mistypes_once(at_terminal):
    model, text, status = at_terminal(
        (PROMPT, "e\n"), ("instead of", '{"order_id": "A-1001"}\n'),
        ("these arguments do not fit refund", ""), (PROMPT, "e\n"),
        ("instead of", json.dumps(REFUND | {"amount": 3}) + "\n"), (PROMPT, "y\n"),
    )  # fmt: skip
    assert status == 0
    assert model.told.startswith("Refunded EUR 3.00")
    assert 'waits for you: refund(order_id="A-1001", amount=3' in text
    held = model.requests[1]["messages"][-2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(held)["amount"] == 3


def test_the_end_of_the_input_rejects(at_terminal):
    model, _, status = at_terminal((PROMPT, "\x04"))
    assert status == 0
    assert "nobody was there to approve it" in model.told


def test_an_interrupt_at_the_question_runs_nothing(tmp_path):
    pytest.importorskip("pty", reason="a terminal of its own needs a Unix")
    model = Model("refund", REFUND)
    with serving(model) as settings:
        terminal = Terminal(command(*SHOP), settings, tmp_path)
        terminal.read_until(PROMPT)
        terminal.interrupt()
        assert terminal.end() == 130
    assert "Traceback" not in terminal.text
    assert len(model.requests) == 1


def test_nothing_hides_in_a_call_that_waits(at_terminal):
    hidden = "broken\u202e\u200b\x1b[2J\x9b"
    _, text, _ = at_terminal((PROMPT, "n\n"), arguments=REFUND | {"reason": hidden})
    assert r"broken\u202e\u200b\u001b[2J\u009b" in text
    assert not set(text) & set("\u202e\u200b\x1b\x9b")


def test_without_a_terminal_nobody_is_asked(tmp_path):
    model = Model("refund", REFUND)
    with serving(model) as settings:
        done = subprocess.run(command(*SHOP), input="y\n", env=environ(settings), cwd=tmp_path, capture_output=True,
                              encoding="utf-8", timeout=PATIENCE)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert PROMPT not in done.stdout
    assert "nobody was there to approve it" in model.told


def test_function_calling_says_which_result_is_from_which_call(tmp_path):
    done = subprocess.run(
        command("--strategy", "function_calling", "Is it warmer in Beijing or in Shanghai?"), cwd=tmp_path,
        env=environ({"AGENTLIB_MODEL": "offline"}), capture_output=True, encoding="utf-8", timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    asked = re.findall(r'^Action: (weather\(city="\w+"\))$', done.stdout, re.M)
    results = re.findall(r"^Observation from (weather.*?): ", done.stdout, re.M)
    assert asked == results == ['weather(city="Beijing")', 'weather(city="Shanghai")']


def test_a_plan_is_printed_with_what_came_of_its_tasks(tmp_path):
    done = subprocess.run(
        command("--strategy", "plan_execute", "How many degrees warmer is Cairo than Oslo?"), cwd=tmp_path,
        env=environ({"AGENTLIB_MODEL": "offline"}), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert "Plan:" in done.stdout and "Task cairo (done): " in done.stdout
    assert "Final Answer: The difference is 21" in done.stdout


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_question_is_refused_in_one_line(text):
    done = subprocess.run(command(text), capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT, check=False)
    assert done.returncode == 2 and "the question is empty" in done.stderr.splitlines()[-1]


def test_what_a_tool_returns_cannot_move_the_cursor(tmp_path):
    model = Model("weather", {"city": "\x1b[2J\x07Rome"})
    with serving(model) as settings:
        asks = command("--strategy=function_calling", "Why?")
        done = subprocess.run(asks, env=environ(settings), cwd=tmp_path, capture_output=True, encoding="utf-8",
                              timeout=PATIENCE, stdin=subprocess.DEVNULL)  # fmt: skip
    assert done.returncode == 0
    assert "Rome" in done.stdout
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.stdout)


@pytest.mark.parametrize(
    "typed",
    [["Why?"], ["--strategy=function_calling", "Why?"],
     ["--tools=orders", "--model=m", "--max-iterations=3", "--", "-x"]],
    ids=str,
)  # fmt: skip
def test_the_options_pass_from_one_process_to_the_next(typed):
    parser = argparse.ArgumentParser()
    ask.add_arguments(parser)
    options = parser.parse_args(typed)
    assert parser.parse_args(ask.as_arguments(options)) == options


@pytest.mark.parametrize("option", ["--strategy=plan", "--tools=all"])
def test_what_there_is_not_is_refused(option):
    done = subprocess.run(command(option, "Why?"), env=environ({}), capture_output=True, encoding="utf-8")
    assert done.returncode == 2
    assert "invalid choice" in done.stderr
