"""The ways in which a reply goes wrong in its form, one small function each. `malformation` says what the rungs are."""

import re

from .malformation import MALFORMED, malformation
from .parts import Parts, pairs, to_json

__all__ = ["MALFORMED"]  # by name, in the order of this module

# -- another notation


@malformation("strict")
def json_call(reply: Parts) -> str:
    """JSON where call syntax was asked for."""
    return f"{reply.head}Action: {reply.as_json()}"


@malformation("strict")
def call_in_two_lines(reply: Parts) -> str:
    """`Action` and `Action Input`, as other prompts ask for them."""
    return f"{reply.head}Action: {reply.tool}\nAction Input: {to_json(reply.arguments)}"


@malformation("strict")
def wrapper_object(reply: Parts) -> str:
    """The call inside one more object."""
    return f'{reply.head}Action: {{"tool_call": {reply.as_json()}}}'


@malformation("strict")
def other_keys(reply: Parts) -> str:
    """Other words for the name and the arguments."""
    return f"{reply.head}Action: {to_json({'tool': reply.tool, 'parameters': reply.arguments})}"


@malformation("strict")
def arguments_as_text(reply: Parts) -> str:
    """The arguments as a text that holds JSON, as the API has them."""
    return f"{reply.head}Action: {reply.as_json(arguments=to_json(reply.arguments))}"


@malformation("strict")
def raw_newline(reply: Parts) -> str | None:
    """A line break inside a text of several words, where a space belongs."""
    name, value = reply.only_text
    first, last = value.rsplit(" ", 1) if re.fullmatch(r"[^\W\d]+(?: [^\W\d]+){2,}", value) else ("", "")
    return f'{reply.head}Action: {reply.tool}({name}="{first}\n{last}")' if first else None


# -- arguments to repair


@malformation("repaired")
def single_quotes(reply: Parts) -> str:
    """A Python dict instead of JSON."""
    return f"{reply.head}Action: {({'name': reply.tool, 'arguments': reply.arguments})!r}"


@malformation("repaired")
def curly_quotes(reply: Parts) -> str | None:
    """Typographic quotes."""
    name, value = reply.only_text
    return f"{reply.head}Action: {reply.tool}({name}=“{value}”)" if value else None


@malformation("repaired")
def trailing_comma(reply: Parts) -> str | None:
    """A comma after the last argument in JSON."""
    return f"{reply.head}Action: {reply.as_json()[:-2]},}}}}" if reply.arguments else None


@malformation("repaired")
def unquoted_keys(reply: Parts) -> str:
    """JSON with bare names, as in JavaScript."""
    with_bare_names = re.sub(r'"(\w+)": ', r"\1: ", reply.as_json())
    return f"{reply.head}Action: {with_bare_names}"


@malformation("strict")
def full_width_brackets(reply: Parts) -> str:
    """The brackets of Chinese and Japanese."""
    return f"{reply.head}Action: {reply.tool}（{pairs(reply.arguments)}）"


# -- labels, and what stands round them


@malformation("strict", also_answers=True)
def bold_labels(reply: Parts) -> str:
    """Labels in markdown's bold type."""
    return re.sub(r"^(Thought|Action|Final Answer):", r"**\1:**", reply.text, flags=re.M)


@malformation("strict", also_answers=True)
def full_width_colons(reply: Parts) -> str:
    """Labels with the colon of Chinese and Japanese."""
    return re.sub(r"^(Thought|Action|Final Answer): ", r"\1：", reply.text, flags=re.M)


@malformation("strict", also_answers=True)
def missing_thought_label(reply: Parts) -> str | None:
    """A thought without its label."""
    return reply.text.removeprefix("Thought: ") if reply.thought else None


@malformation("strict", also_answers=True)
def think_block(reply: Parts) -> str | None:
    """The thinking of a reasoning model, which talks about the format, in front."""
    aloud = "The format wants a Thought: and then an\nAction: or a\nFinal Answer: and nothing else."
    return f"<think>\n{aloud}\n{reply.thought}\n</think>\n{reply.text}" if reply.thought else None


@malformation("labelled")
def missing_quotes(reply: Parts) -> str | None:
    """A text without its quotes."""
    name, value = reply.only_text
    return f"{reply.head}Action: {reply.tool}({name}={value})" if re.fullmatch(r"[\w .'-]+", value) else None


