"""Merges that git began: the merge of values, with what a person settled by hand in the files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import id_of
from kimi_memory.formats.page_lines import sign_of
from kimi_memory.merge.kinds import read_text
from kimi_memory.merge.lines import merge_lines
from kimi_memory.merge.trees import Tree, join

_MARKS = re.compile(r"^(?:<<<<<<< |>>>>>>> )", re.MULTILINE)


def finish_merge(base: Tree, ours: Tree, theirs: Tree, found: Tree) -> dict[str, bytes]:
    """Return the files of both sides, with those that a person settled.

    Args:
        base: what both descend from.
        ours: the commit before the merge.
        theirs: the other commit.
        found: the files as git left them and a person went on with them.
    """
    # Turns that were stored meanwhile stand behind our version of their session.
    sides = [
        {path: _grown(path, old, found) for path, old in side.items()} for side in (ours, theirs)
    ]
    wanted = dict(join(base, *sides).files)
    for path in sorted({*ours, *theirs, *wanted}):
        versions = [side.get(path) for side in (base, ours, theirs)]
        if _is_settled(path, found.get(path), versions):
            if path in found:
                wanted[path] = found[path]
            else:
                wanted.pop(path, None)
    return wanted


def _grown(path: str, content: bytes, found: Tree) -> bytes:
    now = found.get(path, b"")
    return now if path.endswith(".jsonl") and now.startswith(content) else content


def _is_settled(path: str, now: bytes | None, versions: Sequence[bytes | None]) -> bool:
    """Whether a person's hand is in a file: it reads well, and is neither side's nor git's."""
    base, ours, theirs = versions
    if now in (ours, theirs) or path.endswith((".jsonl", ".json")):
        return False
    if now is None:
        return ours is not None and theirs is not None
    texts = [read_text(one) if one is not None else "" for one in (base, ours, theirs, now)]
    text = texts[3]
    if text is None or _MARKS.search(text) or sign_of(text):
        return False
    if None not in texts:
        lines = [(one or "").splitlines(keepends=True) for one in texts]
        if merge_lines(lines[0], lines[1], lines[2]) == lines[3]:
            return False
    if _is_mixed(path, text, texts[1], texts[2]):
        return False
    return _reads_well(path, now, ours or theirs or b"")


def _is_mixed(path: str, now: str, ours: str | None, theirs: str | None) -> bool:
    """Whether a file holds lines of two notes that came to one place, and no others.

    `git pull -X theirs` takes where the sides clash the lines of one of them.
    """
    if ours is None or theirs is None:
        return False
    notes = {id_of(side.encode(), path) for side in (ours, theirs)}
    known = {*ours.splitlines(), *theirs.splitlines()}
    return len(notes - {""}) > 1 and known.issuperset(now.splitlines())


def _reads_well(path: str, now: bytes, before: bytes) -> bool:
    note = id_of(before, path)
    if not note:
        return True
    found = codec.read_note(now, path)
    return found is not None and found.id == note
