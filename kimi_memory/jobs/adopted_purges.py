"""Whether another memory still has what was purged here, where both had the same turns."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kimi_memory.domain.tombstone import PURGED
from kimi_memory.formats.job_file import FOLDER
from kimi_memory.formats.jsonl import unseal
from kimi_memory.merge.kinds import is_session
from kimi_memory.merge.trees import Tree
from kimi_memory.store.store import Store
from kimi_memory.store.trust.session_growth import turn_lines

_MARK = PURGED.encode()
_SESSION = "session:"


def holds_purged(store: Store, theirs: Tree, before: Tree) -> bool:
    """Whether the files of another memory have what was purged here in the same turns and texts.

    Hashes would not tell, as each machine has a key of its own.

    Args:
        store: the files here.
        theirs: those of the other memory.
        before: those that both begin with.
    """
    talks = {path.rpartition("/")[2]: theirs[path] for path in theirs if is_session(path)}
    if any(f"session_{id}.jsonl" in talks for id in _yield_purged_sessions(store)):
        return True
    for path in store.files():
        content = store.read(path)
        if _MARK not in content:
            continue
        if is_session(path):
            other = talks.get(path.rpartition("/")[2], b"")
            whole = _list_turns(other) - _list_turns(other, _MARK)
            if not whole.isdisjoint(_list_turns(content, _MARK)):
                return True
        elif path in before and content.count(_MARK) > theirs.get(path, content).count(_MARK):
            return True
    return False


def _list_turns(content: bytes, mark: bytes = b"") -> set[object]:
    """Return number and moment of the turns in a session, or of those with a mark."""
    turns = (unseal(line) for line in turn_lines(content) if mark in line)
    return {(turn.get("n"), turn.get("at")) for turn in turns}


def _yield_purged_sessions(store: Store) -> Iterator[str]:
    """Yield the sessions that were purged as a whole."""
    for path in store.files(FOLDER):
        if path.startswith(f"{FOLDER}/purge-"):
            try:
                hashes = json.loads(store.read(path)).get("hashes", ())
            except (ValueError, AttributeError):
                continue  # Other checks name files that cannot be read.
            named = (str(one) for one in hashes)
            yield from (one.removeprefix(_SESSION) for one in named if one.startswith(_SESSION))
