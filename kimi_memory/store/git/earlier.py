"""The files of an earlier commit that are otherwise than those on disk."""

from __future__ import annotations

from collections.abc import Callable

from kimi_memory.store.files.disk import Stats
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.git.cache import Entry, behind, load_cache
from kimi_memory.store.git.command import Git
from kimi_memory.store.git.commit import cache_at_commit
from kimi_memory.store.git.head import checked_out
from kimi_memory.store.git.read import read_blobs
from kimi_memory.store.git.tree import compare, differences


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