@malformation("labelled")
def one_line(reply: Parts) -> str | None:
    """The action on the line of the thought."""
    return f"Thought: {reply.thought} Action: {reply.as_call}" if reply.thought else None


@malformation("labelled")
def numbered_brackets(reply: Parts) -> str | None:
    """The notation of the ReAct paper, which models know by heart: `Action 1: Search[query]`."""
    _, value = reply.only_text
    numbered = reply.head.replace("Thought:", "Thought 1:")
    fits = value and not re.search(r"[\[\]]", value)
    return f"{numbered}Action 1: {reply.tool.capitalize()}[{value}]" if fits else None


@malformation("strict")
def code_fence(reply: Parts) -> str:
    """The call in a block of code."""
    return f"{reply.head}Action:\n```json\n{reply.as_json()}\n```"


@malformation("labelled")
def bare_json(reply: Parts) -> str:
    """Nothing but the call, as JSON."""
    return reply.as_json()


@malformation("strict")
def trailing_prose(reply: Parts) -> str:
    """Polite words after the action."""
    return f"{reply.text}\n\nI will wait for the result before I go on."


@malformation("strict")
def several_actions(reply: Parts) -> str | None:
    """A second action before the first has a result."""
    name, value = reply.only_text
    second = f"{reply.tool}({pairs({name: f'more on {value}'})})"
    return f"{reply.text}\nThought: Then I need more on it.\nAction: {second}" if value else None


@malformation("strict")
def early_answer(reply: Parts) -> str:
    """An answer right after the action, before it has a result."""
    return f"{reply.text}\nFinal Answer: The result of {reply.tool} answers the question."


# -- arguments that the schema does not know


@malformation("schema")
def misspelt_parameter(reply: Parts) -> str | None:
    """Two letters of a parameter's name in the wrong order."""
    name = next((key for key in reply.arguments if len(key) > 3), "")
    wrong = f"{name[:1]}{name[2:3]}{name[1:2]}{name[3:]}"
    if wrong == name:
        return None
    arguments = {wrong if key == name else key: value for key, value in reply.arguments.items()}
    return f"{reply.head}Action: {reply.tool}({pairs(arguments)})"


@malformation("schema")
def nested_arguments(reply: Parts) -> str:
    """The arguments one level too deep."""
    return f"{reply.head}Action: {reply.as_json(arguments={'arguments': reply.arguments})}"


@malformation("schema")
def number_as_text(reply: Parts) -> str | None:
    """A number in quotes."""
    arguments = {key: str(value) if type(value) in (int, float) else value for key, value in reply.arguments.items()}
    return f"{reply.head}Action: {reply.tool}({pairs(arguments)})" if arguments != reply.arguments else None


# -- nothing to run


@malformation("nothing")
def missing_bracket(reply: Parts) -> str:
    """JSON without its last bracket: who can say that nothing else is missing?"""
    return f"{reply.head}Action: {reply.as_json()[:-1]}"


@malformation("nothing")
def truncated_arguments(reply: Parts) -> str | None:
    """The arguments break off in the middle of a text."""
    _, value = reply.only_text
    cut = reply.as_call.rfind(value[-max(1, len(value) // 2):]) if value else -1
    return f"{reply.head}Action: {reply.as_call[:cut]}" if cut > 0 else None


@malformation("nothing")
def missing_action_label(reply: Parts) -> str:
    """A call without its label, which may as well be talk about one."""
    return f"{reply.head}{reply.as_call}"


@malformation("nothing")
def sentence_as_action(reply: Parts) -> str | None:
    """A sentence where the call belongs."""
    _, value = reply.only_text
    return f"{reply.head}Action: use {reply.tool} to find out about {value}" if value else None


@malformation("nothing", also_answers=True)
def prose(reply: Parts) -> str:
    """Plain sentences, as in a chat: no label at all."""
    if not reply.tool:
        return reply.answer
    values = " and ".join(str(value) for value in reply.arguments.values())
    return f"{reply.thought} I will use {reply.tool} on {values}.".strip()


@malformation("nothing", also_answers=True)
def thought_only(reply: Parts) -> str | None:
    """A thought, and then nothing."""
    return reply.head.rstrip() or None


@malformation("nothing", also_answers=True)
def empty_reply(reply: Parts) -> str:
    """Nothing."""
    return ""
