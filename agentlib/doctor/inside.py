"""What only the environment's own Python can check: python -P -m agentlib.doctor.inside ROOT prints the findings."""

import contextlib
import importlib.util
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

from agentlib.doctor.finding import OK, PROBLEM, WARNING, Finding, command, run_checks
from agentlib.doctor.sandboxes import sandboxes

# The parts of JupyterLab's pages that draw widgets, and the packages that bring them.
EXTENSIONS = {"anywidget": "anywidget", "@jupyter-widgets/jupyterlab-manager": "jupyterlab-widgets"}
MAY_PASS = ("timeout", "rate_limit", "server_error")  # the settings need not be wrong
SECONDS = 10  # for the model's answer


def packages(root: Path) -> Iterator[Finding]:
    """Compare the installed packages with the lock."""
    wrong, count = [], 0
    for name, version in locked(root / "requirements.txt"):
        count += 1
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{name} is missing")
        else:
            if installed != version:
                wrong.append(f"{name} is {installed}, not {version}")
    some = ", ".join(wrong[:3]) + (f" and {len(wrong) - 3} more" if len(wrong) > 3 else "")
    if not wrong:
        yield Finding("packages", OK, f"all {count} are as in requirements.txt")
    elif is_ours(root):
        yield Finding("packages", PROBLEM, f"not as in requirements.txt: {some}", mend(root))
    else:
        text = f"the ranges of pyproject.toml are met; {len(wrong)} of {count} packages are not as tested: {some}"
        yield Finding("packages", OK, text)


def locked(lock: Path) -> Iterator[tuple[str, str]]:
    """Read the names and versions that the lock has for this system."""
    for line in lock.read_text(encoding="utf-8").splitlines():
        found = re.match(r"([\w.-]+)==([\w.]+)\s*(?:;\s*(.+))?", line)
        if found and (found[3] is None or applies(found[3])):
            yield found[1], found[2]


def applies(marker: str) -> bool:
    """Tell whether a line of the lock is for this system. Where packaging is missing, that is found on its own line."""
    if not importlib.util.find_spec("packaging"):
        return False
    from packaging.markers import Marker

    return Marker(marker).evaluate()


def is_ours(root: Path) -> bool:
    """Tell whether this is `.venv`, which is ours to make again."""
    return Path(sys.prefix).resolve() == (root / ".venv").resolve()


def mend(root: Path, package: str = "") -> str:
    """Say how a damaged package comes back."""
    if is_ours(root):
        return f"delete the folder .venv, then run {command('lab')}"
    return f"{Path(sys.executable).name} -m pip install --force-reinstall --no-deps {package}"


def widgets(root: Path) -> Iterator[Finding]:
    """Check that JupyterLab finds what draws the widgets. Its own `labextension list` says the same in seconds."""
    from jupyter_core.paths import jupyter_path

    folders = [Path(folder) for folder in jupyter_path("labextensions")]
    disabled, good = disabled_extensions(), []
    for name, package in EXTENSIONS.items():
        places = [folder / name for folder in folders if (folder / name / "package.json").is_file()]
        if not places:
            yield Finding("widgets", PROBLEM, f"JupyterLab's extension {name} is not installed", mend(root, package))
            continue
        build = described(places[0]).get("jupyterlab", {}).get("_build", {})
        if not (places[0] / build.get("load", "?")).is_file():
            yield Finding("widgets", PROBLEM, f"JupyterLab's extension {name} is damaged", mend(root, package))
        elif any(key == name or key.startswith(f"{name}:") for key in disabled):
            fix = f"{Path(sys.executable).name} -m jupyterlab.labextensions enable {name}"
            yield Finding("widgets", PROBLEM, f"JupyterLab's extension {name} is disabled", fix)
        elif hidden := hides(places):
            text = f"{name} {described(places[0]).get('version')} hides {hidden}, which belongs to this environment"
            yield Finding("widgets", WARNING, text, f"delete the folder {places[0]}")
        else:
            good.append(f"{name} {described(places[0]).get('version')}")
    if len(good) == len(EXTENSIONS):
        yield Finding("widgets", OK, f"JupyterLab finds {' and '.join(good)}")


