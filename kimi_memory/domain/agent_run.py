"""A run of an agent: its task, its limits, what it may do, and what became of it.

The memory lasts; an agent is a program that lives for seconds or minutes, works with a part of
the memory and is gone. What it said stays, as turns of a session.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from kimi_memory.lazy_dataclass import dataclass

TaskClass = Literal["interactive", "batch", "deploy", "research"]
Security = Literal["low", "normal", "high"]
RunStatus = Literal["starting", "ready", "busy", "stopping", "stopped"]
Outcome = Literal["", "done", "failed", "killed", "lost", "fenced"]
Isolation = Literal["none", "low", "medium", "high"]
Gives = Literal["stdin", "file", "env"]
TASK_CLASSES: tuple[TaskClass, ...] = ("interactive", "batch", "deploy", "research")
SECURITIES: tuple[Security, ...] = ("low", "normal", "high")


@dataclass(frozen=True, slots=True)
class Needs:
    """What a task needs of the machine that it runs on."""

    cpu: float = 0.0
    memory_mb: int = 0
    disk_mb: int = 0
    gpu: bool = False
    permissions: tuple[str, ...] = ()
    """Of sudo, filesystem, network and docker."""
    runtimes: tuple[str, ...] = ()
    """Runtimes of which one must be there, and languages such as python."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done."""

    id: str
    memory: str = ""
    class_: TaskClass = "batch"
    prompt: str = ""
    realtime: bool = False
    """Whether somebody waits for each answer."""
    expected_s: float = 0.0
    """So long it is expected to take; nobody knows if 0."""
    security: Security = "normal"
    needs: Needs = Needs()
    region: str = ""
    """Where it must run; anywhere if empty."""
    deadline: datetime | None = None
    attempts: int = 2
    """So often a run that was lost may be repeated."""
    ref: str = ""
    """The caller's own name of the task: what was done under it is not done again."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a run or of a call."""

    cpu_s: float = 0.0
    """Processor seconds of a process; no bound if 0."""
    wall_s: float = 300.0
    memory_mb: int = 0
    """Address space of a process; no bound if 0."""
    output_bytes: int = 64 * 1024 * 1024
    """What it may write to standard output, to its errors and into any one file."""
    calls: int = 0
    """Calls of a grant; no bound if 0."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a run may have an execution node do, signed, for one epoch of its memory."""

    id: str
    run: str
    memory: str
    epoch: int
    node: str
    methods: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    """Folders of the node that are visible inside; ``rw:`` in front where they may be changed."""
    network: tuple[str, ...] = ()
    """``*`` for all of the network; nothing for none."""
    limits: Limits = Limits()
    until: datetime | None = None
    sig: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used, by whom, on one day."""

    memory: str = ""
    day: str = ""
    node: str = ""
    agent: str = ""
    user: str = ""
    job: str = ""
    model: str = ""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    model_s: float = 0.0
    cpu_s: float = 0.0
    wall_s: float = 0.0
    stored_bytes: int = 0
    log_bytes: int = 0
    reads: int = 0
    writes: int = 0


@dataclass(frozen=True, slots=True)
class AgentRun:
    """One run of an agent; it lives for seconds or minutes."""

    id: str
    memory: str
    task: str
    task_class: TaskClass = "batch"
    agent: str = ""
    """Its name, under which its sessions and its page stand."""
    model: str = ""
    skills: tuple[str, ...] = ()
    runtime: str = "process"
    pool: str = ""
    reasoning_node: str = ""
    execution_node: str = ""
    placement: str = ""
    """Why it ran there."""
    status: RunStatus = "starting"
    outcome: Outcome = ""
    why: str = ""
    session: str = ""
    epoch: int = 0
    """Of the memory's leadership; 0 on a machine by itself."""
    grant_until: str = ""
    memory_mb: int = 0
    started: str = ""
    ready_at: str = ""
    stopped: str = ""
    usage: Usage = Usage()
    attempt: int = 1
    ref: str = ""


class Program(NamedTuple):
    """What is started for an agent: ``[agents.<name>]`` of the user's ``config.toml``."""

    name: str
    command: tuple[str, ...]
    """Program and arguments; no shell reads them."""
    runtime: str = "process"
    model: str = ""
    skills: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    """Names of variables that are passed on."""
    context: Gives = "stdin"
    """How it gets its context block: on standard input, in a file alone, or in a variable, too."""
    network: bool = False
    """Whether a sandbox lets it into the network."""
    roots: tuple[str, ...] = ()
    """Folders that a sandbox shows it; ``rw:`` in front where they may be changed."""
    limits: Limits = Limits()


class RunSpec(NamedTuple):
    """How a runtime starts a program."""

    run: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    work: Path
    """Its own folder, empty at first and removed with it."""
    stdin: Path
    stdout: Path
    stderr: Path
    """Output files of the program; they are kept when the agent or its runner is killed."""
    limits: Limits = Limits()
    network: bool = False
    roots: tuple[str, ...] = ()
    passing: bool = True
    """Whether the folder was made for this run."""


class Started(Protocol):
    """A program that was started."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None:
        """Return its exit code, negative for a signal; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises ``subprocess.TimeoutExpired``."""


class Runtime(Protocol):
    """A way to start programs."""

    name: str
    isolation: Isolation
    inside: str
    """Where the program sees its folder; empty for where it is."""
    host: str
    """The machine that carries it out; empty for this one."""

    def start(self, spec: RunSpec) -> Started:
        """Start a program.

        Raises:
            UsageError: it cannot be started on this machine; the message says how it could.
        """

    def stop(self, started: Started, grace_s: float) -> None:
        """End a program: first politely, then by force."""

    def alive(self, started: Started) -> bool:
        """Whether it runs."""
