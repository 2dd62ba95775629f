"""Programs of agents, as the user's own ``config.toml`` names them; a memory names none."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kimi_memory.domain.agent_run import Limits, Program, Runtime
from kimi_memory.domain.user_tables import AGENT_KEYS
from kimi_memory.errors import FormatError, UsageError
from kimi_memory.formats.toml_lines import find_line

_LIMITS = {"cpu_s": float, "wall_s": float, "memory_mb": int, "output_bytes": int}


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("a list of texts")
    return tuple(value)


def _command(value: object) -> tuple[str, ...]:
    found = tuple(shlex.split(value)) if isinstance(value, str) else _texts(value)
    if not found:
        raise ValueError('a program with its arguments, such as ["python3", "agent.py"]')
    return found


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _place(value: object) -> str:
    if value not in ("stdin", "file", "env"):
        raise ValueError("stdin, file or env")
    return str(value)


_FIELDS: dict[str, Callable[[object], object]] = {
    "command": _command,
    "runtime": _text,
    "model": _text,
    "skills": _texts,
    "env": _texts,
    "context": _place,
    "network": _flag,
    "roots": _texts,
}


def find_program(name: str, agents: Mapping[str, Mapping[str, Any]], config: Path) -> Program:
    """Return the program of an agent.

    Args:
        name: of the agent.
        agents: ``[agents.<name>]`` of the user's settings.
        config: their file, which messages name.

    Raises:
        UsageError: there is no such agent.
        FormatError: a value is of the wrong kind.
    """
    if name not in agents:
        known = f"It has {', '.join(sorted(agents))}." if agents else "It names no agents."
        raise UsageError(
            f"{config} has no [agents.{name}]. {known} Write one with a command, or give --command."
        )
    table, found = agents[name], {"name": name}
    limits: dict[str, float] = {}
    for key, value in table.items():
        try:
            if key in _LIMITS:
                limits[key] = _read_limit(key, value)
            elif key in _FIELDS:
                found[key] = _FIELDS[key](value)  # type: ignore[assignment]  # each of its kind
            else:
                raise ValueError(f"one of {', '.join(AGENT_KEYS)}; there is no {key}")
        except ValueError as error:
            # Only for the message: the settings were parsed long before, and kept no line numbers.
            text = config.read_text(encoding="utf-8") if config.is_file() else ""
            line = find_line(text, key, below=f"agents.{name}")
            why = f"[agents.{name}] {key} is {value!r}"
            raise FormatError(str(config), line, why, f"Give {error}") from error
    if "command" not in found:
        raise UsageError(f"{config}: [agents.{name}] has no command. Write one.")
    return Program(**found, limits=Limits(**limits))  # type: ignore[arg-type]  # checked above


def check_program(program: Program, runtime: Runtime) -> None:
    """Refuse a program that a runtime of this machine would not find; others have their own.

    Raises:
        UsageError: there is none of that name.
    """
    name = program.command[0]
    # A path may lead into the folder of the run, which is still to be made.
    if runtime.isolation == "none" and "/" not in name and shutil.which(name) is None:
        raise UsageError(f"There is no program {name} on this machine. Name its whole path.")


def _read_limit(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise ValueError("a number from 0 on")
    return float(value) if _LIMITS[key] is float else int(value)
