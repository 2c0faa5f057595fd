"""What the loop through agentlib costs, against the same loop written by hand over the openai client.

Run: python tests/benchmarks/loop.py          prints CPU milliseconds per run and the ratio, for 20 and for 200 steps
Both loops ask the same server in the process, which answers at once and always the same, so that only the loops differ.
"""

import json
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import httpx2
import openai
from openai.types.chat import ChatCompletion

from agentlib import LLM, ReAct
from agentlib.parsing import STOP

ACTION = 'Thought: I look up the next one.\nAction: look_up(name="Ada Lovelace", year=1815)'
ANSWER = "Thought: That was the last one.\nFinal Answer: Ada Lovelace"
LIMIT = 1.25


def look_up(name: str, year: int) -> str:
    """Look up a person."""
    return f"{name} was born in {year} in London and wrote the first published computer program."


def server(steps: int):
    """Make an application that asks for a tool until the conversation holds so many replies, then answers."""

    def respond(environ, start_response):
        request = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
        replies = (len(request["messages"]) - 2) // 2
        content = ANSWER if replies == steps else ACTION
        body = {
            "id": "x", "object": "chat.completion", "created": 0, "model": "offline",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }  # fmt: skip
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(body).encode()]

    return respond


def by_hand(client: openai.OpenAI, opening: list[dict]) -> tuple[str, int]:
    """The loop as one writes it in an afternoon."""
    messages = list(opening)
    while True:
        body = {"model": "offline", "messages": messages, "stop": list(STOP)}
        reply = client.post("/chat/completions", body=body, cast_to=ChatCompletion)
        content = reply.choices[0].message.content
        messages.append({"role": "assistant", "content": content})
        if "Final Answer:" in content:
            return content.split("Final Answer:")[1].strip(), len(messages)
        name, year = re.search(r'Action: look_up\(name="(.*?)", year=(\d+)\)', content).groups()
        messages.append({"role": "user", "content": f"Observation: {look_up(name, int(year))}"})


def cpu_ms(function, *args) -> float:
    start = time.process_time()
    function(*args)
    return (time.process_time() - start) * 1000


def compare(steps: int, rounds: int, ours: Callable[[], object], theirs: Callable[[], object]) -> float:
    """Give the ratio of the medians; the two loops take turns, so that a slow moment of the machine hits both."""
    times = [(cpu_ms(ours), cpu_ms(theirs)) for _ in range(rounds)]
    mine, yours = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{steps:4} steps: agentlib {mine:.1f} ms, by hand {yours:.1f} ms, ratio {mine / yours:.2f} of {LIMIT}")
    return mine / yours


def client_of(server) -> openai.OpenAI:
    """Make a client of a server in the process."""
    http = httpx2.Client(transport=httpx2.WSGITransport(server))
    return openai.OpenAI(api_key="x", base_url="http://offline/v1", http_client=http)


def measure(steps: int, rounds: int) -> float:
    """Compare the two loops on runs of so many steps."""
    agent = ReAct(LLM("offline", offline=server(steps)), tools=[look_up], max_iterations=steps + 1)
    client, opening = client_of(server(steps)), [message.to_wire() for message in agent.start("Who?").messages]
    state = agent.run("Who?")
    assert by_hand(client, opening) == (state.answer, len(state.messages))
    return compare(steps, rounds, lambda: agent.run("Who?"), lambda: by_hand(client, opening))


if __name__ == "__main__":
    sys.exit(max(measure(20, 15), measure(200, 7)) > LIMIT)
