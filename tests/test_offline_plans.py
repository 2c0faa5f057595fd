"""The offline model plans, does the tasks, revises what failed and answers: through PlanExecute, over the real wire."""

import json
from dataclasses import replace

import pytest

from agentlib import LLM, FunctionCalling, Message, PlanExecute, ReAct, TaskStatus, Toolbox, tool
from agentlib.offline import Faults, Settings, app
from agentlib.offline.faults import PLAN_ONLY
from agentlib.plan_execute import prompts
from agentlib.simulated import SimulatedExecutor
from agentlib.world import Orders, calculator, search, weather

STUDIES = ("Compare Intel, Nvidia and AMD: who is the CEO of each, and where did each CEO study? Write a short report.")
TEN_STEPS = ("For Intel, Nvidia, AMD, Apple and Microsoft: who is the CEO and in which country was the CEO born?"
             " Say which country comes up most often.")
WEATHER = ("What is the temperature in Oslo, Cairo, Lima and Rome? Give the difference between the warmest and the"
           " coldest.")
PAID = "Find the orders of Mei Chen and Tom Baker, and say how much each of them paid in total."
TRIP = "Plan a trip from Hamburg to Munich and then on to Rome. What does it cost in total?"
LLM_ = LLM("offline")


@tool
def find_train(origin: str, destination: str) -> str:
    """Find a train from one city to another, with its price."""
    if destination == "Rome":
        raise ConnectionError(f"the line from {origin} to {destination} is closed")
    return f"Train from {origin} to {destination}: leaves 08:05, EUR 59."


@tool
def find_flight(origin: str, destination: str) -> str:
    """Find a flight from one city to another, with its price."""
    return f"Flight from {origin} to {destination}: leaves 09:10, EUR 140."


@tool
def find_bus(origin: str, destination: str) -> str:
    """Find a bus from one city to another, with its price."""
    if destination == "Rome":
        raise ConnectionError("no bus crosses the Alps today")
    return f"Bus from {origin} to {destination}: leaves 10:10, EUR 29."


def world() -> list:
    return [search, weather, calculator, *Orders().tools[:2]]


def priced(task, result):
    return None if "EUR" in result or "From these results" in task.instruction else "it names no price"


def found(task, result):
    return "nothing was found" if "could not" in result else None


def agent(tools, executor=ReAct, planner=LLM_, **options) -> PlanExecute:
    return PlanExecute(planner, executor(LLM_, tools), pool=SimulatedExecutor(), **options)


def planned(goal: str, tools) -> list[dict]:
    """Ask for a plan alone."""
    system = prompts.planner_prompt(Toolbox(tools).describe(), judged=False)
    reply = LLM_.chat([Message("system", system), Message("user", prompts.GOAL.format(goal=goal))])
    return json.loads(reply.content)["tasks"]


def shape(tasks) -> dict[str, list[str]]:
    return {task["id"]: task["depends_on"] for task in tasks}


# Plans


def test_three_companies_are_three_studies_side_by_side_and_a_report():
    tasks = planned(STUDIES, world())
    names = ["intel", "nvidia", "amd"]
    assert shape(tasks) == {name: [] for name in names} | {"report": names}
    assert tasks[0]["instruction"] == "Who is the CEO of Intel, and where did the CEO of Intel study?"
    assert all(f"${{{name}}}" in tasks[-1]["instruction"] for name in names)


@pytest.mark.parametrize(("goal", "ids"), [
    (TEN_STEPS, ["intel", "nvidia", "amd", "apple", "microsoft", "result"]),
    (WEATHER, ["oslo", "cairo", "lima", "rome", "difference"]),
    (PAID, ["mei-chen", "tom-baker", "total"]),
    ("What is the sum of the population of Oslo and Rome?", ["oslo", "rome", "sum"]),
    ("Which of Oslo, Cairo and Lima is the warmest?", ["oslo", "cairo", "lima", "result"]),
    ("What are the capitals of France, Norway and Brazil?", ["france", "norway", "brazil"]),
    ("Find the CEO of Intel. Then find out where he was born.", ["intel", "intel-2"]),
    ("Who is the CEO of Intel?", ["1"]),
    ("What is the weather in the city where DeepMind has its headquarters?", ["1"]),
    ("Who wrote War and Peace?", ["1"]),
    ("Dance with Oslo and Rome.", ["1"]),
])
def test_a_goal_becomes_tasks(goal, ids):
    assert [task["id"] for task in planned(goal, world())] == ids


@pytest.mark.parametrize("goal", ["Make me happy.", "Dance with Oslo and Rome.", "Who is the CEO of Intel?", "?"])
def test_a_goal_without_parts_is_one_task_the_goal_itself(goal):
    assert [task["instruction"] for task in planned(goal, world())] == [goal]


