"""What the loop of function calling costs, against the same loop written by hand over `client.post`.

Run: python tests/benchmarks/tool_loop.py     prints CPU milliseconds per run and the ratio, for 20 and for 200 steps;
                                              then the seconds that eight calls of 100 ms take together
Each reply asks for two tools at once. agentlib checks their arguments and runs them in threads; by hand they are parsed
and run one after the other. Both loops ask the same server in the process, which answers at once and always the same,
so that only the loops differ.
"""

import json
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import openai
from loop import LIMIT, client_of, compare
from openai.types.chat import ChatCompletion

from agentlib import LLM, FunctionCalling, Reply, ScriptedLLM, Tool
from agentlib.state import Call

NAMES = ("Ada Lovelace", "Charles Babbage")
TOGETHER = 0.150  # seconds


def look_up(name: str, year: int) -> str:
    """Look up a person."""
    return f"{name} was born in {year} in London and wrote about the first computer that could be programmed."


def server(steps: int):
    """Make an application that asks for two tools until the conversation holds so many replies, then answers."""

    def respond(environ, start_response):
        request = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
        replies = (len(request["messages"]) - 2) // 3
        calls = [
            {"id": f"c{replies}.{i}", "type": "function",
             "function": {"name": "look_up", "arguments": json.dumps({"name": name, "year": 1815})}}
            for i, name in enumerate(NAMES)
        ]  # fmt: skip
        asking = {"role": "assistant", "content": "I look up the next two.", "tool_calls": calls}
        message = {"role": "assistant", "content": "Ada Lovelace"} if replies == steps else asking
        body = {
            "id": "x", "object": "chat.completion", "created": 0, "model": "offline",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }  # fmt: skip
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(body).encode()]

    return respond


def by_hand(client: openai.OpenAI, opening: list[dict], tools: list[dict]) -> tuple[str, int]:
    """The loop as one writes it in an afternoon."""
    messages = list(opening)
    while True:
        body = {"model": "offline", "messages": messages, "tools": tools}
        message = client.post("/chat/completions", body=body, cast_to=ChatCompletion).choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content, len(messages)
        for call in message.tool_calls:
            result = look_up(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def measure(steps: int, rounds: int) -> float:
    """Compare the two loops on runs of so many steps."""
    agent = FunctionCalling(LLM("offline", offline=server(steps)), tools=[look_up], max_iterations=steps + 1)
    client, opening = client_of(server(steps)), [message.to_wire() for message in agent.start("Who?").messages]
    tools = [tool.to_wire() for tool in agent.toolbox.tools.values()]
    state = agent.run("Who?")
    assert by_hand(client, opening, tools) == (state.answer, len(state.messages))
    return compare(steps, rounds, lambda: agent.run("Who?"), lambda: by_hand(client, opening, tools))


def together(rounds: int = 9) -> float:
    """Give the seconds that a step takes which runs eight calls of 100 ms each."""
    pause = Tool(lambda seconds: time.sleep(seconds), "pause", "Wait.")
    agent = FunctionCalling(ScriptedLLM([]), [pause])
    calls = tuple(Call(f"c{i}", "pause", '{"seconds": 0.1}') for i in range(8))
    asked = agent.read(agent.start("Wait."), Reply("", tool_calls=calls))
    took = []
    for _ in range(rounds):
        start = time.perf_counter()
        agent.step(asked)
        took.append(time.perf_counter() - start)
    print(f"8 calls of 100 ms: {statistics.median(took) * 1000:.0f} ms of {TOGETHER * 1000:.0f} ms")
    return statistics.median(took)


if __name__ == "__main__":
    sys.exit(max(measure(20, 15), measure(200, 7)) > LIMIT or together() > TOGETHER)
