"""Memories on their way to a remote: sent by a sync, then looked at as a new clone sees them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.errors import NotFoundError, RemoteError, UsageError
from kimi_memory.operations.copy_state import CopyState, describe_copy
from kimi_memory.operations.new_folders import (
    File,
    beside,
    borrow_folder,
    lay_folder,
    make_history,
    write_files,
)
from kimi_memory.operations.open_questions import waiting_files
from kimi_memory.operations.remotes import CHECK_SECONDS, check_remote, open_remotes
from kimi_memory.operations.sync_remotes import sync_memory
from kimi_memory.operations.take_in import Asked
from kimi_memory.store.git.network import Deadline
from kimi_memory.store.git.remote_copy import clone_branch
from kimi_memory.store.git.remotes import Remote

_CLONE_SECONDS = 10 * CHECK_SECONDS
"""How long it may take until all of a memory is here again."""


class RemotePlace(NamedTuple):
    """A repository that copies sync with."""

    remote: Remote

    def __str__(self) -> str:
        return self.remote.url


def find_remote(memory: Memory, text: str) -> Remote | None:
    """Return the remote of a name; None where the text is none. A folder is written ``./name``."""
    try:
        return open_remotes(memory).find(text)
    except NotFoundError:
        # It may be a folder or an address; the caller tries those next.
        return None


def send_memory(memory: Memory, place: RemotePlace, *, dry_run: bool) -> None:
    """Bring a remote in step, or only ask whether it can be reached.

    Raises:
        UsageError: something waits for a person's word, which no remote keeps.
        RemoteError: it cannot be reached, or it took nothing.
    """
    name = place.remote.name
    if waiting := waiting_files(memory):
        raise UsageError(
            f"{waiting[0].path} waits for your word, which a remote does not keep. "
            "Answer with 'kimi-memory review' first, or move to a folder."
        )
    if dry_run:
        check_remote(memory, name)
        return
    [report] = sync_memory(memory, [name])
    if report.failed:
        raise RemoteError(name, report.failed, f"See 'kimi-memory sync {name}', then move it")


def describe_remote(memory: Memory, place: RemotePlace, asked: Asked) -> CopyState:
    """Return what a new clone of a remote holds; nothing of what is here is borrowed for it."""
    merger = memory.history.merger()
    with borrow_folder() as work, lay_folder(work / "clone", keep=False) as part:
        history = make_history(part, beside(memory))
        git, deadline = history.repository(), Deadline(_CLONE_SECONDS)
        clone_branch(git, part, place.remote, merger.ref, deadline)
        [tree] = history.merger().read([history.head()], whole=True).trees
        write_files(part, {path: File(content, content) for path, content in tree.items()})
        with Memory.open(part, beside(memory)) as clone:
            state = describe_copy(clone, asked.questions, memory.clock())
    # Names are a person's own; a clone takes none along.
    return replace(state, names=memory.history.names())
