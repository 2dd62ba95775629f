"""An answer in the hook's own process, where no server runs."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kimi_memory.agent_hooks import spool
from kimi_memory.agent_hooks.respond import Reply, words_in
from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Home, Opening, user_host
from kimi_memory.capture.log import Screen
from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Origin
from kimi_memory.errors import KimiMemoryError


def open_here(root: Path, host: str) -> Memory:
    """Open a memory for a short time."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    actor = Actor(f"hook:{host}", Origin.AGENT)
    return Memory.open(root, Opening(actor=actor, background=False))


def answer_here(root: str, event: Mapping[str, Any]) -> str:
    """Answer one event and close the memory again."""
    with open_here(Path(root), event["host"]) as memory:
        return Reply(memory).to(event)


def leave_words(root: str, event: Mapping[str, Any]) -> None:
    """Leave the words of an event that could not be stored in the spool, screened."""
    if said := words_in(event):
        home = Home.of_user()
        screen = Screen(user_host(home), home.key())
        passed = {role: screen.pass_text(text).text for role, text in said.items()}
        spool.put(root, {**event, "said": passed})


def begin_here(root: str, cwd: str) -> str:
    """Make the working copy for the branch of code in a folder; the memory where it cannot be."""
    try:
        with open_here(Path(root), "code") as memory:
            return str(memory.follow_code(cwd))
    except KimiMemoryError:
        # A hook must not fail for that: what is said then goes into the main memory.
        return root


def may_serve() -> bool:
    """Whether the user lets a hook start a server."""
    return Home.of_user().settings().server == "auto"


def drain_here(root: Path) -> int:
    """Work off the spool of a memory; return how many events there were."""
    with open_here(root, "drain") as memory:
        reply = Reply(memory)
        count = reply.drain()
        # Copilot logs the end of a turn after its hooks for it have run.
        while reply.waits():
            time.sleep(1.0)
            reply.drain()
        reply.sweep()
        return count
