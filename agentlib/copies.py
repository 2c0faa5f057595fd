"""Working copies of the lessons, in work/, so that what a learner changes never conflicts with a git pull.

- A copy that the learner has not changed is replaced when there is a newer version.
- A changed copy is never touched. The newer version is put beside it, once, as in 02_react.new.ipynb.
- A copy that is missing, since it was deleted or renamed, is made again: that is how one gets a clean copy.
- A file that is no longer part of the lessons stays in work/.

A notebook is changed when the text of its cells differs (a cell more or less, or in another place, counts; an empty
one does not), or when it shows something that the lesson does not print: text, HTML, an error. To run a lesson with
the offline model is no change, since it prints the same everywhere, and neither is to clear outputs. Not looked at:
execution counts, metadata, pictures, the live views of widgets. Any other file is compared byte by byte.

Standard library only.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

FOLDERS = ("notebooks", "exercises", "solutions")
MANIFEST = ".copies.json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Content:
    """What a learner would miss of a file: its text, and what it shows, as hashes."""

    text: str
    shown: frozenset[str] = frozenset()

    def adds_nothing_to(self, other: "Content") -> bool:
        """Tell whether all of this is in the other one too."""
        return self.text == other.text and self.shown <= other.shown


@dataclass(frozen=True)
class Record:
    """What is known of one file: the bytes last handed out ("" once it left the lessons), and every version so far."""

    latest: str = ""
    versions: tuple[Content, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What was done for one file: copied, put beside the learner's, or nothing. `exact` holds just the new version."""

    done: Literal["copied", "beside", "nothing"]
    exact: Path | None = None


def refresh(root: Path, trust: Callable[[Sequence[Path]], None]) -> list[str]:
    """Bring work/ up to date, let `trust` have the notebooks that are new there, and say what was done."""
    work = root / "work"
    records = before = read_manifest(work)
    files, changed = set(), {}
    for name, data in sources(root):
        files.add(name)
        record, digest = records.get(name), digest_of(data)
        if record is None or record.latest != digest or not os.path.lexists(work / name):
            changed[name] = bring(work / name, data, record)
            known = record.versions if record else ()
            version = content_of(name, data)
            versions = known if version in known else (*known, version)
            records = {**records, name: Record(digest, versions)}
    gone = [name for name, record in records.items() if record.latest and name not in files]
    records = {**records, **{name: replace(records[name], latest="") for name in gone}}
    exact = [outcome.exact for outcome in changed.values() if outcome.exact and outcome.exact.suffix == ".ipynb"]
    if exact:
        trust(exact)
    if records != before:  # last, so that a refresh that was cut short is done again
        write(work / MANIFEST, as_json(records))
    return list(report(work, changed, gone))


def working_copy(root: Path, path: Path) -> Path:
    """Give the working copy of a lesson, or of a folder of lessons; any other path as it is."""
    if path.is_relative_to(root) and path != root:
        inside = path.relative_to(root)
        if inside.parts[0] in FOLDERS and (root / "work" / inside).exists():
            return root / "work" / inside
    return path


def sources(root: Path) -> Iterator[tuple[str, bytes]]:
    """Give the name and the bytes of every file that a learner works with: no sources of lessons, no build tools."""
    for top in FOLDERS:
        for folder, folders, files in os.walk(root / top):
            folders[:] = sorted(name for name in folders if name not in ("src", "__pycache__") and name[0] != ".")
            for name in sorted(files):
                path = Path(folder, name)
                is_tool = path.suffix == ".py" and path.parent == root / top
                if name[0] != "." and not is_tool:
                    yield path.relative_to(root).as_posix(), path.read_bytes()


def bring(target: Path, data: bytes, record: Record | None) -> Outcome:
    """Put a version in its place, or beside what the learner changed."""
    if not os.path.lexists(target):
        return Outcome("copied", write(target, data))
    version = content_of(target.name, data)
    if record is None:  # the first time, or the manifest was lost
        if is_one_of(target, (version,)):
            return Outcome("nothing", target if target.read_bytes() == data else None)
    elif is_one_of(target, (*record.versions, version)):
        return Outcome("copied", write(target, data))
    known = (*record.versions, version) if record else (version,)
    return Outcome("beside", write(beside(target, known), data))


