"""Processes that outlive the hook that starts them."""

from __future__ import annotations

import os
import sys

CHILD = "KIMI_MEMORY_CHILD"
"""Set for programs that memory itself starts; their hooks do nothing, or it never ends."""


def start_detached(*words: str) -> None:
    """Run a command of ours in a process of its own, and do not wait for it."""
    command = [sys.executable, "-m", "kimi_memory", *words]
    nothing = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    environment = {**os.environ, CHILD: "1"}
    # A session of its own: programs kill the process group of a hook with the hook. Its streams
    # lead nowhere, or the program would wait for the end of its output.
    os.posix_spawn(sys.executable, command, environment, file_actions=nothing, setsid=True)
