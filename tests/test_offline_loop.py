"""The offline model in a plain loop, which the other tests use too: what it asks, what it does with what comes back."""

import io
import json
import re
from collections.abc import Callable

from agentlib.offline import Settings, app
from agentlib.world import calculator, search, weather

LESSON_TOOLS = """\
- search(query: string): Look up people, companies, places, books and prizes in an encyclopedia.
- weather(city: string): Get today's weather in a city: temperature, sky, wind and humidity.
- calculator(expression: string): Calculate an arithmetic expression."""
REACT = """\
Answer the question. You can use these tools:

{tools}

Use exactly this format:

Thought: what you know and what you need next
Action: tool_name(parameter="value")

Then stop. The result comes back to you as:

Observation: the result of the action

When you know the answer, or when no tool is needed, reply with:

Thought: why you know the answer
Final Answer: the answer"""
ACTING = """\
Answer the question. You can use these tools:

{tools}

Use exactly this format:

Action: tool_name(parameter="value")

Then stop. The result comes back to you as:

Observation: the result of the action

When you know the answer, reply with:

Final Answer: the answer"""
REASONING = """\
Answer the question. Use exactly this format:

Thought: think step by step
Final Answer: the answer"""
FUNCTIONS = {"search": search, "weather": weather, "calculator": calculator}
STOP = ("Observation:",)
ARGUMENT = re.compile(r"""([A-Za-z_]\w*)=("(?:[^"\\]|\\.)*"|\d+)""")


def send(body: dict, settings: Settings | None = None) -> tuple[str, dict]:
    """Send one request to the application, without a client; give the status line and the body."""
    raw = json.dumps(body).encode()
    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/v1/chat/completions", "CONTENT_LENGTH": str(len(raw)),
               "wsgi.input": io.BytesIO(raw)}
    seen = []
    content = b"".join(app(settings)(environ, lambda status, headers: seen.append(status)))
    return seen[0], json.loads(content)


def chat(messages: list[dict], stop: tuple[str, ...] = STOP, **options: object) -> str:
    """Give the text of one reply."""
    status, body = send({"model": "offline", "messages": messages, "stop": list(stop) or None, **options})
    assert status == "200 OK", body
    return body["choices"][0]["message"]["content"]


def opening(question: str, prompt: str = REACT, tools: str = LESSON_TOOLS) -> list[dict]:
    """Give the first messages of a run."""
    return [{"role": "system", "content": prompt.format(tools=tools)},
            {"role": "user", "content": f"Question: {question}"}]


def call(action: str, functions: dict[str, Callable]) -> str:
    """Run the last action of a reply, as a plain loop would."""
    name, arguments = re.findall(r"^Action: ([\w.]+)\((.*)\)\s*$", action, re.M)[-1]
    if name not in functions:
        return f"Error: unknown tool {name!r}. The tools are: {', '.join(functions)}"
    try:
        return functions[name](**{key: json.loads(value) for key, value in ARGUMENT.findall(arguments)})
    except Exception as error:
        return f"Error: {type(error).__name__}: {error}"


def run(
    question: str, *, prompt: str = REACT, tools: str = LESSON_TOOLS, functions: dict[str, Callable] | None = None,
    edit: Callable[[str], str] = lambda text: text, before: list[dict] | None = None, most: int = 12, **options: object,
) -> tuple[str, list[dict]]:
    """Ask, run the tools, append, until there is a final answer; give both. `edit` changes observations."""
    messages = before or opening(question, prompt, tools)
    if before:
        messages = [*before, {"role": "user", "content": f"Question: {question}"}]
    for _ in range(most):
        reply = chat(messages, **options)
        messages = [*messages, {"role": "assistant", "content": reply}]
        answer = re.search(r"^Final Answer: (.*)", reply, re.M | re.S)
        if answer:
            return answer.group(1), messages
        observation = edit(call(reply, functions or FUNCTIONS))
        messages = [*messages, {"role": "user", "content": f"Observation: {observation}"}]
    raise AssertionError(f"no answer to {question!r} after {most} calls: {reply}")


def actions(messages: list[dict]) -> list[str]:
    """Give the actions of a run, in order."""
    replies = "\n".join(message["content"] for message in messages if message["role"] == "assistant")
    return re.findall(r"^Action: (.*?)\s*$", replies, re.M)


def test_a_two_hop_question_takes_two_searches_the_second_from_the_first_ones_result():
    answer, messages = run("Which university did DeepMind's CEO attend?")
    assert actions(messages) == ['search(query="DeepMind CEO")', 'search(query="Demis Hassabis university")']
    assert "University of Cambridge" in answer
    assert "The CEO of DeepMind is Demis Hassabis." in messages[4]["content"]  # the hop is stated before it is used


def test_a_comparison_asks_for_each_city_and_names_the_warmer_one_first():
    answer, messages = run("Is it warmer in Beijing or in Shanghai?")
    assert actions(messages) == ['weather(city="Beijing")', 'weather(city="Shanghai")']
    assert answer.startswith("Shanghai")


def test_a_sum_of_observed_numbers_goes_to_the_calculator():
    answer, messages = run("How many degrees warmer is Shanghai than Beijing?")
    assert actions(messages)[-1] == 'calculator(expression="26 - 21")'
    assert answer.startswith("Shanghai is 5 degrees warmer than Beijing")
