"""The commands: python3 -m agentlib lab | test | ask | serve | doctor | build.

Each makes sure that there is an environment that fits, then becomes a program that runs in it. Two need none: doctor
only looks, and serve needs the standard library only.
An old Python reads this file before it is told that it is too old: keep the syntax plain.
"""

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "agentlib: this is Python %d.%d, and the lessons need 3.11 or newer. Install one (python.org has them), "
        "then run the command with it, as in: python3.13 -m agentlib lab" % sys.version_info[:2]
    )

import argparse
import os
import subprocess
from pathlib import Path

from agentlib import ask, bootstrap, serve
from agentlib.requirements import NEWEST_TESTED

ROOT = Path(__file__).resolve().parent.parent
FIRST_LESSONS = ("notebooks/00_start_here.ipynb", "notebooks/02_react.ipynb")  # the first one that is there


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message):
        """End with status 2."""
        self.exit(2, f"agentlib: {message}. Help: {self.prog} --help\n")


def main(arguments):
    """Run one command."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    options, unknown = parser().parse_known_args(arguments[:at])
    options.passed_on = unknown + arguments[at + 1 :]
    refused = unknown if options.run is lab else options.passed_on if options.run in OWN_OPTIONS else []
    if refused:
        parser().error(f"unknown argument {refused[0]!r}")
    version = sys.version_info[:2]
    if version > NEWEST_TESTED and options.run is not doctor:  # which says so itself
        bootstrap.say("Python %d.%d is newer than %d.%d, the newest one tested." % (version + NEWEST_TESTED))
    options.run(options)


def parser():
    """Describe the commands and their options."""
    whole = Parser(
        prog="python3 -m agentlib",
        description="Lessons on LLM agents that you can read, step and take apart. "
        "On first use, every command but serve and doctor makes .venv and installs what the lessons need.",
        allow_abbrev=False,
    )
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)

    command = add(commands, "lab", lab, "open the lessons in JupyterLab",
        "Of a lesson, your working copy in work/ is opened. What follows -- goes to JupyterLab.")  # fmt: skip
    command.add_argument("notebook", nargs="?", default=first_lesson(), help="the one to open (default: %(default)s)")

    command = add(commands, "test", test, "run all tests, offline", "All other arguments go to pytest.")
    command.add_argument("--all", action="store_true", help="the long tests too, such as every lesson in the browser")

    command = add(commands, "ask", ask_a_question, "let an agent answer a question, step by step", ask.ABOUT)
    ask.add_arguments(command)

    command = add(commands, "serve", serve_model, "offer the offline model to other programs", serve.ABOUT)
    serve.add_arguments(command)

    command = add(commands, "doctor", doctor, "check this machine and the settings", "It changes nothing.")
    command.add_argument("--json", action="store_true", help="print a list of objects, to be collected by a teacher")

    add(commands, "build", build, "run the lessons' sources and write the notebooks",
        "All arguments go to notebooks/build.py: names of lessons, or --check.")  # fmt: skip
    return whole


def add(commands, name, function, summary, more):
    """Add a command."""
    description = f"{summary[0].upper()}{summary[1:]}. {more}"
    command = commands.add_parser(name, help=summary, description=description, allow_abbrev=False)
    command.set_defaults(run=function)
    return command


def lab(options):
    """Open the working copies in JupyterLab, reachable from this machine only."""
    from agentlib import copies, lab_saving

    notebook = next((p for p in (Path.cwd() / options.notebook, ROOT / options.notebook) if p.exists()), None)
    if notebook is None:
        raise bootstrap.SetupError(f"there is no {options.notebook}, here or in {ROOT}.")
    environment = bootstrap.prepare(ROOT)
    try:
        for line in copies.refresh(ROOT, lambda paths: trust(environment, paths)):
            bootstrap.say(line)
    except OSError as error:
        raise bootstrap.SetupError(f"the lessons cannot be copied to {ROOT / 'work'} ({error}). Is it yours?") from None
    notebook = copies.working_copy(ROOT, notebook.resolve())
    folder = next((folder for folder in (ROOT / "work", ROOT) if notebook.is_relative_to(folder)), notebook.parent)
    # -y: Ctrl-C ends it without a question
    settings = ["-y", f"--ServerApp.root_dir={folder}", lab_saving.OPTION]
    if not any(text.startswith(("--ip", "--ServerApp.ip")) for text in options.passed_on):
        settings.append("--ServerApp.ip=127.0.0.1")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        settings.append("--allow-root")  # in a container there is nobody else
    bootstrap.run(environment, ["-m", "jupyterlab", str(notebook), *settings, *options.passed_on], folder)


def first_lesson():
    """Name the lesson to begin with."""
    return next((name for name in FIRST_LESSONS if (ROOT / name).exists()), FIRST_LESSONS[-1])


def trust(environment, notebooks):
    """Have Jupyter trust notebooks, so that what they show can run."""
    command = [environment.python, "-m", "agentlib.trust", *map(str, notebooks)]
    if subprocess.run(command, env=environment.variables, cwd=ROOT, capture_output=True).returncode:
        bootstrap.say("Jupyter does not trust the copies: choose Trust Notebook in JupyterLab's command palette.")


def test(options):
    """Run pytest with the offline model."""
    long_ones = ["--all"] if options.all else []
    bootstrap.run(offline(bootstrap.prepare(ROOT, ["dev"])), ["-m", "pytest", *long_ones, *options.passed_on], ROOT)


def ask_a_question(options):
    """Run one agent in the terminal."""
    bootstrap.run(bootstrap.prepare(ROOT), ["-m", "agentlib.ask", *ask.as_arguments(options)], ROOT)


def serve_model(options):
    """Serve the offline model in this process."""
    try:
        serve.serve(options.host, options.port)
    except serve.ServeError as error:
        sys.exit(f"agentlib: {error}")


def doctor(options):
    """Check everything that the lessons rest on."""
    from agentlib import doctor

    sys.exit(doctor.main(ROOT, as_json=options.json))


def build(options):
    """Build the notebooks with the offline model."""
    bootstrap.run(offline(bootstrap.prepare(ROOT, ["dev"])), ["notebooks/build.py", *options.passed_on], ROOT)


OWN_OPTIONS = (ask_a_question, serve_model, doctor)  # which take no others


def offline(environment):
    """Give the environment with the offline model, whatever the settings say: no test may cost money."""
    return bootstrap.Environment(environment.python, {**environment.variables, "AGENTLIB_MODEL": "offline"})


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a path may have letters that the terminal lacks
    try:
        main(sys.argv[1:])
    except bootstrap.SetupError as error:
        sys.exit(f"agentlib: {error}")
    except KeyboardInterrupt:
        sys.exit("agentlib: stopped. The same command goes on from here.")
