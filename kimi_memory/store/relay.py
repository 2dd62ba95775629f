"""The relay: every change of a deployed memory is in its log before it is made here.

One change at a time: the lock ``relay`` is held from the plan to the journal, by whichever process
of this node writes. The log decides between nodes, and between the processes of one: a number that
is taken shows a record that this process has not seen. It is carried out if its process died over
it, and the change is planned anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from typing import Protocol, TypeVar

from kimi_memory.domain.change_log import (
    ChangeLog,
    Draft,
    Fenced,
    LoggedCommit,
    LoggedStep,
    LogRecord,
    RecordKind,
    Taken,
    Unreachable,
)
from kimi_memory.domain.ids import new_id
from kimi_memory.domain.job import Actor
from kimi_memory.errors import (
    ChangedOnDiskError,
    DivergedError,
    FencedError,
    NotPrimaryError,
    StoreError,
    UnknownOutcomeError,
)
from kimi_memory.formats.log_record import render_record
from kimi_memory.store import log_position
from kimi_memory.store.deployment import Deployment, Kept, Terms
from kimi_memory.store.log_position import Position
from kimi_memory.store.unshipped import (
    Files,
    edited_step,
    find_unshipped,
    is_shipped,
    logged_steps,
)
from kimi_memory.store.wal.records import Entry, mark
from kimi_memory.store.wal.transaction import Intent

T = TypeVar("T")
# A try is lost only where another node wrote meanwhile.
_TRIES = 8
# Soon enough once the log answers again, and seldom enough to spare it.
_PAUSE_SECONDS = 0.05
_CLUSTER = Actor("cluster")


class Folder(log_position.Folder, Files, Protocol):
    """What a relay needs of the store it belongs to."""

    def note_edits(self, paths: Sequence[str]) -> None:
        """Ship and journal what somebody changed in some files."""


class Relay:
    """Ships the changes of one folder, or follows those of the node that leads."""

    def __init__(
        self,
        open_log: Callable[[], ChangeLog],
        folder: Folder,
        deployment: Deployment,
        *,
        clock: Callable[[], datetime],
        kept: Kept,
        terms: Terms,
    ) -> None:
        self._folder, self._clock, self._terms = folder, clock, terms
        self.position = Position(open_log, folder, deployment, kept)
        self.epoch = 0
        """Number of our leadership; 0 while another node leads, or nobody."""
        self.began: Callable[[], None] = lambda: None
        """Called when a leadership of this node began."""
        self._renewed = 0.0
        self._behind = True
        """Whether the log may have records that are not carried out here."""

    def turn(self) -> AbstractContextManager[None]:
        """Let nobody else of this node ship or carry out anything."""
        return self._folder.turn()

    def close(self) -> None:
        """Keep how far the folder got, and let go of the engine."""
        self.position.close()

    # Shipping

    def apply(self, prepare: Callable[[], Intent], place: Callable[[Intent], T]) -> T:
        """Ship a transaction, then carry it out.

        Args:
            prepare: plans it upon the files as they are; asked again where they changed.
            place: carries it out.
        """

        def draft() -> tuple[Draft | None, Callable[[], T]]:
            intent = prepare()
            if edited := find_unshipped(self._folder, intent.steps):
                self._folder.note_edits(edited)
                intent = prepare()
            steps = logged_steps(self._folder, intent)
            made = Draft("apply", intent.id, intent.actor, steps) if steps else None
            return made, lambda: place(intent)

        return self._ship(draft)

    def append(
        self,
        path: str,
        lines: Sequence[bytes],
        actor: Actor,
        *,
        find_end: Callable[[], tuple[int, bytes]],
        place: Callable[[str], None],
        at: int = -1,
    ) -> None:
        """Ship lines that are added to a file, then add them.

        Args:
            path: the file.
            lines: what is added.
            actor: on whose behalf.
            find_end: returns the size and the last line of the file, mended if need be.
            place: adds them, under the id of the record.
            at: the size that the writer knows the file to have; -1 for any.
        """
        txn = new_id("txn", self._clock())
        added = b"".join(lines)

        def draft() -> tuple[Draft | None, Callable[[], None]]:
            size, line = find_end()
            if at >= 0 and size != at:
                raise ChangedOnDiskError(path)
            before = mark(line, size)
            if not is_shipped(self._folder, path, before):
                self._folder.note_edits([path])
            after = mark(lines[-1], size + len(added))
            step = LoggedStep("append", path, "", before, after, size, content=added)
            return Draft("append", txn, actor, (step,)), lambda: place(txn)

        self._ship(draft)

    def edits(
        self,
        entries: Sequence[Entry],
        actor: Actor,
        place: Callable[[Sequence[Entry], str], None],
    ) -> Sequence[Entry]:
        """Ship what somebody changed in the folder, then journal it; return what that was.

        On a node that does not lead it is nothing: it is found again once that node leads.
        """
        kept: list[Entry] = []

        def draft() -> tuple[Draft | None, Callable[[], None]]:
            found = [(entry, edited_step(self._folder, entry)) for entry in entries]
            kept[:] = [entry for entry, step in found if step is not None]
            steps = tuple(step for _, step in found if step is not None)
            txn = new_id("txn", self._clock())
            made = Draft("edit", txn, actor, steps) if steps else None
            return made, lambda: place(kept, txn)

        try:
            self._ship(draft)
        except NotPrimaryError:
            # Another node took over: it finds the edit by itself, or it is put aside.
            return ()
        return kept

    def confirm(self, seen: Mapping[str, str], actor: Actor, place: Callable[[str], None]) -> None:
        """Ship a person's word that files count as they stand, then journal it."""
        steps = tuple(LoggedStep("confirmed", path, "", one, one) for path, one in seen.items())
        draft = Draft("confirm", new_id("txn", self._clock()), actor, steps)
        self._ship(lambda: (draft, lambda: place(draft.txn)))

    def put(self, kind: RecordKind, about: Mapping[str, str]) -> int:
        """Put a record that changes no file; return its number."""
        draft = Draft(kind, new_id("txn", self._clock()), _CLUSTER, about=about)
        self._ship(lambda: (draft, lambda: None))
        return self.position.place.seq

    def commit(self, commit: LoggedCommit, place: Callable[[], T]) -> T:
        """Ship a commit, then move the branch to it; the caller holds the turn."""
        draft = Draft("commit", new_id("txn", self._clock()), _CLUSTER, commit=commit)
        made = self._ship(lambda: (draft, place))
        self.position.save()
        return made

    def _ship(self, draft: Callable[[], tuple[Draft | None, Callable[[], T]]]) -> T:
        with self._folder.turn():
            for _ in range(_TRIES):
                self.lead()
                made, place = draft()
                before = self.position.place
                if made is None:
                    return place()
                if self._put_next(made):
                    return self._carry_out(place, before)
            raise StoreError("Others kept writing to this memory first. Retry.")

    def _carry_out(self, place: Callable[[], T], before: Deployment) -> T:
        """Do here what the log has; where that fails, it is done before the next change."""
        done = False
        try:
            made = place()
            self.position.note_extent()
            done = True
        finally:
            if not done:
                self.position.place, self._behind = before, True
        return made

    def _put_next(self, draft: Draft) -> bool:
        """Put a record under the next number; False where others came first."""
        memory, seq = self.position.place.memory, self.position.place.seq + 1
        deadline, asked = time.monotonic() + self._terms.wait_seconds, False
        body = b""
        while True:
            try:
                put_blob = partial(self.position.log.put_blob, memory)
                body = body or render_record(self._number(draft, seq), put_blob)
                self.position.log.put(memory, seq, self.epoch, [body])
            except (Taken, Fenced) as answer:
                if not (asked and self._stands(seq, body, draft, deadline)):
                    return self._lose(answer)
            except Unreachable as error:
                asked = True
                self._pause_or_give_up(deadline, draft, error)
                continue
            self.position.advance(seq, body, self.epoch)
            return True

    def _stands(self, seq: int, body: bytes, draft: Draft, deadline: float) -> bool:
        """Whether an earlier attempt, whose answer was lost, was taken."""
        while True:
            try:
                found = self.position.log.read(self.position.place.memory, seq - 1, 1)
                return bool(found) and (found[0][0], bytes(found[0][1])) == (seq, body)
            except Unreachable as error:
                self._pause_or_give_up(deadline, draft, error)

    def _pause_or_give_up(self, deadline: float, draft: Draft, error: Exception) -> None:
        if time.monotonic() + _PAUSE_SECONDS < deadline:
            time.sleep(_PAUSE_SECONDS)
            return
        # It is in the log or not, or gets there later: nothing is planned before that is known.
        self._behind, self.epoch = True, 0
        raise UnknownOutcomeError(self.position.log.name, draft.txn) from error

    def _lose(self, answer: Taken | Fenced) -> bool:
        self._behind = True
        if isinstance(answer, Fenced):
            self.epoch = 0
            holder = self._find_holder()
            # Another process of this node may have begun a leadership of its own.
            if holder != self.position.place.node:
                raise FencedError(self.position.place.memory, holder) from answer
        return False

    def _number(self, draft: Draft, seq: int) -> LogRecord:
        place = self.position.place
        return LogRecord(
            place.memory, seq, self.epoch, place.node, draft.kind, draft.txn,
            self._clock().isoformat(), draft.actor,
            place.prev, draft.steps, draft.commit, draft.about,
        )  # fmt: skip

    # Leading and following

    def lead(self) -> None:
        """Make sure that this node leads and has carried out all there is.

        Raises:
            NotPrimaryError: another node leads, or the engine cannot be asked; nothing was put.
            DivergedError: this folder is not what the log says.
        """
        with self._folder.turn():
            try:
                if not self.epoch or self._behind:
                    self._take_lead()
                elif time.monotonic() - self._renewed >= self._terms.ttl / 3:
                    self.renew()
            except Unreachable as error:
                place = self.position.place
                why = f"{self.position.log.name} does not answer: {error}"
                raise NotPrimaryError(place.memory, why=why, silent=True) from error

    def _take_lead(self) -> None:
        self.position.check_sound()
        place, log = self.position.place, self.position.log
        epoch = self._join_or_begin()
        if not epoch and place.may_lead:
            epoch = log.lease(place.memory, place.node, self._terms.ttl)
        if not epoch:
            raise NotPrimaryError(place.memory, self._find_holder())
        self._renewed = time.monotonic()
        self.epoch, self._behind = 0, True
        self.position.catch_up()
        self.epoch = epoch
        began = self._put_beginning()
        self._behind = False
        if began:
            self.began()

    def _put_beginning(self) -> bool:
        """Put the first record of a leadership: what an earlier one still puts is taken then.

        False where it is there. The process that got the leadership may have died before it.
        """
        for _ in range(_TRIES):
            if self.position.last_epoch() == self.epoch:
                return False
            if self._put_next(Draft("epoch", f"epoch-{self.epoch}", _CLUSTER)):
                return True
            self.position.catch_up()
        raise StoreError("Others kept writing to this memory first. Retry.")

    def _join_or_begin(self) -> int:
        """Return the epoch of this node, where it leads already."""
        place, log = self.position.place, self.position.log
        state = log.state(place.memory)
        mine = state.held and state.holder == place.node
        renewed = mine and log.renew(place.memory, place.node, state.epoch, self._terms.ttl)
        return state.epoch if renewed else 0

    def leads(self) -> bool:
        """Whether this node takes the writes, or can begin to."""
        try:
            self.lead()
        except (NotPrimaryError, DivergedError):
            # A node that has fallen away must not write either.
            return False
        return True

    def renew(self) -> bool:
        """Keep leading; False where this node does not any more."""
        place = self.position.place
        with self._folder.turn():
            if not self.epoch:
                return False
            if self.position.log.renew(place.memory, place.node, self.epoch, self._terms.ttl):
                self._renewed = time.monotonic()
                return True
            self.epoch, self._behind = 0, True
            return False

    def hold(self, seconds: float) -> None:
        """Lead for so long without renewing that; the caller holds the turn.

        Raises:
            NotPrimaryError: another node leads.
        """
        self.lead()
        place = self.position.place
        if not self.position.log.renew(place.memory, place.node, self.epoch, seconds):
            raise NotPrimaryError(place.memory, self._find_holder())
        self._renewed = time.monotonic() + seconds - self._terms.ttl

    def step_down(self) -> None:
        """Stop leading at once, with a record that says so; nobody waits for the end of it."""
        with self._folder.turn():
            self.put("void", {"why": "stepped down"})
            place = self.position.place
            self.position.log.release(place.memory, place.node, self.epoch)
            self.epoch, self._behind = 0, True
            self.position.save()

    def follow(self) -> int:
        """Carry out what others put into the log; return how many records that were.

        Raises:
            DivergedError: this folder is not what the log says.
            Unreachable: the engine does not answer.
        """
        with self._folder.turn():
            count = self.position.catch_up()
            self.position.save_if_due()
            return count

    def _find_holder(self) -> str:
        try:
            state = self.position.log.state(self.position.place.memory)
        except Unreachable:
            return ""  # Only a message would have named it.
        return state.holder if state.held else ""
