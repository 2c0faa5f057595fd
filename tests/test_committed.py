"""No secret and no place on somebody's machine is in the repository, notebooks' outputs and pictures included.

People do commit their keys with a notebook. What is deliberate is listed in ALLOWED, each with its reason.
"""

import base64
import json
import re
import struct
import subprocess
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parent.parent
SELF = Path(__file__).relative_to(ROOT).as_posix()

# Each with what it is. The beginnings that providers gave to their keys, so that programs like this one find them.
KEYS = {
    "a key of OpenAI or Anthropic": r"\bsk-[A-Za-z0-9_-]{16,}",
    "a key of Google": r"\bAIza[A-Za-z0-9_-]{30,}",
    "a token of Hugging Face": r"\bhf_[A-Za-z0-9]{20,}",
    "a key of Groq": r"\bgsk_[A-Za-z0-9]{20,}",
    "a token of GitHub": r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    "a token of GitLab": r"\bglpat-[A-Za-z0-9_-]{16,}",
    "a token of Slack": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "a key of Amazon": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "a bearer token": r"(?i)\bbearer\s+[A-Za-z0-9._~+/-]{16,}",
    "a signed token": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.",
    "a password in an address": r"\bhttps?://[^\s/:@\"'{}<>]+:[^\s/:@\"'{}<>]+@[\w.]+",
    # Two characters are enough to be found, so that the placeholders must be named.
    "a key in a setting": r"\b[A-Z][A-Z0-9_]*_(?:API_KEY|TOKEN|SECRET)[\"']?\]?\s*[=:]\s*[\"']?"
    r"(?![\"'\s(])[^\s\"'`,)}\]|]{2,}",
}
PLACES = {
    "a home folder": r"(?<![\w.~])/(?:home|Users)/[\w.-]+|(?<![\w.~/-])/root/[\w.-]+",
    "a home folder of Windows": r"(?i)\b[a-z]:(?:\\{1,2}|/)users(?:\\{1,2}|/)[\w.-]+",
    "a temporary folder": r"(?<![\w.~/-])(?:/private)?(?:/var)?/tmp/[\w.-]+|(?<![\w.~])/var/folders/\w+"
    r"|(?i:\\{1,2}appdata\\{1,2}local\\{1,2}temp)",
}
PATTERNS = {kind: re.compile(pattern) for kind, pattern in {**KEYS, **PLACES}.items()}

# (file, text, reason): the text is not reported in this file. Each must be needed.
# Code that a sandbox must stop reaches for places that every machine has.
ATTACKS = re.compile(r"tests/(data/hostile\.txt|harness/attacks\.py|test_sandbox\w*\.py)")
ALLOWED = [
    (".env.example", "OPENAI_API_KEY=sk-...", "shows what a key looks like"),
    (".env.example", "OPENAI_API_KEY=ollama", "what a server without keys is given"),
    ("tests/test_doctor.py", "sk-not-a-key-0123456789", "invented, to see that it is never shown"),
    ("tests/test_doctor.py", "OPENAI_API_KEY={KEY", "takes the invented key"),
    ("tests/test_doctor.py", "OPENAI_API_KEY=KEY", "takes the invented key"),
    ("tests/test_llm.py", "sk-very-secret-0123456789", "invented, to see that it is never shown"),
    ("tests/test_llm.py", "OPENAI_API_KEY={KEY", "takes the invented key"),
    ("tests/test_llm.py", 'OPENAI_API_KEY": KEY', "takes the invented key"),
    ("tests/test_sandbox_network.py", "http://a:80@b", "an address that a policy must refuse"),
    ("tests/test_notebooks.py", 'OPENAI_API_KEY": "sk-1', "invented, to see that no test gets it"),
]

# What stands in a PNG's text chunks, by the place of their text.
TEXT_CHUNKS = {b"tEXt", b"zTXt", b"iTXt", b"eXIf"}


def committed() -> list[str]:
    """Name the files in the repository."""
    return [name for name in ls_files() if (ROOT / name).is_file()]


def ls_files(*options: str) -> list[str]:
    """Ask git for files; without git, or outside a clone, there is nothing to ask."""
    git = ["git", "-c", "safe.directory=*", "ls-files", "-z", *options]
    try:
        done = subprocess.run(git, cwd=ROOT, capture_output=True, encoding="utf-8")
    except FileNotFoundError:
        pytest.skip("there is no git, which knows what is committed")
    if done.returncode:
        pytest.skip("this is no clone, so that nothing is committed from here")
    return list(filter(None, done.stdout.split("\0")))


