"""Files as they were: at an earlier commit, or when their content had a mark."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kimi_memory.domain.job import digest
from kimi_memory.store.files.disk import Stats
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.git.command import Entry, Git, behind, load_cache
from kimi_memory.store.git.commit import cache_at_commit
from kimi_memory.store.git.head import checked_out
from kimi_memory.store.git.history import History
from kimi_memory.store.git.read import read_blobs
from kimi_memory.store.git.tree import compare, differences

_FEW = 40
"""The versions of so many files are asked for by their paths, and of more by their folders."""
_VERSIONS = 50
"""Of each file so many are looked at, the newest first."""


def read_earlier(
    git: Git, commit: str, looks: Stats, wanted: Callable[[str], bool]
) -> dict[str, bytes | None]:
    """Return the wanted files that a commit has otherwise than the disk, as it has them.

    Args:
        git: the repository.
        commit: the earlier one.
        looks: how all wanted files look now.
        wanted: tells by its path whether a file counts.

    Returns:
        The content by path; None for a file that was not there.
    """
    head = checked_out(git)
    cache, _ = cache_at_commit(git, load_cache(git.root / PRIVATE / "git-cache"), head)
    # The files were looked at a moment ago: of those that look as they did when they were
    # committed none is asked for again.
    news = filter(wanted, behind(cache, looks))
    edited = compare(git, cache.entries, lambda content: None, set(news)).differences
    changed = [one for one in differences(git, commit, head) if wanted(one.path)]
    old = {one.path: one.old for one in (*edited, *changed)}
    for one in edited:
        # Somebody may have gone back by hand to what the commit has.
        if _blob(old[one.path]) == _blob(one.new):
            del old[one.path]
    contents = read_blobs(git, {one.blob for one in old.values() if one is not None})
    return {path: contents.get(one.blob) if one else None for path, one in old.items()}


def _blob(entry: Entry | None) -> str:
    return entry.blob if entry is not None else ""


def find_contents(history: History, marks: Mapping[str, str]) -> dict[str, bytes]:
    """Return what files held when it had their mark; those that never did are left out.

    Args:
        history: of the memory.
        marks: SHA-256 of the bytes of each file, by its path.
    """
    if not marks or not history.ready():
        return {}
    blobs: dict[str, dict[str, None]] = {path: {} for path in marks}
    folders = marks if len(marks) <= _FEW else {path.split("/", 1)[0] for path in marks}
    # A question for each file would walk the history each time: minutes where thousands changed.
    for version in history.versions(*folders):
        if version.path in marks:
            blobs[version.path][version.blob] = None
    waiting = {path: iter(list(found)[:_VERSIONS]) for path, found in blobs.items()}
    found: dict[str, bytes] = {}
    while waiting:
        newest = {path: blob for path, rest in waiting.items() if (blob := next(rest, ""))}
        contents = history.blobs(dict.fromkeys(newest.values()))
        for path, blob in newest.items():
            if digest(contents[blob]) == marks[path]:
                found[path] = contents[blob]
        waiting = {path: waiting[path] for path in newest.keys() - found.keys()}
    return found
