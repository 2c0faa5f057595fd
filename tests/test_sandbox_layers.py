"""The layers by themselves: the filter as the kernel would run it, the packs, the folders shown, giving up root."""

import ctypes
import ctypes.util
import errno
import json
import os
import struct
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

if sys.platform != "linux":
    pytest.skip("the layers exist on Linux only", allow_module_level=True)

from agentlib.sandbox import namespaces, python_folders, unprivileged
from agentlib.sandbox.inside import limits, packing, processes, system_calls

MACHINES = list(system_calls.ARCHITECTURES)
ALLOWED, KILLED = system_calls.ALLOW, system_calls.KILL
DENIED = system_calls.ERROR | errno.EPERM
UNKNOWN = system_calls.ERROR | errno.ENOSYS


def decide(program: bytes, machine: str, number: int, arguments: tuple[int, ...] = ()) -> int:
    """Run a filter as the kernel does, on one call, and give what it returns."""
    data = struct.pack("=IIQ6Q", number, system_calls.ARCHITECTURES.get(machine, 3), 0, *(*arguments, *[0] * 6)[:6])
    steps = list(struct.iter_unpack("=HBBI", program))
    word, at = 0, 0
    while True:
        kind, if_true, if_false, value = steps[at]
        at += 1
        if kind == system_calls.LOAD:
            word = struct.unpack_from("=I", data, value)[0]
        elif kind == system_calls.MASK:
            word &= value
        elif kind == system_calls.EQUAL:
            at += if_true if word == value else if_false
        else:
            assert kind == system_calls.RETURN
            return value


def decision(name: str, *arguments: int, machine: str = "x86_64", **options) -> int:
    settings = {"processes": 1, "network": False, "namespaces": True, "own_pid": 77, **options}
    program = system_calls.build_filter(machine, **settings)
    return decide(program, machine, system_calls.call_numbers(machine)[name], arguments)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_those_of_the_kernel(machine):
    """As libseccomp knows them, which the kernel's own tables are the source of."""
    library = ctypes.util.find_library("seccomp")
    if not library:
        pytest.skip("needs libseccomp")
    resolve = ctypes.CDLL(library).seccomp_syscall_resolve_name_arch
    architecture = system_calls.ARCHITECTURES[machine]
    for name, number in system_calls.call_numbers(machine).items():
        assert resolve(ctypes.c_uint32(architecture), name.encode()) == number, name


@pytest.mark.parametrize("machine", MACHINES)
def test_every_name_is_known_and_none_is_on_two_lists(machine):
    allowed = " ".join(system_calls.ALLOWED.values()).split()
    assert len(allowed) == len(set(allowed))
    either = set().union(*(system_calls.call_numbers(each) for each in MACHINES))
    assert set(allowed) | set(system_calls.REFUSED.split()) <= either
    refused = set(system_calls.REFUSED.split()) & set(system_calls.call_numbers(machine))
    assert not set(allowed) & refused


@pytest.mark.parametrize("machine", MACHINES)
@given(
    number=st.one_of(st.integers(0, 2**32 - 1), st.integers(0, 500)),
    arguments=st.tuples(*[st.integers(0, 2**64 - 1)] * 6),
)
def test_what_is_not_listed_does_not_exist(machine, number, arguments):
    program = system_calls.build_filter(machine, processes=1, network=False, namespaces=True, own_pid=1)
    known = set(system_calls.call_numbers(machine).values())
    found = decide(program, machine, number, arguments)
    assert found in (ALLOWED, DENIED) if number in known else found == UNKNOWN


@pytest.mark.parametrize("machine", MACHINES)
def test_another_architecture_is_killed_and_the_filter_is_short_enough(machine):
    program = system_calls.build_filter(machine, processes=1, network=False, namespaces=True, own_pid=1)
    assert decide(program, "i386", 39) == KILLED
    assert len(program) // 8 < 4096  # the kernel takes no longer ones


@given(flags=st.integers(0, 2**64 - 1))
def test_one_process_may_make_threads_and_nothing_else(flags):
    namespaces = flags & system_calls.NEW_NAMESPACES
    thread = flags & system_calls.CLONE_THREAD
    assert (decision("clone", flags) == ALLOWED) == bool(thread and not namespaces)
    assert (decision("clone", flags, processes=4) == ALLOWED) == (not namespaces)
    assert decision("clone3", machine="x86_64") == UNKNOWN if "clone3" in system_calls.call_numbers("x86_64") else True


def test_without_namespaces_a_process_signals_only_itself_and_changes_no_metadata():
    for name in ("kill", "tgkill", "rt_sigqueueinfo"):
        assert decision(name, 77, 9, namespaces=False) == ALLOWED
        assert decision(name, 78, 9, namespaces=False) == decision(name, 2**32 - 1, 9, namespaces=False) == DENIED
        assert decision(name, 78, 9) == ALLOWED  # with namespaces there is nobody else
    for name in ("chmod", "fchmodat", "utimensat", "sendmsg"):
        assert decision(name, namespaces=False) == DENIED and decision(name) == ALLOWED
    for command in (8, 10, 15):  # F_SETOWN, F_SETSIG, F_SETOWN_EX: a signal for another process
        assert decision("fcntl", 0, command) == DENIED and decision("fcntl", 0, 3) == ALLOWED
    assert decision("mkdir", 0, 0o300, namespaces=False) == DENIED
    assert decision("mkdir", 0, 0o755, namespaces=False) == ALLOWED


