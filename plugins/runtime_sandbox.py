"""The runtime ``sandbox``: bubblewrap, with nothing of the machine but its programs.

Why it exists: what an agent runs may be wrong or worse; in here it sees no memory, no files of its
user, no network and no other process, unless that was granted.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from kimi_memory import hookimpl
from kimi_memory.domain.agent_run import Isolation, RunSpec, Runtime, Started
from kimi_memory.errors import UsageError
from kimi_memory.runs.processes import start_process, stop_process
from kimi_memory.runs.roots import NOBODY, check_root, give_away, split_root
from kimi_memory.runs.syscall_filter import open_content, open_filter

_INSIDE = "/box"
_USER = "1000"
# Enough for a program that compiles, and a fork bomb ends early.
_PROCESSES = 128
# Kept in memory: a run that fills its /tmp must not take all of ours.
_PASSING_BYTES = 256 * 1024 * 1024
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_FILES = (
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"),
    *("/etc/localtime", "/etc/nsswitch.conf"),
)
_KEYS = ("/proc/keys", "/proc/key-users")
"""They name the keys of the session, which is the same inside."""
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl", "/etc/ca-certificates")


class SandboxRuntime:
    """Starts programs in a sandbox."""

    name = "sandbox"
    isolation: Isolation = "medium"
    inside = _INSIDE
    host = ""

    def start(self, spec: RunSpec) -> Started:
        """Start a program that sees its folder, the system's programs, and what was granted."""
        for program in ("bwrap", "prlimit"):
            if shutil.which(program) is None:
                raise UsageError(
                    f"There is no {program} on this machine, so no sandbox. Install bubblewrap and "
                    "util-linux, or choose the runtime process."
                )
        user = NOBODY if os.geteuid() == 0 else None
        if user is not None:
            give_away(spec, user)
        with open_filter() as handle, open_content(_list_variables(spec)) as more:
            argv = ["bwrap", *_isolate(), "--seccomp", str(handle), "--args", str(more)]
            # Counted inside of the sandbox: outside, the user's other processes would count, too.
            limit = f"--nproc={_PROCESSES}:{_PROCESSES}"
            argv += [*_mount(spec), "--", "prlimit", limit, "--", *spec.argv]
            return start_process(spec, argv, {"PATH": "/usr/bin:/bin"}, user, (handle, more))

    def stop(self, started: Started, grace_s: float) -> None:
        """End all of the sandbox: nothing in it outlives its first process."""
        stop_process(started, grace_s)

    def alive(self, started: Started) -> bool:
        """Whether it runs."""
        return started.poll() is None


def _isolate() -> Iterator[str]:
    yield from ("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net")
    yield from ("--unshare-uts", "--unshare-cgroup-try", "--disable-userns")
    yield from ("--die-with-parent", "--new-session", "--cap-drop", "ALL")
    yield from ("--uid", _USER, "--gid", _USER, "--hostname", "box")


def _mount(spec: RunSpec) -> Iterator[str]:
    for path in _SYSTEM:
        # /bin is a link to usr/bin on most systems, and a folder on the others.
        if Path(path).is_symlink():
            yield from ("--symlink", str(Path(path).readlink()), path)
        elif Path(path).exists():
            yield from ("--ro-bind", path, path)
    for path in filter(os.path.exists, (*_FILES, *(_NETWORK if spec.network else ()))):
        yield from ("--ro-bind", path, path)
    if spec.network:
        yield "--share-net"
    yield from ("--proc", "/proc", "--dev", "/dev")
    for path in filter(os.path.exists, _KEYS):
        yield from ("--ro-bind", "/dev/null", path)
    yield from ("--size", str(_PASSING_BYTES), "--tmpfs", "/tmp")  # noqa: S108  inside of the box
    for text in spec.roots:
        root, writable = split_root(text)
        check_root(root)
        yield from ("--bind" if writable else "--ro-bind", str(root), str(root))
    yield from ("--bind", str(spec.work), _INSIDE, "--chdir", _INSIDE)
    yield from ("--remount-ro", "/")


def _list_variables(spec: RunSpec) -> bytes:
    """Return arguments that set the variables of a program.

    They are no arguments of its process, which every user of the machine can read, and no
    variables of what builds the sandbox, which could load a library that they name.
    """
    words = ["--clearenv"]
    for name, value in {**spec.env, "PATH": "/usr/local/bin:/usr/bin:/bin"}.items():
        words += ["--setenv", name, value]
    return b"".join(word.encode() + b"\0" for word in words)


@hookimpl(trylast=True)
def open_runtime(name: str) -> Runtime | None:
    """Start programs in bubblewrap."""
    return SandboxRuntime() if name == "sandbox" else None
