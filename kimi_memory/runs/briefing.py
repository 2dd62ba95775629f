"""What an agent gets: its task, its block of memory, and a small environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from kimi_memory.domain.agent_run import Program, Task
from kimi_memory.domain.ids import RUN_VARIABLE
from kimi_memory.errors import UsageError
from kimi_memory.formats.json_values import plain

_PASSED = ("PATH", "LANG", "LC_ALL", "TZ")
_LONGEST_VARIABLE = 120_000
"""Linux takes 128 KiB for one variable, its name included."""
CONTEXT_FILE, TASK_FILE = "context.md", "task.json"


def brief_agent(work: Path, task: Task, program: Program, block: str) -> bytes:
    """Write ``context.md`` and ``task.json`` for an agent to work with; return its input."""
    text = json.dumps(plain(task), ensure_ascii=False, indent=2)
    _write_new(work / CONTEXT_FILE, block)
    _write_new(work / TASK_FILE, f"{text}\n")
    given = f"{block}\n\n{task.prompt}\n" if program.context == "stdin" else f"{task.prompt}\n"
    return given.lstrip("\n").encode()


def lay_streams(place: Path, given: bytes) -> None:
    """Make the files of a run that are its standard streams."""
    (place / "stdin").write_bytes(given)
    for name in ("out.log", "err.log"):
        (place / name).touch(mode=0o600)


def _write_new(path: Path, text: str) -> None:
    """Write a file anew: an earlier run in that folder may have left a link out of it."""
    path.unlink(missing_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def make_environment(
    environ: Mapping[str, str], program: Program, run: str, inside: str, block: str
) -> dict[str, str]:
    """Return the variables of an agent: a few that all need, and those that were named.

    Raises:
        UsageError: a named variable is not set, or the block does not fit into one.
    """
    env = {name: environ[name] for name in _PASSED if name in environ}
    env |= {
        "HOME": inside,
        RUN_VARIABLE: run,
        "KIMI_RUN_DIR": inside,
        # Hooks of an agent program would store the same words a second time.
        "KIMI_MEMORY_CHILD": "1",
    }
    for name in program.env:
        if name not in environ:
            raise UsageError(f"{name} is not set, and {program.name} is to get it. Set it.")
        env[name] = environ[name]
    if program.context == "env":
        if len(block.encode()) > _LONGEST_VARIABLE:
            raise UsageError("The block of memory is too long for a variable. Use context = file.")
        env["KIMI_RUN_CONTEXT"] = block
    return env
