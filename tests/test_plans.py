"""Plans: what planners write is read or refused with a reason, checked before anything runs, and filled in once."""

import json
import re
import time
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlib.plan_execute import Plan, PlanError, Task, checked, read_plan, substitute, unresolved

REAL_REPLIES = Path(__file__).parent / "data" / "real_replies.jsonl"


def read(text: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Give instruction and dependencies of each task, by its id, as they would be carried out."""
    return {task.id: (task.instruction, task.depends_on) for task in checked(read_plan(text).tasks).tasks}


def refusal(text: str) -> str:
    """Give the reason why a reply is not taken."""
    with pytest.raises(PlanError) as caught:
        read(text)
    return str(caught.value)


# -- references


def test_each_reference_is_filled_in_once_and_what_names_no_task_stays():
    results = {"1": "12", "3": "30", "11": "5"}
    template = "${1} of ${3}, and $11, and $4"
    assert substitute(template, results) == "12 of 30, and 5, and $4"
    assert unresolved(template, results) == ("4",)


def test_a_result_that_looks_like_a_reference_is_not_read_again():
    assert substitute("$1 $2", {"1": "$2 ${1}", "2": "$1"}) == "$2 ${1} $1"


def test_references_in_lists_and_dicts_are_filled_in_too():
    value = {"query": ["$1", {"and": "not ${2}"}], "n": 3, "flag": None}
    assert substitute(value, {"1": "a", "2": "b"}) == {"query": ["a", {"and": "not b"}], "n": 3, "flag": None}
    assert unresolved(value, {"1": "a"}) == ("2",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$10", "$10"), ("$1", "<1>"), ("$1.", "<1>."), ("$1, $1", "<1>, <1>"), ("add($1,1)", "add(<1>,1)"),
        ("it costs $1.50", "it costs $1.50"), ("${ 1 }", "<1>"), ("$berlin-size!", "<berlin-size>!"),
        ("$a-$b", "<a>-<b>"), ("$a-b", "<a>-b"), ("$_x_", "$_x_"), ("$ 1", "$ 1"), ("$", "$"), ("${}", "${}"),
        ("${a b}", "<a b>"), ("${1", "${1"), ("$$1", "$<1>"), ("$größe", "<größe>"), ("$1st", "$1st"),
    ],
)  # fmt: skip
def test_where_a_reference_ends(text, expected):
    ids = ["1", "a", "b", "berlin-size", "a b", "größe"]
    assert substitute(text, {name: f"<{name}>" for name in ids}) == expected


ids = st.sampled_from(["a", "b", "ab", "1", "10", "a-b", "x y"])
signs = st.sampled_from(["$", "{", "}", "-", " ", "$$", "${"])
pieces = st.one_of(signs, ids, ids.map("${{{}}}".format), ids.map("${}".format))


@given(st.lists(pieces).map("".join), st.dictionaries(ids, st.lists(pieces).map("".join)))
def test_a_text_is_read_once_from_left_to_right(text, results):
    marked = substitute(text, {name: f"\0{i}\1" for i, name in enumerate(results)})  # where the references are
    filled = re.sub("\0(\\d+)\1", lambda found: [*results.values()][int(found[1])], marked)
    assert substitute(text, results) == filled
    assert substitute(text, {}) == text


@pytest.mark.parametrize(
    "text", ["${" * 50_000, "$a-" * 50_000, "$" * 100_000, "$a" + "-a" * 50_000, "${" + "a" * 99_999]
)
def test_references_take_time_linear_in_the_text(text):
    start = time.process_time()
    substitute(text, {"a": "x"})
    assert time.process_time() - start < 2


# -- plans as JSON

TWO = {"a": ("x", ()), "b": ("y", ("a",))}


def test_a_plan_in_a_code_fence_with_chat_round_it_is_read():
    text = 'Here is the plan:\n```json\n{"steps": [{"id": "a", "task": "x", "deps": []}]}\n```\nShall I start?'
    assert read(text) == {"a": ("x", ())}
    assert read_plan(text).repairs == ()


@pytest.mark.parametrize("tasks", ["tasks", "steps", "plan", "Tasks", "subtasks"])
@pytest.mark.parametrize("dependencies", ["depends_on", "dependencies", "deps", "after", "dependsOn", "requires"])
@pytest.mark.parametrize("instruction", ["instruction", "task", "description", "step", "action"])
def test_the_names_that_models_give_to_the_fields_are_known(tasks, dependencies, instruction):
    plan = {tasks: [{"id": "a", instruction: "x"}, {"id": "b", instruction: "y", dependencies: ["a"]}]}
    assert read(json.dumps(plan)) == TWO


@pytest.mark.parametrize(
    "text",
    [
        '[{"id": "a", "task": "x"}, {"id": "b", "task": "y", "deps": ["a"]}]',
        '{"plan": {"steps": [{"id": "a", "task": "x"}, {"id": "b", "task": "y", "deps": ["a"]}]}}',
        '{"tasks": {"a": {"task": "x"}, "b": {"task": "y", "deps": ["a"]}}}',
        '{"goal": "g", "tasks": [{"id": "a", "task": "x", "deps": null}, {"id": "b", "task": "y", "deps": [["a"]]}]}',
        '{"tasks": [[{"id": "a", "task": "x", "deps": []}], [{"id": "b", "task": "y", "deps": ["a", "a"]}]]}',
        '{"tasks": [{"id": "a", "task": "x",}, /* then */ {"id": "b", "task": "y", "deps": ["a"],},], // all\n}',
        "{'tasks': [{'id': 'a', 'task': 'x', 'deps': None}, {'id': 'b', 'task': 'y', 'deps': ['a']}]}",
        '{tasks: [{id: "a", task: "x"}, {id: "b", task: "y", deps: ["a"]}]}',
        '{"tasks": [{"id": "a", "task": "x"}, {"id": "b", "task": "y", "deps": [{"id": "a"}]}]}',
        '{"tasks": [{"id": "a", "task": "x"}, {"id": "b", "task": "y", "deps": ["$a"]}]}',
        '{"tasks": [{"id": "a", "task": "x"}, {"id": "b", "task": "y", "deps": "${a}"}]}',
        '<think>{"tasks": [{"id": "z", "task": "no"}]}</think>{"tasks": [{"id": "a", "task": "x"},'
        ' {"id": "b", "task": "y", "deps": ["a"]}]}',
        'I use [1] and {braces}. {"tasks": [{"id": "a", "task": "x"}, {"id": "b", "task": "y", "deps": ["a"]}]} OK?',
        '{"tasks": [{"id": "a", "task": "x"}, {"id": "b", "task": "y", "deps": ["a"]}]}\n' * 2,
        '{"id": "a", "task": "x"}\n{"id": "b", "task": "y", "deps": ["a"]}',
        'First {"id": "a", "task": "x",}, then {"id": "b", "task": "y", "deps": ["a"]}.',
        "tasks:\n  - id: a\n    task: x\n    depends_on: []\n  - id: b\n    task: y\n    depends_on: [a]\n",
        '```yaml\n- id: "a"\n  task: "x"\n- id: \'b\'\n  task: y\n  deps:\n    - a\n```\nDone.',
        "- id: a\n  task: x\n- id: b\n  task: y\n  deps:\n  - a\n",
        "- id: a\n  instruction: >\n    x\n- id: b\n  instruction: y\n  after: a",
        '{"tasks"：[{"id"："a"，"task"："x"}，{"id": “b”, "task": "y"，"deps": ["a"]}]}',
        '{"tasks": {"a": "x", "b": {"task": "y", "deps": ["a"]}}}',
        "- task: x\n  id: a\n  deps: none\n\n- task: y\n  id: b\n  deps: a\n",
    ],
)
def test_two_tasks_are_read_whatever_the_layout(text):
    assert read(text) == TWO


def test_ids_may_be_numbers_and_missing_ones_are_counted():
    numbered = {"1": ("x", ()), "2": ("y", ("1",))}
    assert read('{"steps": [{"id": 1, "task": "x"}, {"id": 2.0, "task": "y", "deps": [1]}]}') == numbered
    assert read('{"steps": [{"task": "x"}, {"task": "y", "deps": 1}]}') == numbered
    assert read('{"steps": [{"step": 1, "task": "x"}, {"step": 2, "task": "y", "deps": ["1"]}]}') == numbered
    assert read('{"steps": [{"id": 1, "task": "x"}, {"id": 2, "task": "y", "deps": "step 1"}]}') == numbered


def test_dependencies_given_as_a_text_become_a_list_and_that_is_noted():
    draft = read_plan('{"tasks": [{"id": "a", "task": "x", "deps": "b"}, {"id": "b", "task": "y"}]}')
    assert draft.tasks[0].depends_on == ("b",)
    assert draft.repairs == ("the dependencies of 'a' were the text 'b', and became ['b']",)
    several = '{"tasks": [{"id": "a b", "do": "x"}, {"id": "c", "do": "y"}, {"id": "d", "do": "z", "deps": "%s"}]}'
    assert read(several % "a b")["d"][1] == ("a b",)
    assert read(several % "a b, c")["d"][1] == ("a b", "c")
    assert read(several % "c and a b")["d"][1] == ("c", "a b")
    assert read(several % "none")["d"][1] == read(several % "")["d"][1] == ()


def test_a_repair_of_the_json_is_noted():
    assert "(punctuation)" in read_plan('{"tasks": [{"id": "a", "task": "x"},]}').repairs[0]


def test_comments_and_commas_inside_a_text_are_left_alone():
    text = '{"tasks": [{"id": "a", "task": "see https://x.org, /* or */ [1,] // that"},]}'
    assert read(text) == {"a": ("see https://x.org, /* or */ [1,] // that", ())}


def test_a_task_that_names_a_tool_and_its_arguments_is_a_call():
    plan = [{"id": 1, "tool": "add", "args": {"a": "$2", "b": 1}}, {"id": 2, "tool": "mul", "args": [2, 3]}]
    assert read(json.dumps(plan)) == {"1": ('add(a="$2", b=1)', ("2",)), "2": ("mul(2, 3)", ())}


def test_a_plan_of_one_task_needs_no_list():
    assert read('{"plan": {"id": "a", "task": "x"}}') == {"a": ("x", ())}
    assert read('{"id": "a", "task": "x"}') == {"a": ("x", ())}


def test_what_is_expected_of_a_result_is_read():
    plan = '{"tasks": [{"id": "a", "task": "x", "expected": "a number"}]}'
    assert read_plan(plan).tasks == (Task("a", "x", expected="a number"),)


# -- numbered calls


def test_numbered_calls_depend_on_what_they_refer_to_also_on_later_ones():
    plan = checked(read_plan("1. add($2, 1)\n2. mul(2, 3)\n3. join()").tasks)
    assert {task.id: task.depends_on for task in plan.tasks} == {"1": ("2",), "2": ()}
    assert [task.id for task in plan.order] == ["2", "1"]


def test_numbered_calls_may_stand_between_thoughts():
    text = (
        'Thought: first both\n1. search("Berlin, (city)")\n2. search("Paris")\nThought: then\n'
        "3. compare($1, ${2})\n4. join()<END_OF_PLAN>"
    )
    assert read(text) == {
        "1": ('search("Berlin, (city)")', ()),
        "2": ('search("Paris")', ()),
        "3": ("compare($1, ${2})", ("1", "2")),
    }


def test_numbered_sentences_are_read_when_they_say_what_depends_on_what():
    by_reference = "1. Find Berlin.\n2) Find Paris.\n**3.** Compare $1 and $2."
    assert {name: after for name, (_, after) in read(by_reference).items()} == {"1": (), "2": (), "3": ("1", "2")}
    in_words = "1. Find Berlin.\n2. Find Paris (depends on: none)\n3. Compare them (depends on 1 and 2)"
    assert read(in_words)["3"] == ("Compare them", ("1", "2"))
    assert read(in_words)["2"] == ("Find Paris", ())
    assert "depends on '9'" in refusal("1. Find Berlin.\n2. Compare (depends on 9)")


@pytest.mark.parametrize(
    "text",
    [
        "First I would look up both, then I would compare them.",
        "1. Find Berlin.\n2. Find Paris.\n3. Compare them.",
        "1. Find sales after 2020.\n2. Compare them.",
        "- Find Berlin\n- Find Paris",
        "I can't help with that (see 1.)",
        '{"answer": 42}',
        "- name: Berlin\n  population: 3\n- name: Paris\n  population: 2",
        '[{"name": "Berlin"}, {"name": "Paris"}]',
        "The plan: none is needed.",
        "{not json}",
        "[see above]",
    ],
)
def test_prose_is_refused(text):
    assert refusal(text) == "your reply holds no plan in JSON, and no list that says what depends on what"


# -- plans that cannot be carried out


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        ([{"id": "a", "deps": ["b"]}, {"id": "b", "deps": ["a"]}], "cycle: a -> b -> a"),
        ([{"id": "a", "deps": "b"}, {"id": "b", "deps": "c"}, {"id": "c", "deps": "a"}], "cycle: a -> b -> c -> a"),
        ([{"id": "z"}, {"id": "b", "deps": ["a"]}, {"id": "a", "deps": ["b"]}], "cycle: b -> a -> b"),
        ([{"id": "a", "deps": ["a"]}], "self-dependency: task 'a' depends on itself"),
        ([{"id": "a", "deps": ["ghost"]}], "unknown dependency: task 'a' depends on 'ghost', which is no task"),
        ([{"id": "a"}, {"id": "a"}], "duplicate id: 2 tasks are named 'a'"),
        ([{"id": 1}, {"id": "1"}], "duplicate id: 2 tasks are named '1'"),
        ([], "the plan is empty"),
        ([{"id": "a", "task": ""}], "task 'a' has no instruction"),
        ([{"id": "a/b"}], "the id 'a/b' must be a word or a number, without a slash"),
        ([{"id": "a", "task": "more of ${a}"}], "self-dependency: task 'a' depends on itself"),
        ([{"id": "a", "task": "use $b"}, {"id": "b", "deps": ["a"]}], "cycle: a -> b -> a"),
        ([{"id": "a"}, {"task": "y"}], "some tasks have an id and some have none"),
        ([{"id": True}], "the id True is neither a text nor a number"),
        (["do x", "do y"], "'do x' is no task"),
        ([[{"id": "a"}], [{"id": "b"}]], "there are lists within the plan's list"),
        ([{"id": "a", "subtasks": [{"id": "b"}]}], "a task has tasks of its own; write them beside it"),
        ([{"id": "a", "deps": True}], "the dependencies True cannot be read"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused_with_the_reason(plan, why):
    plan = [({"task": "x"} | each if isinstance(each, dict) else each) for each in plan]
    assert why in refusal(json.dumps({"tasks": plan}))


def test_all_faults_of_a_plan_are_told_at_once():
    why = refusal('{"tasks": [{"id": "a", "task": "x", "deps": ["a"]}, {"id": "b", "task": "", "deps": ["ghost"]}]}')
    kinds = [part.split(":")[0] for part in why.split("; ")]
    assert kinds == ["task 'b' has no instruction", "self-dependency", "unknown dependency"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "your reply is empty"),
        (" <think>hm</think> ", "your reply is empty"),
        ("[]", "the plan is empty"),
        ('{"tasks": [{"id": "a", "task": "x"}, {"id": "b", "ta', "your plan is cut off"),
        ('{"tasks": [{"id": "a", "task": "x"}]} or {"tasks": [{"id": "b", "task": "y"}]}', "2 plans that differ"),
        ('{"tasks": [{"id": "a", "id": "b", "task": "x"}]}', "gives 'id' twice"),
        ('{"tasks": [{"id": "a", "task": "x" "y" then, "deps": []}]}', "the JSON of your plan cannot be read"),
    ],
)
def test_a_reply_without_one_whole_plan_is_refused_with_the_reason(text, why):
    assert why in refusal(text)


def test_of_a_reply_that_was_cut_off_only_json_counts():
    whole = '{"tasks": [{"id": "a", "task": "x"}]} I think that'
    assert read_plan(whole, cut_off=True).tasks == (Task("a", "x"),)
    with pytest.raises(PlanError, match="cut off at the token limit"):
        read_plan("1. find(1)\n2. find(2)\n3. comp", cut_off=True)


@given(st.text() | st.lists(st.sampled_from([*'{}[]",:-\n $1.', "id", "task", "deps", "a", " - id: a\n"])).map("".join))
def test_whatever_a_planner_writes_it_is_read_or_refused(text):
    try:
        assert read(text)
    except PlanError as error:
        assert str(error)


def test_what_a_real_model_writes_is_read_or_refused():
    replies = [json.loads(line)["reply"] for line in REAL_REPLIES.read_text(encoding="utf-8").splitlines()]
    assert replies
    for reply in replies:
        try:
            assert read(reply)
        except PlanError as error:
            assert str(error)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000, "{" * 100_000, '{"' * 50_000, "[{" * 50_000, "1. " * 50_000, "- a: " * 50_000, "{a:" * 30_000,
        "[" + "1," * 100_000 + "]", "a: b\n" * 50_000, '"' * 100_000, "1. x after " + "1, " * 50_000, "/*" * 50_000,
        "{//" * 30_000, "1. after 1 " * 20_000, "[]" * 100_000, "[1]" * 50_000, '{"a": 1, "b": [' + "1, " * 90_000,
    ],
)  # fmt: skip
def test_reading_takes_time_linear_in_the_reply(text):
    start = time.process_time()
    with pytest.raises(PlanError):
        read(text)
    assert time.process_time() - start < 3


# -- what a plan says of itself


@st.composite
def plans(draw) -> Plan:
    """Give a plan without a cycle, its tasks in any order."""
    size = draw(st.integers(1, 12))
    tasks = [
        Task(str(i), f"do {i}", [str(each) for each in draw(st.sets(st.integers(0, i - 1)) if i else st.just(()))])
        for i in range(size)
    ]
    return checked(draw(st.permutations(tasks)))


@given(plans())
def test_a_plan_written_as_json_is_read_as_the_same_plan(plan):
    assert checked(read_plan(plan.to_json()).tasks) == plan


@given(plans())
def test_the_order_of_a_plan_is_one_that_can_be_carried_out(plan):
    seen: set[str] = set()
    for task in plan.order:
        assert seen.issuperset(task.depends_on)
        seen.add(task.id)
    assert seen == set(plan.index)
    assert all(plan.depths[task.id] > plan.depths[each] for task in plan.tasks for each in task.depends_on)


@given(plans(), st.data())
def test_the_critical_path_is_the_longest_chain(plan, data):
    seconds = {task.id: data.draw(st.integers(0, 9)) for task in plan.tasks}
    path, length = plan.critical_path(lambda task: seconds[task.id])
    assert length == sum(seconds[each] for each in path)
    by_id = {task.id: task for task in plan.tasks}
    assert all(before in by_id[after].depends_on for before, after in pairwise(path))
    ends: dict[str, int] = {}
    for name in TopologicalSorter({task.id: task.depends_on for task in plan.tasks}).static_order():
        ends[name] = seconds[name] + max((ends[each] for each in by_id[name].depends_on), default=0)
    assert length == max(ends.values())


def test_a_plan_shows_its_tasks():
    plan = Plan((Task("a", "find x"), Task("b", "use ${a}", ["a"])))
    assert str(plan) == "a: find x\nb (after a): use ${a}"
