"""Which system calls the code may make. What is not listed here does not exist for it.

The list is turned into a filter that the kernel runs before every call (seccomp; see "Seccomp BPF" in the kernel's
documentation). A filter is a small program of four kinds of instruction: load a word, mask it, compare and skip,
return.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import json
import os
import struct

ALLOWED = {
    "reading and writing": """
        read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close close_range dup dup2 dup3
        flock fsync fdatasync sync_file_range sendfile copy_file_range splice tee fadvise64 readahead""",
    "files": """
        open openat openat2 creat access faccessat faccessat2 stat lstat fstat newfstatat statx statfs fstatfs getcwd
        chdir fchdir rmdir rename renameat renameat2 unlink unlinkat symlink symlinkat readlink readlinkat
        getdents getdents64 truncate ftruncate fallocate fgetxattr flistxattr""",
    "memory": """
        brk mmap munmap mprotect mremap madvise msync mincore mlock mlock2 munlock membarrier""",
    "time": """
        time times gettimeofday clock_gettime clock_getres nanosleep clock_nanosleep alarm getitimer setitimer
        timer_create timer_delete timer_settime timer_gettime timer_getoverrun
        timerfd_create timerfd_settime timerfd_gettime""",
    "waiting": """
        poll ppoll select pselect6 pause epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
        eventfd eventfd2 pipe pipe2 futex futex_waitv signalfd signalfd4 restart_syscall""",
    "signals": """
        rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait sigaltstack""",
    "threads": """
        gettid set_tid_address set_robust_list get_robust_list rseq arch_prctl
        sched_yield sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_get_priority_max
        sched_get_priority_min sched_rr_get_interval""",
    "asking about itself": """
        getpid getppid getpgid getpgrp getsid getuid geteuid getgid getegid getgroups getresuid getresgid capget
        getrlimit getrusage getpriority uname sysinfo getcpu getrandom""",
    "ending and waiting for children": "exit exit_group wait4 waitid setsid setpgid",
    "pairs of connected sockets": """
        sendto recvfrom recvmsg shutdown getsockname getpeername getsockopt setsockopt""",
}
# Only with namespaces: changing who may do what with a file, which the landlock layer cannot limit to a folder, nor
# reading the notes that a file system keeps about it; and sending open files, which would then be held where the
# supervisor does not see and count them.
NOTES = "getxattr lgetxattr listxattr llistxattr"
METADATA = "chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat"
SENDING_FILES = "sendmsg"
# Only with more than one process.
PROCESSES = "fork vfork execve"
LOCKS_OF_PROCESSES = "link linkat"  # the C library makes a semaphore with them; they need namespaces, too
# Only with a network: to connect. Not to wait for connections, by which runs could reach each other.
NETWORK = "connect sendmmsg recvmmsg"
# Refused with "not permitted". Any other call is answered "not implemented", on which the C library falls back to an
# older one: clone3, for one, whose flags a filter cannot see, becomes clone.
REFUSED = """
    fork vfork execve execveat clone socket connect bind listen accept accept4 link linkat mknod mknodat sendmsg
    chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat chown fchown lchown fchownat setxattr lsetxattr
    fsetxattr removexattr mount umount2 pivot_root chroot unshare setns ptrace process_vm_readv process_vm_writev bpf
    perf_event_open userfaultfd keyctl add_key request_key io_uring_setup memfd_create shmget shmat msgget semget
    mq_open umask mkdir mkdirat kill tkill tgkill rt_sigqueueinfo prlimit64 prctl ioctl fcntl socketpair setuid setgid
    setresuid setresgid capset seccomp personality name_to_handle_at open_by_handle_at"""

# Calls that are allowed for some arguments only. Each case is a list of conditions that must all hold:
# (which argument, mask, wanted value of argument & mask). No case at all: any arguments.
Case = list[tuple[int, int, int]]
CLONE_THREAD, NEW_NAMESPACES = 0x10000, 0x7E020000
ALL = 0xFFFFFFFF
ONLY_THREADS: list[Case] = [[(0, NEW_NAMESPACES | CLONE_THREAD, CLONE_THREAD)]]
NO_NAMESPACES: list[Case] = [[(0, NEW_NAMESPACES, 0)]]
# Of itself, which is process 0, and all but number 4: with its limit of dumps changed, a crash would start the host's
# program that takes them.
LIMITS = [number for number in range(16) if number != 4]
OWN_LIMITS: list[Case] = [[(0, ALL, 0), (1, ALL, number)] for number in LIMITS]
OLD_LIMITS: list[Case] = [[(0, ALL, number)] for number in LIMITS]
CONNECTED_PAIRS: list[Case] = [[(0, ALL, 1), (1, 0xF, 1)]]  # AF_UNIX, SOCK_STREAM: other kinds can send to any address
INTERNET_SOCKETS: list[Case] = [[(0, ALL, 2), (1, 0xF, 1)], [(0, ALL, 10), (1, 0xF, 1)]]  # AF_INET, AF_INET6; TCP
# Not the commands that have a signal sent to another process when there is something to read.
HARMLESS_FCNTL: list[Case] = [[(1, ALL, command)] for command in (*range(8), 36, 37, 38, 1030, 1031, 1032)]
OPEN_TO_OWNER: dict[str, list[Case]] = {  # folders that nobody could look into could not be counted
    "umask": [[(0, 0o700, 0)]],
    "mkdir": [[(1, 0o700, 0o700)]],
    "mkdirat": [[(2, 0o700, 0o700)]],
}
HARMLESS_PRCTL: list[Case] = [[(0, ALL, option)] for option in (2, 3, 15, 16, 21, 39, 0x53564D41)]  # names, asking
HARMLESS_IOCTL: list[Case] = [[(1, ALL, request)] for request in (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)]

# The parts of the kernel's `struct seccomp_data`, and the instructions (linux/seccomp.h, linux/bpf_common.h).
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
LOAD, MASK, EQUAL, RETURN = 0x20, 0x54, 0x15, 0x06
ALLOW, ERROR, KILL = 0x7FFF0000, 0x00050000, 0x80000000
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_NUMBERS = os.path.join(os.path.dirname(__file__), "system_call_numbers.json")


def supported(machine: str) -> bool:
    """Whether there is a list of system calls for this kind of processor, as `os.uname().machine` names it."""
    return machine in ARCHITECTURES


@functools.cache
def call_numbers(machine: str) -> dict[str, int]:
    """Give the number of each call that is named above, for one kind of processor."""
    with open(_NUMBERS) as file:
        return json.load(file)[machine]


def build_filter(machine: str, *, processes: int, network: bool, namespaces: bool, own_pid: int) -> bytes:
    """Give the filter for a process: what is allowed, what is refused, and everything else is not implemented.

    Without namespaces the process may signal only itself (`own_pid`), change no file's metadata, and make no folder
    that the supervisor cannot look into.
    """
    numbers = call_numbers(machine)
    allowed = " ".join(ALLOWED.values()).split()
    for calls, condition in (
        (METADATA, namespaces),
        (NOTES, namespaces),
        (SENDING_FILES, namespaces),
        (PROCESSES, processes > 1),
        (LOCKS_OF_PROCESSES, processes > 1 and namespaces),
        (NETWORK, network),
    ):
        allowed += calls.split() if condition else []
    limited = _limited(processes, network, namespaces, own_pid)
    program = [_do(LOAD, ARCHITECTURE), _skip_unless(ARCHITECTURES[machine], 1, negate=True), _do(RETURN, KILL)]
    program += [_do(LOAD, NUMBER)]
    for name in allowed:
        program += _when(numbers.get(name), [_do(RETURN, ALLOW)])
    for name, cases in limited.items():
        program += _when(numbers.get(name), _allow_only(cases))
    for name in NOTES.split():
        if name not in allowed:  # as on a file system that has none, or copying a file would fail
            program += _when(numbers.get(name), [_do(RETURN, ERROR | errno.ENOTSUP)])
    for name in REFUSED.split():
        if name not in allowed and name not in limited:
            program += _when(numbers.get(name), [_do(RETURN, ERROR | errno.EPERM)])
    return b"".join([*program, _do(RETURN, ERROR | errno.ENOSYS)])


def _limited(processes: int, network: bool, namespaces: bool, own_pid: int) -> dict[str, list[Case]]:
    """Give the calls that are allowed for some arguments only."""
    itself: list[Case] = [] if namespaces or processes > 1 else [[(0, ALL, own_pid)]]
    return {
        **{name: [] if namespaces else cases for name, cases in OPEN_TO_OWNER.items()},
        "clone": ONLY_THREADS if processes == 1 else NO_NAMESPACES,
        "socketpair": CONNECTED_PAIRS,
        **({"socket": INTERNET_SOCKETS} if network else {}),
        "prlimit64": OWN_LIMITS,
        "setrlimit": OLD_LIMITS,
        "prctl": HARMLESS_PRCTL,
        "ioctl": HARMLESS_IOCTL,
        "fcntl": HARMLESS_FCNTL,
        "kill": itself,
        "tgkill": itself,
        "rt_sigqueueinfo": itself,
    }


def _do(instruction: int, value: int) -> bytes:
    return struct.pack("=HBBI", instruction, 0, 0, value)


def _skip_unless(value: int, count: int, *, negate: bool = False) -> bytes:
    """Compare the loaded word: unless it is `value` (with `negate`: if it is), leave out the next instructions."""
    return struct.pack("=HBBI", EQUAL, count if negate else 0, 0 if negate else count, value)


def _when(number: int | None, then: list[bytes]) -> list[bytes]:
    """Do something for one system call. Not every processor has every call."""
    return [] if number is None else [_skip_unless(number, len(then)), *then]


def _allow_only(cases: list[Case]) -> list[bytes]:
    """Allow a call where one of the cases holds, else refuse it."""
    if not cases:
        return [_do(RETURN, ALLOW)]
    program = []
    for case in cases:
        then = [_do(RETURN, ALLOW)]
        for argument, mask, value in reversed(case):  # an argument is 64 bits wide, its low half first
            test = [_do(LOAD, FIRST_ARGUMENT + 8 * argument), _do(MASK, mask), _skip_unless(value, len(then))]
            then = [*test, *then]
        program += then
    return [*program, _do(RETURN, ERROR | errno.EPERM)]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def install(program: bytes) -> None:
    """Put the filter before every system call of this process, for good. Raises OSError where the kernel refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = ctypes.create_string_buffer(program, len(program))
    described = _Program(len(program) // 8, ctypes.cast(code, ctypes.c_void_p))
    set_no_new_privileges, set_seccomp, mode_filter = 38, 22, 2
    for arguments in ((set_no_new_privileges, 1, 0, 0, 0), (set_seccomp, mode_filter, ctypes.byref(described), 0, 0)):
        if libc.prctl(*arguments):
            raise OSError(ctypes.get_errno(), f"the system call filter: {os.strerror(ctypes.get_errno())}")