def test_a_task_that_leans_on_another_depends_on_it():
    tasks = planned("Find the CEO of Intel. Then find out where he was born.", world())
    assert shape(tasks) == {"intel": [], "intel-2": ["intel"]}
    assert tasks[1]["instruction"] == "Find out where the CEO of Intel was born."


def test_what_no_tool_is_there_for_is_not_planned_and_the_answer_says_so():
    goal = "Compare Oslo and Rome: how many inhabitants does each have, and what is the temperature?"
    with_weather, without = planned(goal, [search, weather]), planned(goal, [search])
    assert all("temperature" in task["instruction"] for task in with_weather[:2])
    assert not any("temperature" in task["instruction"] for task in without[:2])
    assert "Not known: What is the temperature in Oslo?" in agent([search]).run(goal).answer
    assert [task["instruction"] for task in planned(WEATHER, [search])] == [WEATHER]  # nothing of it can be done


def test_a_journey_is_planned_with_the_tool_that_is_there():
    for way in (find_train, find_flight, find_bus):
        tasks = planned(TRIP, [way, calculator])
        assert [task["id"] for task in tasks] == ["hamburg-munich", "munich-rome", "total"]
        assert all(task["instruction"].endswith(f"with {way.name}.") for task in tasks[:2])
    assert len(planned(TRIP, [search])) == 1


def test_the_cheapest_way_is_looked_for_among_all():
    tasks = planned("Find the cheapest way from Hamburg to Munich.", [find_train, find_flight, find_bus])
    assert shape(tasks)["result"] == ["train", "flight", "bus"]
    state = agent([find_train, find_flight, find_bus]).run("Find the cheapest way from Hamburg to Munich.")
    assert state.answer == "bus (EUR 29) is the cheapest; then train (EUR 59) and flight (EUR 140)."


def test_the_same_goal_gives_the_same_plan():
    assert planned(TEN_STEPS, world()) == planned(TEN_STEPS, world())


# Runs


@pytest.mark.parametrize("executor", [ReAct, FunctionCalling])
@pytest.mark.parametrize(("goal", "expected"), [
    (STUDIES, ["Intel: The CEO of Intel is Lip-Bu Tan. Lip-Bu Tan studied at Nanyang University",
               "Nvidia: The CEO of Nvidia is Jensen Huang.", "AMD: The CEO of AMD is Lisa Su.",
               "In common: Massachusetts Institute of Technology (Intel and AMD)."]),
    (TEN_STEPS, ["Taiwan (Nvidia and AMD): twice, more than any other."]),
    (WEATHER, ["The difference is 21 °C: Cairo (30 °C) less Oslo (9 °C)."]),
    (PAID, ["Mei Chen: EUR 189.75; Tom Baker: EUR 297.40."]),
    ("What is the sum of the population of Oslo and Rome?", ["Oslo and Rome together: 3409000 inhabitants."]),
    ("When were Intel, Nvidia and AMD founded? Which is the oldest?", ["Intel (1968) is the oldest; then AMD (1969)"]),
    ("What is the status of orders A-1042 and A-1017?", ["Order A-1042 of Noor Haddad, status: shipped.",
                                                         "Order A-1017 of Amara Okafor"]),
    ("What are the capitals of France, Norway and Brazil?", ["Paris", "Oslo", "Brasília"]),
    ("Who is the CEO of Intel?", ["The CEO of Intel is Lip-Bu Tan."]),
])
def test_the_goal_is_answered(goal, expected, executor):
    state = agent(world(), executor).run(goal)
    assert state.reason == "final_answer" and not [run for run in state.runs if run.status is not TaskStatus.DONE]
    assert all(part in state.answer for part in expected), state.answer


@pytest.mark.parametrize("executor", [ReAct, FunctionCalling])
def test_an_executor_does_its_own_task_and_not_the_goal(executor):
    state = agent(world(), executor).run(STUDIES)
    assert state.run_of("amd").result.startswith("The CEO of AMD is Lisa Su.")
    assert not any(other in state.run_of("amd").result for other in ("Intel", "Nvidia"))
    asked = {call.arguments for event in state.run_of("amd").inner.events if (call := getattr(event, "call", event))
             and hasattr(call, "arguments")}
    assert asked and not any("Intel" in text or "Nvidia" in text for text in asked)


def test_a_task_uses_what_earlier_ones_found():
    state = agent(world()).run("Find the CEO of Intel. Then find out where he was born.")
    assert "Lip-Bu Tan was born in Muar, Malaysia." in state.answer
    assert state.run_of("intel-2").inner.usage.calls == 2  # one look-up, and the answer


