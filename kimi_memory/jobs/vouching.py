"""Vouching: what of another copy's files somebody signed whose word counts here.

A signed commit vouches for the whole memory as it was, but for what waited there. What commits
without a known signature wrote after it waits, and so does what a merge made of it. A merge that
follows from its parents is made again and not believed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import NamedTuple

from kimi_memory.config import MARKER
from kimi_memory.domain.memory_identity import read_id
from kimi_memory.domain.note import Origin, least_trusted
from kimi_memory.jobs.merging import join_commits
from kimi_memory.jobs.planner import JobContext
from kimi_memory.merge.trees import Tree, join
from kimi_memory.store.files.paths import is_truth
from kimi_memory.store.git.merge_commit import Merger
from kimi_memory.store.git.signed_commits import SignedCommit, SignedCommits
from kimi_memory.store.git.signers import Signers

Caps = dict[str, Origin]
"""Files that wait for a person's word, each with what it is trusted at most."""


class Vouched(NamedTuple):
    """What is known of another copy's files."""

    caps: Caps
    """Those that nobody vouches for."""
    principals: tuple[str, ...]
    """Who vouches for others."""


def find_vouched(
    memory: JobContext, signers: Signers, merger: Merger, theirs: str
) -> Vouched | None:
    """Return what is known of another copy's files; None where nobody known signed any of it.

    Args:
        memory: where it is merged.
        signers: the keys that are known there.
        merger: of the memory.
        theirs: the last commit of the other copy.
    """
    signed = SignedCommits(memory.history.repository(), signers)
    return Vouching(merger, signed, memory.settings.memory.id).find(theirs, merger.ours)


class Vouching:
    """Tells which files of other commits somebody vouches for.

    Args:
        merger: the repository.
        signed: reads the signatures of its commits.
        memory: the id of the memory; a signature in another one vouches for nothing here.
    """

    def __init__(self, merger: Merger, signed: SignedCommits, memory: str) -> None:
        self._merger, self._signed, self._memory = merger, signed, memory
        self._levels: dict[str, Origin] = {}
        self._principals: dict[str, None] = {}

    def find(self, commit: str, known: str) -> Vouched | None:
        """Return what is known of the files of a commit; None where nobody known signed any of it.

        Args:
            commit: it and its history.
            known: a commit of this copy; its history was judged when it came.
        """
        rows = self._signed.read_new(commit, known)
        needed = self._choose_rows(rows, commit)
        if not self._principals:
            return None
        walked = [row for row in needed if not self._vouches_for_all(row)]
        touched = self._signed.read_touched(row.id for row in walked)
        found: dict[str, Caps] = {}
        # Parents first: what waits in a commit follows from what waited in theirs.
        for row in reversed(needed):
            if self._vouches_for_all(row):
                found[row.id] = dict.fromkeys(row.waiting or (), Origin.REMOTE)
                continue
            parents = [found.get(parent, {}) for parent in row.parents]
            changed = [(one.path, bool(one.blob)) for one in touched.get(row.id, ())]
            found[row.id] = self._carry_on(row, parents, changed)
        return Vouched(found.get(commit, {}), tuple(self._principals))

    def _choose_rows(self, rows: Sequence[SignedCommit], commit: str) -> list[SignedCommit]:
        """Return the commits from the last ones on that vouch for all; the others need no look."""
        needed, found = {commit}, []
        for row in rows:
            if row.id not in needed:
                continue
            found.append(row)
            self._levels[row.id] = self._judge(row)
            if not self._vouches_for_all(row):
                needed.update(row.parents)
        return found

    def _judge(self, row: SignedCommit) -> Origin:
        told = self._signed.judge(row)
        if told.level is Origin.REMOTE:
            return told.level
        # With the same key its owner may have signed commits of other memories, and of code.
        if read_id(self._signed.read_file(row.id, MARKER)) != self._memory:
            return Origin.REMOTE
        self._principals[told.principal] = None
        return told.level

    def _vouches_for_all(self, row: SignedCommit) -> bool:
        return self._levels[row.id] is Origin.HUMAN and row.waiting is not None

    def _carry_on(
        self, row: SignedCommit, parents: Sequence[Caps], changed: Sequence[tuple[str, bool]]
    ) -> Caps:
        """Return what waits after a commit, by what waited before it."""
        level = self._levels[row.id]
        if len(row.parents) < 2:
            caps = dict(parents[0]) if parents else {}
            own = dict.fromkeys(row.waiting or (), Origin.REMOTE)
            return {**_apply_changes(caps, changed, level), **own}
        if level is Origin.HUMAN:
            # A person merged it, and signed what they made of it.
            return _apply_changes(self._find_taken_over(row, parents), changed, level)
        made = self._make_again(row, parents) if row.by_values else None
        if made is not None:
            return made
        # Somebody chose among the parents; what is not in both of them waits.
        *before, now = (self._signed.read_tree(one) for one in (*row.parents, row.id))
        chosen = {path for path in now if any(one.get(path) != now[path] for one in before)}
        return {**_unite(parents), **dict.fromkeys(chosen, level)}

    def _find_taken_over(self, row: SignedCommit, parents: Sequence[Caps]) -> Caps:
        """Return what waits of a merge because it is as in a parent in which it waits."""
        now, caps, sure = self._signed.read_tree(row.id), Caps(), set[str]()
        for parent, waiting in zip(row.parents, parents, strict=True):
            before = self._signed.read_tree(parent)
            same = {path for path in _unite(parents) if now.get(path) == before.get(path)}
            sure |= same - waiting.keys()
            caps = _unite([caps, {path: waiting[path] for path in same & waiting.keys()}])
        return {path: cap for path, cap in caps.items() if path not in sure}

    def _make_again(self, row: SignedCommit, parents: Sequence[Caps]) -> Caps | None:
        """Return what waits of a merge that follows from its parents; None where it does not."""
        trees = _read_merge(self._merger, row)
        if trees is None:
            return None
        if not any(parents):
            return {}
        base, one, two, found = trees
        caps = self._find_taken_over(row, parents)
        return {**caps, **weigh(base, (one, two), parents, found)}