def described(extension: Path) -> dict:
    """Read an extension's package.json; nothing where it is damaged."""
    try:
        data = json.loads((extension / "package.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def hides(places: list[Path]) -> str:
    """Give the version that belongs to this environment, where JupyterLab takes another one first."""
    own = next((place for place in places if place.is_relative_to(sys.prefix)), places[0])
    version = described(own).get("version", "another version")
    return "" if version == described(places[0]).get("version") else version


def disabled_extensions() -> set[str]:
    """Read which extensions and plugins were switched off, as JupyterLab does: the user's word is the last."""
    from jupyter_core.paths import jupyter_config_path

    configs = [Path(folder, "labconfig") for folder in reversed(jupyter_config_path())]
    files = [Path(sys.prefix, "share", "jupyter", "lab", "settings", "page_config.json")]
    for config in configs:
        files += [*sorted((config / "page_config.d").glob("*.json")), config / "page_config.json"]
    state: dict[str, bool] = {}
    for file in files:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            entries = json.loads(file.read_bytes()).get("disabledExtensions", {})
            state |= entries if isinstance(entries, dict) else dict.fromkeys(entries, True)
    return {name for name, is_off in state.items() if is_off}


def kernel(root: Path) -> Iterator[Finding]:
    """Check that the lessons' kernel, python3, is this Python."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    if not importlib.util.find_spec("ipykernel_launcher"):
        yield Finding("kernel", PROBLEM, "ipykernel is missing", mend(root, "ipykernel"))
        return
    try:
        spec = KernelSpecManager().get_kernel_spec("python3")
    except NoSuchKernel:
        yield Finding("kernel", PROBLEM, "Jupyter has no kernel python3", mend(root, "ipykernel"))
        return
    except (ValueError, TypeError) as error:
        text = f"the kernel.json of the kernel python3 is damaged: {error}"
        yield Finding("kernel", PROBLEM, text, "delete the folder kernels/python3 that `jupyter --paths` leads to")
        return
    program = spec.argv[0] if spec.argv else ""
    fix = f"delete the folder {spec.resource_dir}"
    if program in ("python", "python3", f"python3.{sys.version_info.minor}"):  # Jupyter takes its own Python then
        yield Finding("kernel", OK, "python3 is this Python")
    elif not Path(program).is_file():
        yield Finding("kernel", PROBLEM, f"the kernel python3 starts {program or 'nothing'}, which is not there", fix)
    elif Path(program).parent.resolve() != Path(sys.executable).parent.resolve():
        yield Finding("kernel", PROBLEM, f"the kernel python3 starts another Python, {program}", fix)
    else:
        yield Finding("kernel", OK, "python3 is this Python")


def model(root: Path) -> Iterator[Finding]:
    """Ask the model that the settings name for one word, once, as the lessons ask."""
    from agentlib import LLM, LLMError
    from agentlib.llm import read_settings

    try:
        settings = read_settings()
    except LLMError as error:
        yield Finding("model", PROBLEM, "the settings cannot be read", str(error))
        return
    begin = time.perf_counter()
    try:
        llm = LLM(timeout=SECONDS, max_retries=0)
        llm.chat([{"role": "user", "content": "Reply with one word: ready"}], stop=["Observation:"])
    except LLMError as error:
        level = WARNING if error.reason in MAY_PASS else PROBLEM
        fix = without_secrets(str(error), settings)
        yield Finding("model", level, f"{described_model(settings)}; it gave no answer ({error.reason})", fix)
        return
    seconds = "" if llm.in_process else f"; it answered in {time.perf_counter() - begin:.1f} s"
    yield Finding("model", OK, described_model(settings) + seconds)


def described_model(settings: Mapping[str, str]) -> str:
    """Say which model is asked, and whether there is a key; never the key."""
    key = "OPENAI_API_KEY" in settings
    name = settings.get("AGENTLIB_MODEL", "offline")
    if name == "offline":
        return "the offline model answers" + ("; OPENAI_API_KEY is set, and not used" if key else "")
    where = urlsplit(settings.get("OPENAI_BASE_URL", "")).hostname or "the OpenAI API"
    return without_secrets(f"{name} at {where}; OPENAI_API_KEY is {'set' if key else 'not set'}", settings)


def without_secrets(text: str, settings: Mapping[str, str]) -> str:
    """Leave out what people put in the wrong place: a key as the model's name, or in the address."""
    name, query = settings.get("AGENTLIB_MODEL", ""), urlsplit(settings.get("OPENAI_BASE_URL", "")).query
    if re.match(r"(sk|gsk|hf|ghp)[-_]|AIza", name):
        text = text.replace(name, "[a key, where the model's name belongs]")
    return text.replace(f"?{query}", "") if query else text


CHECKS = (packages, widgets, kernel, model, sandboxes)


def main() -> None:
    """Run the checks and print the findings, apart from what the packages may print."""
    root = Path(sys.argv[1])
    with contextlib.redirect_stdout(sys.stderr):
        findings = [asdict(finding) for finding in run_checks(CHECKS, root)]
    print(json.dumps(findings))


if __name__ == "__main__":
    main()
