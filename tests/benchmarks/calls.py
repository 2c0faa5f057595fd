"""The times that lesson 04 shows. Run: python tests/benchmarks/calls.py          prints them
                                      python tests/benchmarks/calls.py --keep   and keeps them in agentlib/measured

How long one step takes that runs 1 to 8 calls of 100 ms, one after the other and at once. And what one request costs
beside the model, by the length of its history: `chat.completions.create`, as the documentation has it, against the
client's own `post`, which agentlib uses.
"""

import json
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from agentlib import LLM, Call, FunctionCalling, Message, Reply, ScriptedLLM, Tool
from agentlib.measured import keep

COMMAND = "python tests/benchmarks/calls.py --keep"
SECONDS = 0.1
HISTORIES = (2, 50, 100, 200, 400)


def step_seconds(calls: int, limit: int, rounds: int = 5) -> float:
    """Give the median seconds of a step with so many calls of 100 ms, at most `limit` at once."""
    pause = Tool(lambda seconds: time.sleep(seconds), "pause", "Wait.")
    agent = FunctionCalling(ScriptedLLM([]), [pause], max_parallel=limit)
    asked = tuple(Call(f"c{i}", "pause", json.dumps({"seconds": SECONDS})) for i in range(calls))
    state = agent.read(agent.start("Wait."), Reply("", tool_calls=asked))
    return statistics.median(seconds(lambda: agent.step(state)) for _ in range(rounds))


def seconds(function) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def answer_at_once(environ, start_response):
    """A server that always says the same, so that only the client's work is measured."""
    start_response("200 OK", [("Content-Type", "application/json")])
    message = {"role": "assistant", "content": "Yes."}
    return [json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()]


def request_ms(messages: int, rounds: int = 30) -> tuple[float, float]:
    """Give the median milliseconds of one request by `create` and by `LLM.chat`; the two take turns."""
    llm = LLM("offline", offline=answer_at_once)
    history = [Message("user" if i % 2 else "assistant", f"message {i} " + "x" * 200) for i in range(messages)]
    as_dicts = [message.to_wire() for message in history]
    create = llm.client.chat.completions.create
    pairs = [
        (seconds(lambda: create(model="offline", messages=as_dicts)), seconds(lambda: llm.chat(history)))
        for _ in range(rounds)
    ]
    by_create, by_chat = (1000 * statistics.median(column) for column in zip(*pairs[3:], strict=True))
    return by_create, by_chat


def main() -> None:
    counts = list(range(1, 9))
    serial = [round(step_seconds(n, 1), 3) for n in counts]
    parallel = [round(step_seconds(n, 8), 3) for n in counts]
    requests = [request_ms(n) for n in HISTORIES]
    create, chat = ([round(figure, 2) for figure in column] for column in zip(*requests, strict=True))
    print("calls", counts, "\none by one, s", serial, "\nat once, s", parallel)
    print("messages", list(HISTORIES), "\ncreate, ms", create, "\nchat, ms", chat)
    if "--keep" in sys.argv[1:]:
        keep("parallel_calls", COMMAND, seconds_per_call=SECONDS, calls=counts, one_by_one=serial, at_once=parallel)
        keep("requests", COMMAND, messages=list(HISTORIES), create_ms=create, chat_ms=chat)


if __name__ == "__main__":
    main()
