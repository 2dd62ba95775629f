"""What copies held apart: at a moment at which they had not met, all of it was known somewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kimi_memory.domain.job import Update
from kimi_memory.errors import HistoryError
from kimi_memory.formats.page_lines import is_generated
from kimi_memory.store.files.paths import is_truth

if TYPE_CHECKING:
    from kimi_memory.merge.trees import Tree
    from kimi_memory.past.points import Point
    from kimi_memory.store.git.history import History
    from kimi_memory.store.store import Store


class Unmet(NamedTuple):
    """What other copies held besides the one of a point."""

    files: Mapping[str, bytes | None] = {}
    """By path, merged with those of the point; None for what one of them had deleted."""
    places: Mapping[str, str] = {}
    """The commit that has each of them so; none for those that the merge made."""
    commits: tuple[str, ...] = ()
    """The newest commits of the others."""

    @property
    def made(self) -> set[str]:
        """The paths of those that no copy had."""
        return {path for path, one in self.files.items() if one is not None} - self.places.keys()


def merge_unmet(history: History, point: Point) -> Unmet:
    """Return the files of a point as they would have been had the copies met then."""
    if not point.unmet:
        return Unmet()
    from kimi_memory.merge.trees import join  # nearly every question is of one line

    try:
        merger = history.merger(begun=True)
    except HistoryError:
        return Unmet()  # A shallow clone lacks what the copies began with.
    # In the order of their names: every copy gives the same answer.
    commits = sorted((point.commit, *point.unmet))
    base = merger.find_common(commits)
    trees: list[Tree] = list(merger.read([*base, *commits], whole=not base).trees)
    first = trees.pop(0) if base else {}
    ours, merged = trees[commits.index(point.commit)], trees[0]
    for other in trees[1:]:
        merged = join(first, merged, other).files
    found = {
        path: merged.get(path)
        for path in sorted({*ours, *merged})
        if ours.get(path) != merged.get(path) and is_truth(path)
    }
    # A page is made anew of the cards after a merge; until then that of the point does.
    kept = {path for path, one in found.items() if one is None and _is_page(ours[path])}
    files = {path: one for path, one in found.items() if path not in kept}
    sides = list(zip(commits, trees, strict=True))
    places = {
        path: commit
        for path, one in files.items()
        for commit, tree in sides
        if one is not None and tree.get(path) == one
    }
    return Unmet(files, places, point.unmet)


def find_waiting(store: Store, unmet: Unmet) -> set[str]:
    """Return the files which the merge made that would wait for a person's word."""
    contents = {path: unmet.files[path] or b"" for path in unmet.made}
    if store.vetting is None:
        return set()
    return set(store.vetting.merged(Update(path, "", one) for path, one in contents.items()))


def known_apart(store: Store, unmet: Unmet) -> dict[str, bytes | None]:
    """Return what other copies held, but for what a merge made and nobody confirmed.

    Args:
        store: of the memory.
        unmet: what they held.
    """
    waiting = find_waiting(store, unmet)
    return {path: content for path, content in unmet.files.items() if path not in waiting}


def _is_page(content: bytes) -> bool:
    return is_generated(content.decode("utf-8", "replace"))