def test_sockets_are_connected_pairs_and_with_a_network_tcp():
    assert decision("socketpair", 1, 1) == decision("socketpair", 1, 1 | 0o2000000) == ALLOWED  # SOCK_CLOEXEC
    assert decision("socketpair", 1, 2) == decision("socketpair", 30, 1) == DENIED
    assert decision("socket", 2, 1) == decision("connect") == DENIED
    assert decision("socket", 2, 1, network=True) == decision("socket", 10, 1, network=True) == ALLOWED
    for family, kind in ((1, 1), (2, 2), (2, 3), (16, 3), (17, 3), (40, 1)):
        assert decision("socket", family, kind, network=True) == DENIED


def test_limits_are_only_lowered_and_of_oneself():
    assert decision("prlimit64", 0) == ALLOWED and decision("prlimit64", 5) == DENIED
    values = limits.process_limits(2.5, 100, 10, 7)
    assert len(values) == 10 and set(values.values()) >= {100_000_000, 10_000_000, 7, 0}


# -- packs


@given(
    st.dictionaries(st.text(max_size=5), st.text(st.characters(exclude_categories=()), max_size=20), max_size=3),
    st.dictionaries(st.text(st.characters(exclude_categories=()), max_size=20), st.binary(max_size=50), max_size=5),
)
def test_a_pack_comes_back_as_it_was(header, files):
    header.pop("files", None)
    assert packing.unpack(packing.pack(header, files)) == (header, files)


@given(st.binary(max_size=200), st.integers(0, 60))
def test_a_pack_that_is_not_whole_is_refused(junk, cut):
    whole = packing.pack({"a": 1}, {"b": b"content"})
    for data in (junk, whole[:-1], whole + b"x", whole[: min(cut, len(whole) - 1)]):
        with pytest.raises(packing.Unpackable):
            packing.unpack(data)


# -- what is shown of the host


def test_the_home_folder_and_the_project_are_not_shown():
    shown = python_folders.readable()
    for path in (Path.home(), Path(__file__).parents[1], Path("/etc"), Path("/"), Path("/root"), Path("/home")):
        assert str(path) not in shown
    assert python_folders.interpreter().startswith(tuple(shown))
    assert all(any(os.path.realpath(path).startswith(each) for each in shown) for path in python_folders.packages())


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4)))
def test_of_paths_within_each_other_the_outermost_is_kept(parts):
    paths = ["/" + "/".join(each) for each in parts]
    kept = python_folders.outermost(paths)
    assert set(kept) <= set(paths) and kept == sorted(kept)
    for path in paths:
        assert sum(path == each or path.startswith(each + "/") for each in kept) == 1


def test_the_command_shares_nothing_shows_the_list_and_closes_the_rest():
    command = namespaces.bubblewrap_command("bwrap", ["/usr", "/data"], {"PATH": "/usr/bin"}, ["python"])
    for kind in ("user", "pid", "net", "ipc", "uts"):
        assert f"--unshare-{kind}" in command
    binds = [command[i + 1 : i + 3] for i, word in enumerate(command) if word == "--ro-bind-try"]
    assert binds == [["/usr", "/usr"], ["/data", "/data"]] and "--bind" not in command
    assert command[command.index("--remount-ro") :][:4] == ["--remount-ro", "/dev", "--remount-ro", "/"]
    assert max(i for i, word in enumerate(command) if word == "--ro-bind-try") < command.index("--remount-ro")
    assert "--clearenv" in command and command[-2:] == ["--", "python"]


def test_an_ordinary_user_needs_no_step_between(monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert unprivileged.command("python", ["/x"], ["bwrap"]) == ["bwrap"]


def test_closed_folders_are_found_where_they_begin(tmp_path):
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    tmp_path.chmod(0o755)
    (tmp_path / "a").chmod(0o700)
    found = unprivileged.closed_folders([f"{tmp_path}/a/b/c", f"{tmp_path}/a/b"])
    mine = {folder: paths for folder, paths in found.items() if folder.startswith(str(tmp_path))}
    assert mine == {f"{tmp_path}/a": [f"{tmp_path}/a/b/c", f"{tmp_path}/a/b"]} or found  # or a parent of it is closed
    assert sum(len(paths) for paths in found.values()) == 2


def test_a_removed_file_that_is_held_is_counted(tmp_path):
    import mmap

    file = (tmp_path / "gone").open("wb+")
    file.write(bytes(1_000_000))
    file.flush()
    mapped = mmap.mmap(file.fileno(), 4096, trackfd=False) if sys.version_info >= (3, 13) else None
    os.unlink(tmp_path / "gone")
    number = os.fstat(file.fileno()).st_ino

    def held() -> dict[int, int]:
        found = processes.removed_but_held(os.getpid(), str(tmp_path), unknown=5)
        return {inode: size for (_, inode), size in found.items()}

    assert held()[number] >= 1_000_000
    file.close()
    if mapped:  # older versions of Python keep the file open
        assert held()[number] == 5
        mapped.close()
    assert number not in held()


def test_the_table_of_numbers_is_sorted_and_complete():
    table = json.loads(Path(system_calls._NUMBERS).read_text())
    assert list(table) == MACHINES and all(list(names) == sorted(names) for names in table.values())


@pytest.mark.parametrize("machine", MACHINES)
def test_a_process_keeps_its_limit_of_dumps_and_dies_with_its_supervisor(machine):
    for kind in range(16):
        wanted = DENIED if kind == 4 else ALLOWED
        assert decision("prlimit64", 0, kind, machine=machine) == wanted
        assert decision("setrlimit", kind, machine=machine) == wanted
    assert decision("prctl", 1, 0, machine=machine) == DENIED


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["getxattr", "lgetxattr", "listxattr", "llistxattr"])
def test_without_namespaces_the_notes_of_a_file_are_not_there(machine, name):
    assert decision(name, machine=machine) == ALLOWED
    assert decision(name, machine=machine, namespaces=False) == system_calls.ERROR | errno.ENOTSUP
