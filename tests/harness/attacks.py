"""Code that tries to get out of a sandbox, and a host that notices.

An attack is a few lines of Python. When they run to their end, it got through; an exception means that it was refused.
All of a group run in one go, so that a backend that is slow to start is asked a few times only.
"""

import os
import signal
import socket
import textwrap
import threading
from pathlib import Path
from types import TracebackType

KEY = "AGENTLIB_TEST_KEY"
SECRET = "canary-7f3a"
GOT_THROUGH = "GOT THROUGH"

GROUPS = {
    "secrets": {
        "a file by its path": "open({secret!r}).read()",
        "a file through the first process": "open('/proc/1/root' + {secret!r}).read()",
        "a file through dot-dot": "open('../' * 40 + {secret!r}.lstrip('/')).read()",
        "a file through a link": """
            import os
            os.symlink({secret!r}, "link")
            open("link").read()""",
        "the folder that it is in": "import os; os.listdir(os.path.dirname({secret!r}))",
        "passwords": "open('/etc/shadow').read()",
        "the key in the environment": "import os; os.environ[{key!r}]",
        "the key in any process's environment": """
            import glob
            for path in glob.glob("/proc/[0-9]*/environ"):
                try:
                    if {found!r}.encode() in open(path, "rb").read():
                        break
                except OSError:
                    pass
            else:
                raise PermissionError""",
        "the host's command lines": """
            import glob
            assert any(b"pytest" in open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/cmdline"))""",
        "the key in the interpreter's memory": """
            import sys
            frame = sys._getframe()
            while frame.f_back:
                frame = frame.f_back
            assert {found!r}[1:] in repr(frame.f_globals) or {found!r}[1:] in repr(sys.argv)""",
    },
    "writing": {
        "beside the secret": "open({secret!r} + '.new', 'w').write('x')",
        "over the secret": "open({secret!r}, 'w').write('x')",
        "the top folder": "open('/new', 'w').write('x')",
        "the devices' folder": "open('/dev/new', 'w').write('x')",
        "a module of Python": "import os; open(os.path.dirname(os.__file__) + '/new.py', 'w').write('x')",
        "the settings": "open('/etc/new', 'w').write('x')",
        "a hard link to the secret": "import os; os.link({secret!r}, 'same')",
        "moving the secret here": "import os; os.rename({secret!r}, 'mine')",
    },
    "network": {
        "TCP to the host": "import socket; socket.create_connection(('127.0.0.1', {tcp}), 2).sendall(b'x')",
        "TCP to the host, IPv6": """
            import socket
            with socket.socket(socket.AF_INET6) as made:
                made.settimeout(2)
                made.connect(("::1", {tcp}))""",
        "UDP to the host": """
            import socket
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", {udp}))
            raise OSError("sent, but did it arrive? The host knows.")""",
        "a name server": "import socket; socket.getaddrinfo('example.org', 80)",
        "a socket in the file system": "import socket; socket.socket(socket.AF_UNIX).connect({unix!r})",
        "a raw socket": "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "packets": "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        "the virtual machine's host": "import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)",
    },
    "processes": {
        "a fork": "import os; os.fork() or os._exit(0)",
        "another program": "import subprocess; subprocess.run(['/bin/sh', '-c', 'exit'], check=True)",
        "signalling the host": "import os, signal; os.kill({pid}, signal.SIGUSR1)",
        "tracing the first process": """
            import ctypes
            assert ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0""",
        "the first process's memory": "open('/proc/1/mem', 'r+b').read(1)",
        "the first process's open files": "import os; os.listdir('/proc/1/fd')",
    },
    "kernel": {
        "a new user namespace": "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0",
        "mounting": "import ctypes; assert ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0",
        "memory outside the limit": "import os; os.memfd_create('x')",
        "shared memory": "import ctypes; assert ctypes.CDLL(None).shmget(0, 4096, 0o1600) >= 0",
        "io_uring": "import ctypes; assert ctypes.CDLL(None).syscall(425, 4, ctypes.create_string_buffer(256)) >= 0",
        "a device": "import os, stat; os.mknod('device', stat.S_IFBLK | 0o666, os.makedev(254, 0))",
        "the kernel's settings": "open('/proc/sys/kernel/core_pattern', 'w').write('x')",
    },
}


class Host:
    """A machine with a secret in a file and one in the environment, whose servers note who comes."""

    def __init__(self, folder: Path) -> None:
        self.visits: list[str] = []
        self.secret = folder / "secret.txt"
        self.secret.write_text(SECRET, encoding="utf-8")
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._sockets = [self._tcp, self._udp]
        self._unix_path = str(folder / "socket")
        if hasattr(socket, "AF_UNIX"):
            made = socket.socket(socket.AF_UNIX)
            made.bind(self._unix_path)
            made.listen()
            self._sockets.append(made)

    def __enter__(self) -> "Host":
        os.environ[KEY] = SECRET
        for path in (self.secret.parent, self.secret):
            path.chmod(0o777)  # nothing but the sandbox protects it
        for made in self._sockets:
            threading.Thread(target=self._serve, args=(made,), daemon=True).start()
        if hasattr(signal, "SIGUSR1"):
            self._handler = signal.signal(signal.SIGUSR1, lambda *_: self.visits.append("a signal"))
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        del os.environ[KEY]
        if hasattr(signal, "SIGUSR1"):
            signal.signal(signal.SIGUSR1, self._handler)
        for made in self._sockets:
            made.close()

    def _serve(self, made: socket.socket) -> None:
        """Note each visit until the socket is closed."""
        while True:
            try:
                if made.type == socket.SOCK_DGRAM:
                    made.recvfrom(16)
                else:
                    made.accept()[0].close()
            except OSError:
                return
            self.visits.append(f"{made.family.name} {made.type.name}")

    def script(self, group: str, leave_out: tuple[str, ...] = ()) -> str:
        """Give the code that tries all attacks of a group, one after another."""
        values = {
            "secret": str(self.secret),
            "key": KEY,
            "found": SECRET,
            "tcp": self._tcp.getsockname()[1],
            "udp": self._udp.getsockname()[1],
            "unix": self._unix_path,
            "pid": os.getpid(),
        }
        return "".join(
            attempt(name, textwrap.dedent(body).strip().format(**values))
            for name, body in GROUPS[group].items()
            if name not in leave_out
        )

    def damage(self) -> list[str]:
        """Say what happened to the host."""
        files = sorted(path.name for path in self.secret.parent.iterdir() if path.name not in ("secret.txt", "socket"))
        changed = [] if self.secret.read_text(encoding="utf-8") == SECRET else ["the secret was changed"]
        return [*self.visits, *files, *changed]


def attempt(name: str, body: str) -> str:
    """Give the code of one attack: it says what came of it."""
    return (
        f"try:\n{textwrap.indent(body, '    ')}\n    print({f'{GOT_THROUGH}: {name}'!r})\n"
        f"except Exception as error:\n    print({f'refused: {name}:'!r}, type(error).__name__)\n"
    )