def test_another_result_gives_another_answer():
    team = agent(world())
    state = team.run(WEATHER)
    forked = team.run(team.fork(state, task="oslo", result="The temperature in Oslo is 29 °C."))
    assert forked.answer == "The difference is 11 °C: Cairo (30 °C) less Lima (19 °C)."
    studies = team.run(STUDIES)
    forked = team.run(team.fork(studies, task="amd", result="The CEO of AMD is Lisa Su. Lisa Su studied in Utrecht."))
    assert "In common" not in forked.answer and "Utrecht" in forked.answer


def test_a_sum_is_worked_out_by_the_calculator_where_there_is_one():
    with_tool, without = agent(world()).run(WEATHER), agent([weather]).run(WEATHER)
    assert with_tool.run_of("difference").inner.usage.calls == 2
    assert without.run_of("difference").inner.usage.calls == 1
    assert with_tool.answer == without.answer


def test_without_a_closing_task_the_results_are_the_answer():
    listed = [{"id": "a", "instruction": "What is the temperature in Oslo?", "depends_on": []},
              {"id": "b", "instruction": "What is the temperature in Rome?", "depends_on": []}]
    team = agent(world())
    state = team.fork(team.start("Is it warmer in Oslo or in Rome?"), plan=json.dumps({"tasks": listed}))
    assert team.run(state).answer == "Rome (23 °C) is the warmer; then Oslo (9 °C)."


# Revisions


def test_a_closed_connection_is_replaced_and_what_is_done_is_kept():
    state = agent([find_train, find_flight, find_bus, calculator], evaluator=priced).run(TRIP)
    assert state.replans == 1 and state.reason == "final_answer"
    assert [(each.task.id, each.task.instruction) for each in state.dropped] == [
        ("munich-rome", "Find a train from Munich to Rome with find_train.")]
    assert state.answer.endswith("Hamburg to Munich and Munich to Rome together: EUR 199.")


def test_every_other_way_is_tried_before_a_task_is_left_out():
    state = agent([find_train, find_bus, calculator], evaluator=priced).run(TRIP)
    assert [each.task.instruction.rsplit(" ", 1)[1] for each in state.dropped] == ["find_train.", "find_bus."]
    assert state.answer.startswith("Hamburg to Munich together: EUR 59")
    assert "Not known: A way from Munich to Rome." in state.answer


def test_where_nothing_is_left_it_says_so():
    state = agent([find_train], evaluator=priced).run("Find a way from Munich to Rome.")
    assert [each.task.instruction for each in state.dropped] == ["Find a train from Munich to Rome with find_train."]
    assert state.plan.tasks[-1].instruction == 'Say: "Not known: A way from Munich to Rome."'


def test_what_failed_as_a_whole_is_tried_in_smaller_tasks_then_left_out():
    @tool
    def look_up(query: str) -> str:
        """Look up an article of an encyclopedia: people, companies, universities."""
        if "Intel" in query:
            raise LookupError("the volume with the letter I is lost")
        return search(query)

    state = agent([look_up], evaluator=found).run(STUDIES)
    assert [each.task.instruction for each in state.dropped] == [
        "Who is the CEO of Intel, and where did the CEO of Intel study?", "Who is the CEO of Intel?"]
    assert state.reason == "final_answer" and state.replans == 2
    assert "Nvidia: The CEO of Nvidia is Jensen Huang." in state.answer
    assert "Not known: Who is the CEO of Intel, and where did the CEO of Intel study?" in state.answer


def test_no_plan_is_repeated_as_it_is():
    state = agent([find_train, find_bus, find_flight, calculator], evaluator=lambda task, result: "no").run(TRIP)
    assert state.reason in ("max_replans", "final_answer")
    assert not [event for event in state.events if getattr(event, "kind", "") == "same_plan"]


def test_after_an_objection_to_the_same_plan_there_is_another():
    team = agent([find_train, find_flight, calculator], evaluator=priced)
    states = list(team.steps(TRIP))
    asking = next(state for state in states if any("Revise" in each.content for each in state.messages))
    before = next(each for each in asking.messages if each.role == "assistant")
    prompt = next(each for each in asking.messages if "Revise" in each.content)
    history = [*asking.messages[: asking.messages.index(prompt) + 1], before, Message("user", prompts.SAME_PLAN)]
    assert json.loads(LLM_.chat(history).content) != json.loads(before.content)


# Bad plans


def faulty(seed: int = 0, **faults) -> LLM:
    return LLM("offline", offline=app(Settings(faults=Faults(seed=seed, **faults))))


