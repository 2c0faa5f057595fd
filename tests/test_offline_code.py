"""The offline model writes Python for a tool that runs it, and reads what comes back. The sandbox really runs it."""

import json

import pytest
from native import ask as reply
from native import calls, schema
from sandboxes import LINUX, PATIENT, needs

from agentlib import LLM, FunctionCalling, PlanExecute, ReAct
from agentlib.sandbox.tool import PythonSession
from agentlib.state import State
from agentlib.tools import Tool

SHARES = b"""Date,Close,Volume,Adj. Close*
19-Sep-03,29.5,300,29.5
18-Sep-03,30.25,500,30
17-Sep-03,28,400,27.75
"""
ORDERS = b"""Order,Customer,Status,Price
1,Ann,shipped,10.5
2,Bob,open,20
3,Ann,shipped,7
"""
HEADER = 'import csv\n\nwith open("shares.csv", newline="") as file:\n    print(next(csv.reader(file)))'
ROWS = 'import csv\n\nwith open("shares.csv", newline="") as file:\n    rows = list(csv.DictReader(file))\n'
PLOT = """import csv
import matplotlib.pyplot as plt

with open("shares.csv", newline="") as file:
    rows = list(csv.DictReader(file))
plt.plot([float(row["Close"]) for row in rows])
plt.title("Close")
plt.savefig("close.png")
print("saved close.png")"""
RUNS = schema("python", "Run Python code.", code={"type": "string"})
PRINTS = schema("python", "Run Python code. Print what you want to see.", code={"type": "string"})


@pytest.fixture(scope="module")
def backend() -> str:
    """Give the first backend that works here; one is enough, since the model does not see which."""
    skipped = []
    for name in LINUX:
        try:
            return needs(name)
        except pytest.skip.Exception as reason:
            skipped.append(str(reason))
    pytest.skip("; ".join(skipped))


@pytest.fixture
def session(backend) -> PythonSession:
    return PythonSession(PATIENT, backend=backend, files={"shares.csv": SHARES, "orders.csv": ORDERS})


def ask(session: PythonSession, question: str, agent: type = FunctionCalling) -> State:
    return agent(LLM("offline"), [session.tool()]).run(question)


def codes(state: State) -> list[str]:
    """Give the programs that were called for."""
    return [json.loads(event.arguments)["code"] for event in state.events if hasattr(event, "arguments")]


def code_for(question: str, tool: dict = PRINTS) -> str:
    """Give the first program that the model writes, without running it."""
    [(_, arguments)] = calls(reply(question, [tool]))
    return arguments["code"]


# Sums.


@pytest.mark.parametrize("agent", [FunctionCalling, ReAct])
@pytest.mark.parametrize(("question", "code", "answer"), [
    ("What is 48217 * 91283?", "print(48217 * 91283)", "4401392411."),
    ("What is 2 ** 100?", "print(2 ** 100)", "1267650600228229401496703205376."),
    ("What is 123456789 * 987654321?", "print(123456789 * 987654321)", "121932631112635269."),
])
def test_a_sum_is_printed_and_the_answer_is_what_was_printed(session, agent, question, code, answer):
    state = ask(session, question, agent)
    assert codes(state) == [code] and state.answer == answer


@pytest.mark.parametrize("agent", [FunctionCalling, ReAct])
def test_where_nothing_speaks_of_printing_nothing_is_printed_and_the_sum_is_done_in_the_head(agent):
    def python(code: str) -> str:
        compile(code, "<code>", "exec")
        return "(the code printed nothing)"

    state = agent(LLM("offline"), [Tool(python, description="Run Python code.")]).run("What is 48217 * 91283?")
    assert codes(state) == ["48217 * 91283"] and state.answer == "4401392421."


def test_a_calculator_is_preferred_to_code():
    calculator = schema("calculator", "Work out an arithmetic expression.", expression={"type": "string"})
    [(name, _)] = calls(reply("What is 48217 * 91283?", [PRINTS, calculator]))
    assert name == "calculator"


# Columns.