def beside(target: Path, known: Sequence[Content]) -> Path:
    """Name a place for a newer version where nothing of the learner's is."""
    number = 1
    while True:
        path = target.with_name(f"{target.stem}.new{number if number > 1 else ''}{target.suffix}")
        if not os.path.lexists(path) or is_one_of(path, known):
            return path
        number += 1


def is_one_of(path: Path, versions: Sequence[Content]) -> bool:
    """Tell whether a file is one of these versions, without a change that a learner would miss."""
    if not path.is_file():
        return False
    content = content_of(path.name, path.read_bytes())
    return any(content.adds_nothing_to(version) for version in versions)


def content_of(name: str, data: bytes) -> Content:
    """Read what a learner would miss of a file."""
    if PurePosixPath(name).suffix == ".ipynb":
        with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):  # as good as any other file
            cells = json.loads(data)["cells"]
            texts = [[cell["cell_type"], joined(cell["source"]).strip()] for cell in cells]
            shown = frozenset(digest_of(text.encode()) for cell in cells for text in shown_by(cell))
            return Content(digest_of(json.dumps([text for text in texts if text[1]]).encode()), shown)
    return Content(digest_of(data))


def shown_by(cell: Mapping) -> Iterator[str]:
    """Give the texts that a cell shows."""
    streams = {"stdout": "", "stderr": ""}  # in pieces whose borders depend on the clock
    for output in cell.get("outputs", ()):
        if output["output_type"] == "stream":
            streams[output["name"]] += joined(output["text"])
        elif output["output_type"] == "error":
            yield f"{output['ename']}: {output['evalue']}"
        else:
            for kind, value in output["data"].items():
                if kind != WIDGET_VIEW and not kind.startswith("image/"):
                    yield f"{kind}: {json.dumps(value) if isinstance(value, dict) else joined(value)}"
    yield from filter(None, streams.values())


def joined(text: str | list[str]) -> str:
    """Join a text that a notebook may hold as lines."""
    return text if isinstance(text, str) else "".join(text)


def digest_of(data: bytes) -> str:
    """Name some bytes."""
    return hashlib.sha256(data).hexdigest()[:32]


def write(path: Path, data: bytes) -> Path:
    """Write a file as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    return path


# The manifest: without it, nothing is lost; a copy that differs then counts as changed.


def read_manifest(work: Path) -> dict[str, Record]:
    """Read what was handed out; nothing when the manifest is missing or broken."""
    try:
        files = json.loads((work / MANIFEST).read_bytes())["files"]
        return {
            str(name): Record(
                str(record["latest"]),
                tuple(Content(str(v["text"]), frozenset(map(str, v["shown"]))) for v in record["versions"]),
            )
            for name, record in files.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def as_json(records: Mapping[str, Record]) -> bytes:
    """Write the manifest."""
    about = "What the copies here were made from; without this file, copies that differ count as changed."
    return json.dumps(
        {"about": about, "files": {name: asdict(record) for name, record in sorted(records.items())}},
        default=sorted,
    ).encode()


# What is said


def report(work: Path, changed: Mapping[str, Outcome], gone: Sequence[str]) -> Iterator[str]:
    """Say what was done, as far as a learner would want to know."""
    lessons = [name for name, outcome in changed.items() if outcome.done == "copied" and name.endswith(".ipynb")]
    if lessons:
        more = f" and {len(lessons) - 3} more" if len(lessons) > 3 else ""
        yield f"Copied to {work.name}/, where you can change everything: {', '.join(lessons[:3])}{more}."
    for name, outcome in changed.items():
        if outcome.done == "beside":
            yield f"{work.name}/{name} has changes of yours; the newer version is beside it: {outcome.exact.name}."
    for name in gone:
        if name.endswith(".ipynb") and (work / name).exists():
            yield f"{work.name}/{name} is no longer one of the lessons; your copy stays."