def follows_from_parents(merger: Merger, row: SignedCommit) -> bool:
    """Whether a merge is what the rules make of its two parents."""
    return _read_merge(merger, row) is not None


def _read_merge(merger: Merger, row: SignedCommit) -> list[Tree] | None:
    """Return base, parents and files of a merge; None where it does not follow from them."""
    first, second = row.parents
    bases = merger.bases(second, first)
    if not bases:
        return None
    trees, merged = join_commits(merger, bases, [first, second, row.id])
    return trees if _list_truths(merged.files) == _list_truths(trees[3]) else None


def weigh(base: Tree, sides: tuple[Tree, Tree], waiting: Sequence[Caps], merged: Tree) -> Caps:
    """Return which files of a merge rest on what waits in one of its sides.

    Args:
        base: what both sides began with.
        sides: the two that were merged.
        waiting: what waits in each.
        merged: what came of it.
    """
    found = Caps()
    # Once without what is trusted least, and once without anything that waits.
    for cap in (Origin.AGENT, Origin.REMOTE):
        gone = [{path for path, one in caps.items() if one.rank >= cap.rank} for caps in waiting]
        if any(gone):
            clean = join(base, *map(_take_back, (base, base), sides, gone)).files
            rests = {path for path, content in merged.items() if clean.get(path) != content}
            found |= dict.fromkeys(rests, cap)
    return found


def _take_back(base: Tree, side: Tree, paths: Collection[str]) -> Tree:
    """Return a side with some of its files as they were in the beginning."""
    kept = {path: content for path, content in side.items() if path not in paths}
    return {**kept, **{path: base[path] for path in paths if path in base}}


def _apply_changes(caps: Caps, changed: Sequence[tuple[str, bool]], level: Origin) -> Caps:
    for path, stays in changed:
        if not stays or level is Origin.HUMAN:
            caps.pop(path, None)
        else:
            caps[path] = level
    return caps


def _unite(parents: Sequence[Caps]) -> Caps:
    found = Caps()
    for path, cap in chain.from_iterable(caps.items() for caps in parents):
        found[path] = least_trusted([cap, found.get(path, cap)])
    return found


def _list_truths(tree: Tree) -> dict[str, bytes]:
    return {path: content for path, content in tree.items() if is_truth(path)}