def texts(name: str, data: bytes) -> Iterator[str]:
    """Give all texts in a file, as a person may read them."""
    suffix = PurePosixPath(name).suffix
    if data.startswith(b"\x89PNG"):
        yield from texts_in_png(data)
    elif suffix == ".ipynb":
        yield from texts_in_json(json.loads(data))
    else:
        yield from without_pictures(data.decode("utf-8", "replace"))


def texts_in_json(value: object) -> Iterator[str]:
    """Give the texts in parsed JSON, with the lines of a notebook's cells joined, and pictures opened."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            if key.startswith("image/") and key != "image/svg+xml":
                encoded = part if isinstance(part, str) else "".join(part)
                yield from texts("picture", base64.b64decode(encoded))
            else:
                yield from texts_in_json(part)
    elif isinstance(value, list):
        if value and all(isinstance(part, str) for part in value):
            yield from without_pictures("".join(value))
        else:
            for part in value:
                yield from texts_in_json(part)
    elif isinstance(value, str):
        yield from without_pictures(value)


def without_pictures(text: str) -> Iterator[str]:
    """Give a text without the pictures in it, and the texts in these."""
    pictures = re.compile(r"data:[\w/+.-]+;base64,([A-Za-z0-9+/=]+)")
    for encoded in pictures.findall(text):
        yield from texts("picture", base64.b64decode(encoded + "=="))
    yield pictures.sub("", text)


def texts_in_png(data: bytes) -> Iterator[str]:
    """Give the texts that a PNG carries beside its picture."""
    at = 8
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        at += 12 + length
        if kind in TEXT_CHUNKS:
            yield body.decode("latin-1")
            for start in (match.start() for match in re.finditer(b"\x78[\x01\x5e\x9c\xda]", body)):
                try:
                    yield zlib.decompressobj().decompress(body[start:]).decode("utf-8", "replace")
                except zlib.error:
                    continue


def found_in(name: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Give what must not be in a file: its kind and its text."""
    inside = r"[/\\]\w"  # "/tmp is a folder" names nothing
    here = {str(ROOT): "", tempfile.gettempdir(): inside, str(Path.home()): inside}
    for text in texts(name, data):
        for kind, pattern in PATTERNS.items():
            yield from ((kind, match.group()) for match in pattern.finditer(text))
        for place, more in here.items():
            if re.search(rf"(?<![\w.~]){re.escape(place)}(?![\w.-]){more}", text):
                yield "a folder of this machine", place


def test_nothing_committed_holds_a_key_or_names_a_place_on_somebodys_machine():
    begin = time.process_time()
    reported, needed = [], set()
    for name in committed():
        for kind, text in found_in(name, (ROOT / name).read_bytes()):
            # The list of exceptions may hold what it excepts.
            allowed = [(file, known) for file, known, _ in ALLOWED if known == text and name in (file, SELF)]
            needed.update(item for item in allowed if item[0] == name)
            if not allowed and not (ATTACKS.fullmatch(name) and kind in {*PLACES, "a folder of this machine"}):
                reported.append(f"{name}: {kind}: {text}")
    assert not reported, "\n".join(reported)
    assert {(file, known) for file, known, _ in ALLOWED} == needed, "an exception that nothing needs any more"
    assert time.process_time() - begin < 3


def test_nothing_is_committed_that_git_is_told_to_ignore():
    assert ls_files("--cached", "--ignored", "--exclude-standard") == []  # such as .env, and a learner's copies
    assert ".env" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


