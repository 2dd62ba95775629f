"""The runtime ``gvisor``: a kernel of its own for a program, by runsc.

Why it exists: what runs in the sandbox of bubblewrap speaks to the kernel of the machine, where a
fault is a way out. In here it speaks to another kernel, which is a plain process outside.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.agent_run import Isolation, Limits, RunSpec, Runtime, Started
from kimi_memory.errors import UsageError
from kimi_memory.runs.processes import start_process, stop_process
from kimi_memory.runs.roots import NOBODY, check_root, give_away, split_root

_INSIDE = "/box"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_FILES = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime", "/etc/nsswitch.conf")
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl", "/etc/ca-certificates")
_PASSING = "size=268435456"
_DELETE_SECONDS = 10.0
_PARTS = ("pid", "ipc", "uts", "mount", "network")


class GvisorRuntime:
    """Starts programs in containers of runsc; it needs root, as another user has no part in it."""

    name = "gvisor"
    isolation: Isolation = "high"
    inside = _INSIDE
    host = ""

    def start(self, spec: RunSpec) -> Started:
        """Start a program that sees its folder, the system's programs, and what was granted."""
        if shutil.which("runsc") is None:
            raise UsageError(
                "There is no runsc on this machine, so no gVisor. Install it, or choose the "
                "runtime sandbox."
            )
        if os.geteuid() != 0:
            raise UsageError("gVisor is started by root alone. Choose the runtime sandbox.")
        give_away(spec, NOBODY)
        # Its description holds the variables of the program: for its owner alone, and passing.
        bundle = Path(tempfile.mkdtemp(prefix="kimi-gvisor-"))
        (bundle / "root").mkdir()
        (bundle / "config.json").write_text(json.dumps(_describe(spec)), encoding="utf-8")
        call = ["runsc", f"--root={bundle / 'state'}", "--platform=ptrace", "--ignore-cgroups"]
        call.append("--network=host" if spec.network else "--network=none")
        # The limits are those of the program: runsc has its memory in a file, for one.
        outside = Limits(output_bytes=0)
        try:
            begun = start_process(
                spec._replace(limits=outside), [*call, "run", "--bundle", str(bundle), spec.run],
                {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            )  # fmt: skip
        except UsageError:
            shutil.rmtree(bundle)
            raise
        return _Container(begun, bundle, [*call, "delete", "--force", spec.run])

    def stop(self, started: Started, grace_s: float) -> None:
        """End a container: it ends with the process that attends to it."""
        stop_process(started, grace_s)

    def alive(self, started: Started) -> bool:
        """Whether it runs."""
        return started.poll() is None


class _Container:
    """A container, whose description is removed with it."""

    def __init__(self, begun: subprocess.Popen[bytes], bundle: Path, delete: list[str]) -> None:
        self._begun, self._bundle, self._delete = begun, bundle, delete
        self.pid = begun.pid
        self.returncode: int | None = None
        """Its exit code, once it was asked for."""

    def poll(self) -> int | None:
        """Return the exit code; None while it runs."""
        return self._clear(self._begun.poll())

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end."""
        code = self._begun.wait(timeout)
        self._clear(code)
        return code

    def _clear(self, code: int | None) -> int | None:
        self.returncode = code
        if code is not None and self._bundle.exists():
            # The box is gone or goes with the machine; the run itself is over.
            with suppress(OSError, subprocess.SubprocessError):
                subprocess.run(
                    self._delete, check=False, capture_output=True, timeout=_DELETE_SECONDS
                )
            shutil.rmtree(self._bundle, ignore_errors=True)
        return code


def _describe(spec: RunSpec) -> dict[str, Any]:
    """Return the container as runsc reads it."""
    env = {**spec.env, "PATH": "/usr/local/bin:/usr/bin:/bin"}
    return {
        "ociVersion": "1.0.0",
        "hostname": "box",
        "root": {"path": "root", "readonly": True},
        "process": {
            "user": {"uid": NOBODY, "gid": NOBODY},
            "args": list(spec.argv),
            "env": [f"{name}={value}" for name, value in env.items()],
            "cwd": _INSIDE,
            "noNewPrivileges": True,
            "capabilities": {},
            "rlimits": [*_list_limits(spec.limits)],
        },
        "mounts": [*_list_mounts(spec)],
        "linux": {"namespaces": [{"type": part} for part in _PARTS]},
    }


def _list_limits(limits: Limits) -> Iterator[dict[str, Any]]:
    bounds = {
        "CPU": int(limits.cpu_s + 0.999),
        "AS": limits.memory_mb * 1024 * 1024,
        "FSIZE": limits.output_bytes,
    }
    for name, most in bounds.items():
        if most:
            yield {"type": f"RLIMIT_{name}", "soft": most, "hard": most}


def _list_mounts(spec: RunSpec) -> Iterator[dict[str, Any]]:
    yield {"destination": "/proc", "type": "proc", "source": "proc"}
    for path in ("/dev", "/tmp"):  # noqa: S108  inside of the container
        yield {"destination": path, "type": "tmpfs", "source": "tmpfs", "options": [_PASSING]}
    shown = (*_SYSTEM, *_FILES, *(_NETWORK if spec.network else ()))
    for path in filter(os.path.exists, shown):
        # /bin is a link to usr/bin on most systems; a container has the folder twice.
        yield _bind(os.path.realpath(path), path, "ro")
    for text in spec.roots:
        root, writable = split_root(text)
        check_root(root)
        yield _bind(str(root), str(root), "rw" if writable else "ro")
    yield _bind(str(spec.work), _INSIDE, "rw")


def _bind(source: str, destination: str, mode: str) -> dict[str, Any]:
    return {"destination": destination, "type": "bind", "source": source, "options": [mode]}


@hookimpl(trylast=True)
def open_runtime(name: str) -> Runtime | None:
    """Start programs in gVisor."""
    return GvisorRuntime() if name == "gvisor" else None
