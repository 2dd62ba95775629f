"""Proposals: what a node that does not lead wants to have written, and how the leader takes it.

There are two kinds. Turns were kept while the log did not answer. Edits are what a person did to
files of a folder that follows. Both lie beside the log, with their contents, until the node that
leads has written them through the log and answered; then the node that proposed them lets go. Each
is safe to take twice: a turn has its reference, an edit is there or is not.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.cluster.registry import Registry
from kimi_memory.cluster.snapshots import keep_blob
from kimi_memory.domain.job import digest
from kimi_memory.errors import (
    ChangedOnDiskError,
    DiskError,
    FormatError,
    KimiMemoryError,
    LockTimeoutError,
    NotPrimaryError,
    ReadOnlyError,
    UnknownOutcomeError,
)
from kimi_memory.merge.trees import join
from kimi_memory.store.edits_aside import find_aside
from kimi_memory.store.files.paths import is_own
from kimi_memory.store.notes import sessions
from kimi_memory.store.reading import is_of
from kimi_memory.store.relay import Relay
from kimi_memory.store.wal.records import Entry, is_mark

TURNS, EDIT = "turns", "edit"
_PASSING = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)
_LATE = "it was made before a purge, and may hold what was purged"
_Bodies = Mapping[str, Mapping[str, Any]]
"""Proposals, or answers to them, by key."""


class Proposer:
    """Proposes what lies in one folder that follows.

    Args:
        memory: the folder.
        relay: of it.
        registry: where proposals lie.
    """

    def __init__(self, memory: Memory, relay: Relay, registry: Registry) -> None:
        self._memory, self._relay, self.registry = memory, relay, registry
        place = relay.position.place
        self._of = f"{place.memory}/{place.node}/"
        self.refused: dict[str, str] = {}
        """Why the node that leads did not take something, by path."""

    def propose(self, *, edits: bool) -> None:
        """Propose what is new, and let go of what was answered and is here by now.

        Args:
            edits: look for edits, too, which takes a walk through the folder.
        """
        kept = sessions.find_kept(self._memory.store)
        answers = self.registry.answers(*self._of.split("/")[:2])
        if not (kept or edits or answers):
            return
        waiting = self.registry.proposals(self._of.partition("/")[0])
        for _, path in kept:
            content = self._memory.store.read(path)
            answer = answers.get(self._of + path, {})
            if self._is_open(path, digest(content), answers, waiting):
                self._put_turns(path, digest(content))
            # An answer to an earlier proposal says nothing of what was kept since.
            elif answer.get("after") == digest(content) and self._is_here(answer):
                self._let_go(path, content)
        if edits:
            self._propose_edits(answers, waiting)
        for key, answer in answers.items():
            if self._is_here(answer) and not answer.get("why"):
                self.registry.drop_answer(key)

    def _propose_edits(self, answers: _Bodies, waiting: _Bodies) -> None:
        store = self._memory.store
        for edit in store.reconciler.find():
            if is_own(edit.path) or not self._is_open(edit.path, edit.after, answers, waiting):
                continue
            content = store.read(edit.path) if edit.after else None
            # What is being saved, the next look finds whole.
            if content is None or digest(content) == edit.after:
                self._put_edit(edit.path, edit, content)
        for one in find_aside(self._memory.root):
            name = f"{one.edit.path}#{one.edit.after[:12]}"
            if self._is_open(name, one.edit.after, answers, waiting):
                self._put_edit(name, one.edit, one.content)
            elif self._is_here(answers.get(self._of + name)) and name not in self.refused:
                one.forget()

    def _put_turns(self, path: str, after: str) -> None:
        try:
            shown = sessions.render_kept(sessions.read_kept(self._memory.store, path))
        except FormatError as error:
            self.refused[path] = str(error)  # It keeps no other from being proposed.
            return
        body = {"kind": TURNS, "path": path, "after": after, "content": digest(shown)}
        self._put(path, body, shown)

    def _put_edit(self, name: str, edit: Entry, content: bytes | None) -> None:
        before, base = self._find_base(edit)
        body: dict[str, Any] = {
            "kind": EDIT, "op": edit.op, "path": edit.path, "before": before, "after": edit.after,
            "waits": [edit.origin, edit.why, edit.vetted] if edit.origin else None,
        }  # fmt: skip
        if base is not None:
            body["base"] = keep_blob(self._relay, base)
        self._put(name, body, content)

    def _find_base(self, edit: Entry) -> tuple[str, bytes | None]:
        """Return the mark of what was edited, and what that was where somebody has it."""
        store = self._memory.store
        if self._relay.position.place.keep:  # A part has no history.
            return edit.before or store.seen_mark(edit.path), None
        committed = self._memory.history.content("HEAD", edit.path)
        if not edit.before:  # No record brought it: it came with the copy, or is new.
            return ("" if committed is None else digest(committed)), committed
        if committed is not None and is_of(committed, edit.before):
            return edit.before, committed
        if is_mark(edit.before) or store.vetting is None:
            return edit.before, None
        return edit.before, store.vetting.version(edit.path, edit.before)

    def _is_open(self, path: str, after: str, answers: _Bodies, waiting: _Bodies) -> bool:
        """Whether something is neither proposed yet nor answered."""
        answer = answers.get(self._of + path, {})
        if answer.get("after") == after:
            if answer.get("why"):
                self.refused[path] = str(answer["why"])
            return False
        return waiting.get(self._of + path, {}).get("after") != after

    def _is_here(self, answer: Mapping[str, Any] | None) -> bool:
        return answer is not None and self._relay.position.place.seq >= int(answer["seq"])

    def _put(self, name: str, body: dict[str, Any], content: bytes | None) -> None:
        if content is not None:
            keep_blob(self._relay, content)
        body["at"] = self._relay.position.place.seq
        self.registry.put_proposal(self._of + name, body)

    def _let_go(self, path: str, content: bytes) -> None:
        """Remove what was kept and is in the log; more of it may have come meanwhile."""
        if path in self.refused:
            return
        with suppress(ChangedOnDiskError):
            sessions.let_go(self._memory.store, path, content, self._memory.actor)


def take_proposals(memory: Memory, relay: Relay, registry: Registry) -> list[str]:
    """Write what other nodes proposed; return a line for each.

    Raises:
        NotPrimaryError: this node does not lead any more; what is left is the next one's.
    """
    place, done = relay.position.place, []
    for key, body in registry.proposals(place.memory).items():
        node, path = key.split("/")[1], str(body["path"])
        late = int(body["at"]) < registry.last_purge(place.memory)
        try:
            why = _LATE if late else _take(memory, relay, path, body)
        except KeyError:
            registry.drop_proposal(key)  # Its content was destroyed before it was seen.
            continue
        except (NotPrimaryError, UnknownOutcomeError):
            raise
        except (KimiMemoryError, ValueError) as error:
            why = str(error)
            if _is_passing(error):  # No answer: it is taken at the next look, or by another node.
                done.append(f"{path} of {node}: {why}")
                continue
        seq = relay.position.place.seq
        registry.answer(key, {"after": body["after"], "seq": seq, "why": why})
        done.append(f"{path} of {node}: {why or 'taken'}")
    return done


def _is_passing(error: Exception) -> bool:
    """Whether it says nothing of what was proposed: the disk here is full, or somebody writes."""
    if isinstance(error, DiskError):
        return error.cause.errno in _PASSING
    return isinstance(error, ReadOnlyError | LockTimeoutError | ChangedOnDiskError)


def _take(memory: Memory, relay: Relay, path: str, body: Mapping[str, Any]) -> str:
    get = partial(relay.position.log.get_blob, relay.position.place.memory)
    if body["kind"] == TURNS:
        memory.take_kept(sessions.parse(get(str(body["content"])), path))
        return ""
    content = get(str(body["after"])) if body["after"] else None
    waits = body.get("waits") or ("", "", "")
    edit = Entry(
        body["op"], path, body["before"], body["after"],
        origin=waits[0], why=waits[1], vetted=waits[2],
    )  # fmt: skip
    base = get(str(body["base"])) if body.get("base") else None
    take_edit(memory, edit, Sides(base, content))
    return ""


class Sides(NamedTuple):
    """An edit: what was there before, and what a person made of it."""

    base: bytes | None
    mine: bytes | None


def take_edit(memory: Memory, edit: Entry, sides: Sides) -> None:
    """Write a person's edit of another node, merged with what others wrote since.

    Nothing is overwritten unseen: what cannot be merged is kept in the folder of conflicts.

    Args:
        memory: the one that leads.
        edit: what was done there, to which version.
        sides: both versions.
    """
    store, path, mine = memory.store, edit.path, sides.mine
    with store.holding(path):
        store.note_edits([path])
        now = store.read(path) if store.exists(path) else None
    if now == mine:
        return
    wanted = {path: mine}
    if now is not None and not (edit.before and is_of(now, edit.before)):
        if mine is None:
            return  # Others wrote to it since: that stays.
        wanted = dict(_merge(path, Sides(sides.base, mine), now))
        if wanted.get(path) == now:
            del wanted[path]
    for target, content in wanted.items():
        with store.holding(target):
            here = store.read(target) if store.exists(target) else None
            if target == path and here != now:
                break  # It is taken anew, upon that.
            if here != content:
                _write_edit(memory, edit._replace(path=target), here, content)
    else:
        memory.written()
        return
    take_edit(memory, edit, sides)


def _merge(path: str, sides: Sides, now: bytes) -> Mapping[str, bytes | None]:
    trees = [{} if one is None else {path: one} for one in (sides.base, now, sides.mine)]
    return dict(join(*trees).files)


def _write_edit(memory: Memory, edit: Entry, here: bytes | None, content: bytes | None) -> None:
    before = "" if here is None else memory.store.journal.mark_of(edit.path) or digest(here)
    after = "" if content is None else digest(content)
    op = "deleted" if content is None else ("created" if here is None else "edited")
    memory.store.take_edit(edit._replace(op=op, before=before, after=after), content)
