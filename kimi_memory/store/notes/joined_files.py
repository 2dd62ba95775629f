"""Session files that hold two sessions, and how each of these gets a file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from kimi_memory.domain.change import Actor, Change, Create, Update, digest
from kimi_memory.formats.joined_sessions import is_joined, parts_of
from kimi_memory.store.store import Store


def split_session(store: Store, path: str, actor: Actor) -> None:
    """Split one file if it holds several sessions."""
    content = store.read(path)
    if is_joined(content):
        store.apply(list(split_changes(store, path, content)), actor, subject="split sessions")


def split_changes(store: Store, path: str, content: bytes) -> Iterator[Change]:
    """Yield the changes that give each session in a file its own; the first keeps the path."""
    first, *more = parts_of(content.splitlines(keepends=True))
    yield Update(path, digest(content), b"".join(first.lines))
    for part in more:
        assert part.session is not None, "only the first part has no header of its own"
        own = str(PurePosixPath(path).with_name(f"session_{part.session.id}.jsonl"))
        # Another copy has made the same file where the same merge was repaired there.
        if not store.exists(own):
            yield Create(own, b"".join(part.lines))