@pytest.mark.parametrize(("question", "line", "answer"), [
    ("What is the sum of the Volume column in shares.csv?", 'sum(float(row["Volume"]) for row in rows)', "1200.0."),
    ("Sum the Volume column of shares.csv.", 'sum(float(row["Volume"]) for row in rows)', "1200.0."),
    ("What is the total Volume in shares.csv?", 'sum(float(row["Volume"]) for row in rows)', "1200.0."),
    ("What is the largest Close in shares.csv?", 'max(float(row["Close"]) for row in rows)', "30.25."),
    ("What is the minimum of the Close column in shares.csv?", 'min(float(row["Close"]) for row in rows)', "28.0."),
    ("How many rows has shares.csv?", "len(rows)", "3."),
    ("Count the rows of shares.csv.", "len(rows)", "3."),
    ("How many different values has the Date column of shares.csv?", 'len({row["Date"] for row in rows})', "3."),
])
@pytest.mark.parametrize("agent", [FunctionCalling, ReAct])
def test_a_column_of_a_file(session, agent, question, line, answer):
    state = ask(session, question, agent)
    assert codes(state) == [f"{ROWS}print({line})"] and state.answer == answer


@pytest.mark.parametrize(("question", "answer"), [
    ("What is the mean of the Volume column in shares.csv?", "400.0."),
    ("In shares.csv, what is the average Volume?", "400.0."),
    ("What is the median of the Close column in shares.csv?", "29.5."),
    ("What are the mean and the median of the Price column of orders.csv?", "mean: 12.5; median: 10.5."),
    ("What are the largest and the smallest Price in orders.csv?", "largest: 20.0; smallest: 7.0."),
    ('What is the sum of "Adj. Close*" in shares.csv?', "87.25."),
    ("How many rows of orders.csv have the Status shipped?", "2."),
    ("How many rows in orders.csv where Status is open?", "1."),
    ("In how many rows of orders.csv is the Price above 8?", "2."),
    ("What is the total Price in orders.csv where Status is shipped?", "17.5."),
    ("What is the sum of the Price column in orders.csv for the Customer Bob?", "20.0."),
    ("On which Date was the Close highest in shares.csv?", "18-Sep-03."),
    ("Which Customer has the lowest Price in orders.csv?", "Ann."),
    ("What is the largest Price in orders.csv, and in which row is it?",
     "Order: 2, Customer: Bob, Status: open, Price: 20."),
    ("Which columns has orders.csv?", "The columns are Order, Customer, Status and Price."),
    ("What is the sum of the Volume column in shares.csv and how many rows has it?", "1200.0. 3."),
])
def test_other_questions_about_a_table(session, question, answer):
    state = ask(session, question)
    assert state.answer == answer
    assert all(result.ok for result in session.results)


def test_a_file_that_was_spoken_of_is_still_meant(session):
    agent = FunctionCalling(LLM("offline"), [session.tool()])
    state = agent.run("How many rows has shares.csv?")
    state = agent.run(agent.say(state, "And what is the sum of the Volume column?"))
    assert state.answer == "1200.0."


# Plots.


@pytest.mark.parametrize("agent", [FunctionCalling, ReAct])
@pytest.mark.parametrize("question", [
    "Plot the Close column of shares.csv.", "Plot Close against Date in shares.csv.",
    "Make a plot of the Close column in shares.csv.", "Please draw the Close column of shares.csv."])
def test_a_plot_takes_the_rows_as_they_come(session, agent, question):
    state = ask(session, question, agent)
    assert codes(state) == [PLOT] and state.answer == "The plot is in close.png."
    assert session.files["close.png"].startswith(b"\x89PNG")


@pytest.mark.parametrize("order", [
    ", oldest first", " in the order of time", ", reversed", ", with the oldest row first"])
def test_a_plot_turns_the_rows_round_where_the_question_says_so(order):
    code = code_for(f"Plot the Close column of shares.csv{order}.")
    assert code == PLOT.replace("plt.plot", "rows.reverse()\nplt.plot")


def test_other_plots(session):
    asked = ["Plot the Close and Volume columns of shares.csv.", "Plot Price against Order in orders.csv.",
             "Make a bar chart of Price by Customer in orders.csv.", "Draw a histogram of Price in orders.csv."]
    answers = [ask(session, question).answer for question in asked]
    assert answers == [f"The plot is in {name}.png." for name in ("close_volume", "price", "price", "price")]
    assert all(result.ok for result in session.results)


# A traceback is an observation.


