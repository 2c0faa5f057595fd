"""How fast replies are read, and that the time grows with the length of a reply and not faster.

Run: python tests/benchmarks/parsing.py          prints replies per second, and milliseconds for replies up to 1 MB
The gallery is what a small real model wrote (tests/data/real_replies.jsonl) and one reply for each way to go wrong.
The exit code says whether 1 MB took under 100 ms for every kind of long reply.
"""

import json
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from agentlib.parsing import parse

LIMIT_MS = 100
REAL = Path(__file__).parents[1] / "data" / "real_replies.jsonl"
CALL = '{"name": "search", "arguments": {"query": "DeepMind CEO", "limit": 3}}'
MALFORMED = [
    'Thought: I need its CEO.\nAction: search(query="DeepMind CEO", limit=3)',
    'Thought: I need its CEO.\nAction: search\nAction Input: {"query": "DeepMind CEO", "limit": 3}',
    f"Thought: I need its CEO.\nAction: {CALL}",
    "**Thought:** I need its CEO.\n**Action:** `search`\n**Action Input:** {'query': \"Intel's CEO\"}",
    "Thought: I need its CEO.\nAction: search\nAction Input: {query: 'DeepMind CEO' limit: 3}",
    "Thought：先查。\nAction：search（query=“上海”，limit=3）",
    "Thought: I need its CEO.\nAction: Search[DeepMind CEO]\nObservation: Demis Hassabis\nFinal Answer: Hassabis",
    'Thought: I need its CEO. Action: search(query="DeepMind CEO")',
    f"I look it up.\n```json\n{CALL}\n```",
    f"<think>\nAction: or not?\n</think>\n<tool_call>{CALL}</tool_call>",
    'Thought: I need its CEO.\nAction: search\nAction Input: {"query": "DeepMind C',
    "I would look for DeepMind and then for its CEO.",
    "Thought: I know it.\nFinal Answer: Demis Hassabis",
]
LONG = {
    "a thought": "It is not known who leads it, so I have to look that up before I go on. ",
    "lines of prose": "Then I look up the next one.\n",
    "code in an answer": "    total = [x for x in {'a': 1}]\n",
    "labels only": "Action:\n",
    "actions": 'Thought: t\nAction: search("x")\nObservation: y\n',
    "braces": "{",
    "JSON calls": f"{CALL}\n",
    "broken JSON": '{"name": "f", "arguments": {a: ',
    "quotes": "\"'",
    "fences": "```json\n",
    "thinking": "<think>Action: f</think>\n",
    "sentences with labels": "So it is. Action: f(x ",
}
STARTS = ["Thought: ", "Final Answer: ", "Action: f(", "Action: f\nAction Input: {"]


def milliseconds(text: str, rounds: int) -> float:
    """Give the median of the processor's time to read a text."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        parse(text)
        times.append((time.process_time() - start) * 1000)
    return statistics.median(times)


def throughput(replies: list[str], seconds: float = 2.0) -> float:
    """Give the replies read in a second of the processor's time."""
    count, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        for reply in replies:
            parse(reply)
        count += len(replies)
    return count / (time.process_time() - start)


def main() -> int:
    """Print both measurements. Gives 1 where a reply of 1 MB took too long."""
    real = [json.loads(line)["reply"] for line in REAL.read_text("utf-8").splitlines()]
    rungs = Counter(parse(reply).rung for reply in real + MALFORMED)  # also loads json-repair, once
    print("gallery:", ", ".join(f"{rung} {count}" for rung, count in sorted(rungs.items())))
    for name, replies in {"a real small model": real, "one of each kind": MALFORMED}.items():
        print(f"{name:20} {throughput(replies):9,.0f} replies a second")
    sizes = [1 << 10, 1 << 14, 1 << 17, 1 << 20]
    print(f"\n{'milliseconds, slowest start':28}" + "".join(f"{size // 1024:6} kB" for size in sizes))
    worst = 0.0
    for name, piece in LONG.items():
        whole = piece * (sizes[-1] // len(piece) + 1)
        row = [max(milliseconds((start + whole)[:size], 3) for start in STARTS) for size in sizes]
        worst = max(worst, row[-1])
        print(f"{name:28}" + "".join(f"{value:9.2f}" for value in row))
    print(f"\nthe slowest 1 MB: {worst:.0f} ms of {LIMIT_MS}")
    return int(worst > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
