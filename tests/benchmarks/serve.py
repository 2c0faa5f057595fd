"""How fast the offline model answers over HTTP.

Run: python tests/benchmarks/serve.py [SECONDS]    prints requests per second for one and for 16 clients, and the delay
of the first streamed chunk. The server is a process of its own, and so is each client; they share this machine's cores.
A client keeps its connection and sends the same request with a tool, over a plain socket: what counts is the server.
"""

import http.client
import json
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"type": "function", "function": {"name": "weather", "description": "Get the weather.",
                                            "parameters": PARAMETERS}}
BODY = {"model": "offline", "tools": [WEATHER],
        "messages": [{"role": "user", "content": "Compare the weather in Beijing and Shanghai."}]}


def requests(port: int, start: float, seconds: float) -> int:
    """Send requests one after another from a start that all clients share; give how many were answered."""
    connection, raw = http.client.HTTPConnection("127.0.0.1", port), json.dumps(BODY).encode()
    time.sleep(max(0.0, start - time.time()))
    count = 0
    while time.time() < start + seconds:
        connection.request("POST", "/v1/chat/completions", raw)
        answer = connection.getresponse()
        assert answer.status == 200 and b"tool_calls" in answer.read()
        count += 1
    return count


def first_chunk(port: int) -> float:
    """Give the milliseconds from a request to its first streamed event, with a connection that is open already."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.connect()
    begun = time.perf_counter()
    connection.request("POST", "/v1/chat/completions", json.dumps(BODY | {"stream": True}).encode())
    answer = connection.getresponse()
    assert answer.readline().startswith(b"data: ")
    delay = 1000 * (time.perf_counter() - begun)
    answer.read()
    return delay


def main(seconds: float) -> None:
    """Measure and print."""
    command = [sys.executable, "-m", "agentlib", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            server.stdout.readline()
            port = int(server.stdout.readline().split(":")[-1].split("/")[0])
            requests(port, time.time(), 0.5)
            print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
            for clients in (1, 16):
                with ProcessPoolExecutor(clients) as pool:
                    start = time.time() + 1  # by then every process is there
                    counts = list(pool.map(requests, [port] * clients, [start] * clients, [seconds] * clients))
                print(f"{clients:2} clients: {sum(counts) / seconds:6.0f} requests per second")
            delays = sorted(first_chunk(port) for _ in range(200))
            print(f"first chunk of a stream: {statistics.median(delays):.2f} ms (median), {delays[189]:.2f} ms (95 %)")
        finally:
            server.terminate()


if __name__ == "__main__":
    main(float(sys.argv[1]) if sys.argv[1:] else 3)