# The search finds what was planted. The texts are put together here, so that this file holds none of them.

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789"
PLANTED = {
    "a key of OpenAI or Anthropic": [f"sk{'-'}{LETTERS}", f"sk{'-'}proj-{LETTERS}", f"sk{'-'}ant-api03-{LETTERS}"],
    "a key of Google": [f"AI{'za'}{LETTERS[:35]}"],
    "a token of Hugging Face": [f"hf{'_'}{LETTERS}"],
    "a key of Groq": [f"gsk{'_'}{LETTERS}"],
    "a token of GitHub": [f"ghp{'_'}{LETTERS}", f"gho{'_'}{LETTERS}", f"github_pat{'_'}11AB_{LETTERS}"],
    "a token of GitLab": [f"glpat{'-'}{LETTERS}"],
    "a token of Slack": [f"xoxb{'-'}1234567890-{LETTERS}"],
    "a key of Amazon": [f"AK{'IA'}ABCDEFGHIJ234567", f"AS{'IA'}ABCDEFGHIJ234567"],
    "a private key": [f"-----BEGIN {'RSA '}PRIVATE KEY-----"],
    "a bearer token": [f"Authorization: Bearer {LETTERS}", f'"bearer  {LETTERS[:16]}"'],
    "a signed token": [f"ey{'J'}hbGciOiJIUzI1NiJ9.ey{'J'}zdWIiOiIxMjM0In0.x"],
    "a password in an address": [f"https://ada:{'secret'}@example.com/v1"],
    "a key in a setting": [
        f"OPENAI_API_KEY{'='}abc123",
        f"export OPENAI_API_KEY{'='}'abc123'",
        f'os.environ["OPENAI_API_KEY{chr(34)}] = "abc123"',
        f'{{"ANTHROPIC_API_KEY{chr(34)}: "abc123"}}',
        f"HF_TOKEN{'='}abc123",
        f"OPENAI_API_KEY {'='} abc123",
    ],
    "a home folder": [f"/{'home'}/ada/x.py", f"file:///{'Users'}/ada/x", f"'/{'root'}/.cache'", f"(/{'root'}/course)"],
    "a home folder of Windows": [
        f"C:{chr(92)}Users{chr(92)}Ada",
        f"c:{chr(92) * 2}users{chr(92) * 2}ada",
        f"D:/{'Users'}/ada",
    ],
    "a temporary folder": [
        f"/{'tmp'}/ipykernel_77/1.py",
        f"/private/{'tmp'}/x",
        f"/var/{'folders'}/zz/T",
        f"{chr(92)}AppData{chr(92)}Local{chr(92)}Temp",
    ],
    "a folder of this machine": [f"in {ROOT}", f"{ROOT}/agentlib", f"{tempfile.gettempdir()}/x"],
}
HARMLESS = [
    "a task-based benchmark; ask-me-anything-about-agents-and-tools",
    "OPENAI_API_KEY=",
    "# OPENAI_API_KEY= (from your account)",
    'settings.get("OPENAI_API_KEY")',
    "set OPENAI_API_KEY in .env, or set AGENTLIB_MODEL=offline",
    "`OPENAI_API_KEY`: the key",
    "Bearer tokens are sent in a header",
    "https://example.com:8080/v1 and http://127.0.0.1:8888/lab?token=",
    "https://example.com/home/page and https://example.com/Users/list",
    "the root/node of a tree, and/or /root",
    "/home and /tmp are folders",
    "~/lessons, ./tmp/x, work/tmp/x",
    "hf_model_name, sk-1, AKIA",
    "the Users/ada column",
]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, all_ in PLANTED.items() for text in all_])
def test_what_is_planted_is_found(kind, text):
    assert kind in [found for found, _ in found_in("a.py", f"x = '{text}'\n".encode())]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_harmless_is_not(text):
    assert list(found_in("a.md", text.encode())) == []


def png(kind: bytes, body: bytes) -> bytes:
    """Write a PNG with one chunk beside its picture."""
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)), (kind, body), (b"IEND", b"")]
    parts = [struct.pack(">I", len(b)) + k + b + struct.pack(">I", zlib.crc32(k + b)) for k, b in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


KEY = PLANTED["a key of Google"][0]
PICTURES = {
    "text": png(b"tEXt", f"Comment\0made with {KEY}".encode()),
    "compressed": png(b"zTXt", b"Comment\0\0" + zlib.compress(f"made with {KEY}".encode())),
    "unicode": png(b"iTXt", b"Comment\0\1\0\0\0" + zlib.compress(f"made with {KEY}".encode())),
}


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
@pytest.mark.parametrize("place", ["file", "output", "html"])
def test_a_key_in_a_picture_is_found_wherever_the_picture_is(picture, place):
    encoded = base64.b64encode(picture).decode()
    html = f'<img src="data:image/png;base64,{encoded}">'
    data = {"output": {"image/png": [encoded[:40], encoded[40:]]}, "html": {"text/html": [html]}}
    notebook = json.dumps({"cells": [{"outputs": [{"data": data.get(place)}]}]}).encode()
    name, content = ("a.png", picture) if place == "file" else ("a.ipynb", notebook)
    assert list(found_in(name, content)) == [("a key of Google", KEY)]


@pytest.mark.parametrize("cell", ["source", "text", "traceback"])
def test_a_key_in_a_notebook_is_found_in_sources_and_outputs_also_across_lines(cell):
    notebook = {"cells": [{cell: ["first\n", KEY[:9], KEY[9:]]}]}
    assert list(found_in("a.ipynb", json.dumps(notebook).encode())) == [("a key of Google", KEY)]


def test_every_exception_has_a_reason_and_stands_once():
    assert all(reason for _, _, reason in ALLOWED)
    assert len({(file, text) for file, text, _ in ALLOWED}) == len(ALLOWED)
    assert {kind for kind in PLANTED} == {*PATTERNS, "a folder of this machine"}