@pytest.mark.parametrize(("kind", "said"), [
    ("cyclic_plan", "cycle: oslo -> difference -> oslo"), ("unknown_dependency", "which is no task"),
    ("plan_in_prose", "no plan in JSON")])
def test_a_bad_plan_is_given_and_put_right_after_the_error(kind, said):
    planner = faulty(recovery=1.0, **{kind: 1.0})
    state = agent(world(), planner=planner).run(WEATHER)
    problems = [event for event in state.events if getattr(event, "kind", "") == "bad_plan"]
    assert len(problems) == 1 and said in problems[0].text
    assert state.answer == "The difference is 21 °C: Cairo (30 °C) less Oslo (9 °C)."


def test_without_recovery_the_same_bad_plan_comes_again():
    state = agent(world(), planner=faulty(recovery=0.0, cyclic_plan=1.0)).run(WEATHER)
    replies = {each.content for each in state.messages if each.role == "assistant"}
    assert state.reason == "bad_plan" and len(replies) == 1


def test_the_rate_of_bad_plans_comes_true():
    planners = [faulty(seed, cyclic_plan=0.2, plan_in_prose=0.1) for seed in range(300)]
    system = prompts.planner_prompt(Toolbox([search, weather]).describe(), judged=False)
    asked = [Message("system", system), Message("user", prompts.GOAL.format(goal=WEATHER))]
    good = LLM_.chat(asked).content
    struck = [reply for planner in planners if (reply := planner.chat(asked).content) != good]
    assert 60 <= len(struck) <= 121  # 300 at 0.3: so far from 90 is one sample in 5,000
    prose = [reply for reply in struck if not reply.startswith("{")]
    assert 10 <= len(prose) <= 55


def test_bad_plans_strike_nothing_else():
    asked = [Message("system", "Answer the question."), Message("user", "What is 2 + 2?")]
    assert faulty(cyclic_plan=1.0).chat(asked) == LLM_.chat(asked)
    assert {kind: 0.0 for kind in PLAN_ONLY} == {kind: getattr(Faults(), kind) for kind in PLAN_ONLY}
    with pytest.raises(ValueError, match="add up to"):
        replace(Faults(), cyclic_plan=0.6, plan_in_prose=0.6)


def test_a_report_that_does_not_fit_becomes_a_list():
    def plain(task, result):
        return "no report, a list" if result.startswith("Report") else None

    state = agent(world(), evaluator=plain).run(STUDIES)
    assert state.plan.tasks[-1].instruction.startswith("List the results. From these results:\n- Intel: ${intel}")
    assert state.answer.startswith("Intel: The CEO of Intel is Lip-Bu Tan.") and state.replans == 1


def test_what_goes_with_a_journey_is_planned_besides():
    @tool
    def find_hotel(city: str) -> str:
        """Find a hotel in a city, with its price a night."""
        return f"Hotel in {city}: EUR 80 a night."

    goal = "Plan a trip from Hamburg to Munich, and find a hotel in Munich. What does it cost in total?"
    tasks = planned(goal, [find_train, find_hotel, calculator])
    assert shape(tasks) == {"hamburg-munich": [], "munich": [], "total": ["hamburg-munich", "munich"]}
    assert "together: EUR 139" in agent([find_train, find_hotel, calculator]).run(goal).answer
    assert "Not known: Find a hotel in Munich. There is no tool for this." in planned(goal, [find_train])[-1][
        "instruction"]


def test_what_failed_for_a_reason_that_passes_is_tried_again():
    asked = []

    @tool
    def report(city: str) -> str:
        """The weather in a city: temperature, wind, humidity."""
        asked.append(city)
        if city == "Lima" and asked.count("Lima") < 4:
            raise TimeoutError("the weather station is busy, it timed out")
        return weather(city)

    def came(task, result):
        return f"the tool timed out: {result}" if "busy" in result else None

    state = agent([report], evaluator=came).run(WEATHER)
    assert [each.task.instruction for each in state.dropped] == ["What is the temperature in Lima?"]
    assert state.run_of("lima").status is TaskStatus.DONE and state.replans == 1
    assert state.plan.tasks[state.plan.index["lima"]].instruction == "Try again: What is the temperature in Lima?"
    assert state.answer == "The difference is 21 °C: Cairo (30 °C) less Oslo (9 °C)."


def test_how_much_more_one_is_than_another_is_a_difference():
    agent = PlanExecute(LLM("offline"), FunctionCalling(LLM("offline"), [weather, calculator]))
    answer = agent.run("How many degrees warmer is Cairo than Oslo?").answer
    assert "21" in answer and "difference" in answer
