"""The runtime ``container:IMAGE``: a container of podman, or of docker where that is not there.

Why it exists: some agents come with programs of their own, as an image; in a container they have
these, and of the machine only what a sandbox would show.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kimi_memory import hookimpl
from kimi_memory.domain.agent_run import Isolation, Limits, RunSpec, Runtime, Started
from kimi_memory.errors import UsageError
from kimi_memory.runs.processes import start_process, stop_process
from kimi_memory.runs.roots import NOBODY, check_root, give_away, split_root
from kimi_memory.runs.syscall_filter import describe_filter

_SCHEME = "container:"
_ENGINES = ("podman", "docker")
_INSIDE = "/box"
_PROCESSES, _OPEN_FILES = 128, 1024
_PASSING = "/tmp:size=256m"  # noqa: S108  inside of the container
_GRACE_SECONDS = 5
_REMOVE_SECONDS = 30.0
_OWN = ("HOME", "PATH")
"""Variables by which the engine finds its own settings; those of the agent are of the image."""


class ContainerRuntime:
    """Starts programs in containers of one image.

    Args:
        image: as the engine knows it; it is fetched where it is not there.
    """

    isolation: Isolation = "medium"
    inside = _INSIDE
    host = ""

    def __init__(self, image: str) -> None:
        if not image or image.startswith("-") or not image.isprintable() or " " in image:
            raise UsageError(f"{image!r} is no image. Write container:NAME, such as python:3.13.")
        self._image, self.name = image, f"{_SCHEME}{image}"
        self._removals = dict[int, list[str]]()
        """What removes a container, by the process that waits for it."""

    def start(self, spec: RunSpec) -> Started:
        """Start a program that sees its folder, what is in the image, and what was granted."""
        engine = next(filter(shutil.which, _ENGINES), None)
        if engine is None:
            raise UsageError(
                "There is no podman and no docker on this machine, so no containers. Install "
                "podman, or choose the runtime sandbox."
            )
        if os.geteuid() == 0:
            give_away(spec, NOBODY)
        profile = spec.stdin.with_name("seccomp.json")
        profile.write_text(json.dumps(describe_filter()), encoding="utf-8")
        argv = [engine, "run", f"--security-opt=seccomp={profile}", *_isolate(engine, spec)]
        argv += [*_mount(spec), *_limit(spec.limits)]
        # By name: what a program has as arguments is for all users of a machine to read.
        argv += [f"--env={name}" for name in spec.env if name not in _OWN]
        env = {**os.environ, **{n: value for n, value in spec.env.items() if n not in _OWN}}
        # The limits are those of the program, and not of what waits for it.
        unbound = spec._replace(limits=Limits(output_bytes=0))
        begun = start_process(unbound, [*argv, self._image, *spec.argv], env)
        self._removals[begun.pid] = [engine, "rm", "--force", "--volumes", spec.run]
        return begun

    def stop(self, started: Started, grace_s: float) -> None:
        """End a container, and all that runs in it."""
        stop_process(started, grace_s)
        # The engine attends to it by a process of its own, which nobody ended.
        if argv := self._removals.pop(started.pid, None):
            with suppress(OSError, subprocess.SubprocessError):
                subprocess.run(argv, check=False, capture_output=True, timeout=_REMOVE_SECONDS)

    def alive(self, started: Started) -> bool:
        """Whether it runs."""
        return started.poll() is None


def _isolate(engine: str, spec: RunSpec) -> Iterator[str]:
    yield from ("--rm", "--interactive", f"--name={spec.run}", "--entrypoint=", "--read-only")
    yield from ("--cap-drop=all", "--security-opt=no-new-privileges", "--hostname=box")
    yield f"--pids-limit={_PROCESSES}"
    if not spec.network:
        yield "--network=none"
    if os.geteuid() == 0:
        yield f"--user={NOBODY}:{NOBODY}"
    else:
        yield f"--user={os.geteuid()}:{os.getegid()}"
        if engine == "podman":
            yield "--userns=keep-id"
    if engine == "podman" and spec.limits.wall_s:
        # Where nobody lives any more who could end it.
        yield f"--timeout={int(spec.limits.wall_s) + _GRACE_SECONDS}"


def _mount(spec: RunSpec) -> Iterator[str]:
    yield from (f"--tmpfs={_PASSING}", f"--env=HOME={_INSIDE}", f"--workdir={_INSIDE}")
    yield _bind(spec.work, _INSIDE, writable=True)
    for text in spec.roots:
        root, writable = split_root(text)
        check_root(root)
        yield _bind(root, str(root), writable=writable)


def _bind(source: Path, target: str, *, writable: bool) -> str:
    if any(letter in f"{source}{target}" for letter in ',"\n'):
        raise UsageError(f"{source} cannot be shown in a container. Give it a plainer name.")
    mode = "" if writable else ",readonly"
    return f"--mount=type=bind,source={source},target={target}{mode}"


def _limit(limits: Limits) -> Iterator[str]:
    bounds = {
        "core": 0, "nofile": _OPEN_FILES, "nproc": _PROCESSES, "cpu": int(limits.cpu_s + 0.999),
        "fsize": limits.output_bytes,
    }  # fmt: skip
    for name, most in bounds.items():
        if most or name == "core":
            yield f"--ulimit={name}={most}:{most}"
    if limits.memory_mb:
        yield f"--memory={limits.memory_mb}m"


@hookimpl(trylast=True)
def open_runtime(name: str) -> Runtime | None:
    """Start programs in containers."""
    return ContainerRuntime(name.removeprefix(_SCHEME)) if name.startswith(_SCHEME) else None
