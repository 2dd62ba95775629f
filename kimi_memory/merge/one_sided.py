"""Notes that one side alone changed: they are taken as they are, without being parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kimi_memory.formats.frontmatter import id_of
from kimi_memory.merge.placing import Wanted

_FIRST = re.compile(rb"---\nid: ([0-9A-Za-z][0-9A-Za-z._-]*)\n")
"""How the files of notes begin; to read the rest would take longer than to merge it."""
Pages = Mapping[str, bytes]
"""Files that may be notes, by path."""


class OneSided(NamedTuple):
    """Notes of which one side has what the base has."""

    paths: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()
    wanted: tuple[Wanted, ...] = ()
    """Those that stay."""

    def without(self, pages: Pages) -> Pages:
        """Return the other files."""
        return {path: content for path, content in pages.items() if path not in self.paths}

    def is_apart(self, ids: Iterable[str], others: Iterable[Wanted]) -> bool:
        """Whether nothing else has to do with these notes.

        Args:
            ids: of the notes that others were held against.
            others: the other files of the result.
        """
        return self.ids.isdisjoint(ids) and self.paths.isdisjoint(one.path for one in others)


def find_one_sided(base: Pages, ours: Pages, theirs: Pages) -> OneSided:
    """Return the notes that one side alone changed, made or removed.

    A note that lies at several places, or a place that has several, is none of them.
    """
    found = dict[str, tuple[str, bytes | None]]()
    places = dict[str, set[str]]()
    for path in {*base, *ours, *theirs}:
        versions = base.get(path), ours.get(path), theirs.get(path)
        ids = {find_id(one, path) for one in set(versions) if one is not None}
        for id in ids:
            places.setdefault(id, set()).add(path)
        if len(ids) == 1 and len(set(versions)) < 3:
            old, one, other = versions
            found[path] = ids.pop(), other if one == old else one
    sure = {path: one for path, one in found.items() if one[0] and len(places[one[0]]) == 1}
    wanted = (Wanted(path, new, id) for path, (id, new) in sure.items() if new is not None)
    return OneSided(frozenset(sure), frozenset(id for id, _ in sure.values()), tuple(wanted))


def find_id(content: bytes, path: str) -> str:
    """Return the id of the note in a file; empty where there is none."""
    found = _FIRST.match(content)
    return found[1].decode("ascii") if found else id_of(content, path)