@pytest.mark.parametrize("agent", [FunctionCalling, ReAct])
@pytest.mark.parametrize(("said", "meant"), [("volume", "Volume"), ("adj close", "Adj. Close*")])
def test_a_column_in_another_case_is_looked_up_in_the_header(session, agent, said, meant):
    state = ask(session, f"What is the sum of the {said} column in shares.csv?", agent)
    line = 'print(sum(float(row["{}"]) for row in rows))'
    assert codes(state) == [ROWS + line.format(said), HEADER, ROWS + line.format(meant)]
    assert [result.ok for result in session.results] == [False, True, True]
    assert state.answer == {"Volume": "1200.0.", "Adj. Close*": "87.25."}[meant]


@pytest.mark.parametrize("agent", [FunctionCalling, ReAct])
def test_a_column_that_is_not_there_is_said_to_be_missing(session, agent):
    state = ask(session, "What is the sum of the Turnover column in shares.csv?", agent)
    assert state.answer == ("There is no column 'Turnover' in shares.csv. The columns are Date, Close, Volume and Adj. "
                            "Close*.")
    assert len(codes(state)) == 2


def test_a_file_that_is_not_there_is_said_to_be_missing(session):
    state = ask(session, "What is the sum of the Volume column in bonds.csv?")
    assert state.answer == "There is no file bonds.csv." and len(codes(state)) == 1


def test_any_other_error_ends_it_and_is_named(session):
    state = ask(session, "What is the mean of the Customer column in orders.csv?")
    assert "ValueError: could not convert string to float: 'Ann'" in state.answer and len(codes(state)) == 1


# Which tools it writes code for.


@pytest.mark.parametrize("tool", [
    schema("run_python", "Execute a script.", script={"type": "string"}),
    schema("interpreter", "Run code in a sandbox.", code={"type": "string"}),
    schema("execute", "Runs Python.", source={"type": "string", "description": "the program"}),
])
def test_a_tool_with_one_text_that_is_code_runs_code(tool):
    [(name, arguments)] = calls(reply("How many rows has shares.csv?", [tool]))
    assert name == tool["function"]["name"] and [*arguments.values()] == [f"{ROWS}print(len(rows))"]


@pytest.mark.parametrize("tools", [
    [], [schema("country", "Look up a country by its code.", code={"type": "string"})],
    [schema("run_sql", "Run SQL code.", code={"type": "string"})],
    [schema("lint", "Check Python code for errors.", code={"type": "string"})],
    [schema("apply", "Runs a check on a discount code.", code={"type": "string"})],
    [schema("python", "Run Python code.", code={"type": "string"}, version={"type": "string"})],
])
def test_without_such_a_tool_no_code_is_written(tools):
    choice = reply("What is the sum of the Volume column in shares.csv?", tools)
    assert "csv.DictReader" not in json.dumps(choice)


@pytest.mark.parametrize("question", [
    "What is the difference between the largest and the smallest Close in shares.csv?",
    "How many rows of shares.csv have Close above 30 and Volume below 5?",
    "What is the average Price per Customer in orders.csv?",
    "What is the mean of the Close column in shares.csv for the first 10 rows?",
    "Email the sum of the Price column in orders.csv to Ann.",
])
def test_for_what_the_rules_do_not_cover_no_code_is_written_that_leaves_it_out(question):
    assert "csv.DictReader" not in json.dumps(reply(question, [PRINTS]))


def test_where_nothing_stops_it_the_model_makes_up_what_the_code_prints():
    prompt = ("Answer the question. You can use these tools:\n\n- python(code: string): Run Python code. Print what "
              "you want to see.\n\nUse exactly this format:\n\nThought: why\nAction: tool(argument=\"value\")\n"
              "Observation: result\nFinal Answer: answer")
    asked = [{"role": "system", "content": prompt},
             {"role": "user", "content": "Question: Plot the Close column of shares.csv."}]
    text = reply(asked, [])["message"]["content"]
    assert "Observation: saved close.png" in text and "Final Answer: The plot is in close.png." in text


def test_a_task_of_a_plan_is_done_with_code(session):
    agent = PlanExecute(LLM("offline"), FunctionCalling(LLM("offline"), [session.tool()]))
    state = agent.run("Sum the Volume column of shares.csv.")
    assert state.answer == "1200.0." and session.results[0].ok
