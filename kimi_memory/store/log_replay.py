"""Replaying: a record of the change log is carried out in a folder, once, however often it is read.

Whether a step is done already is never guessed. The journal has what was done and noted; for a
step that a crash cut short, the bytes at its offset or the hash of the file tell. So lines that
follow each other are made durable together: what a power cut takes of them is read again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from kimi_memory.domain.change_log import LoggedCommit, LoggedStep, LogRecord
from kimi_memory.domain.ids import new_session_id
from kimi_memory.domain.job import Actor, digest
from kimi_memory.errors import UnsafePathError
from kimi_memory.store.edits_aside import note_aside
from kimi_memory.store.files.disk import put
from kimi_memory.store.files.locks import owner
from kimi_memory.store.files.paths import is_plain
from kimi_memory.store.files.tree import TEMPORARIES, Place, Tree
from kimi_memory.store.wal.commit_files import Step, append_bytes, entry_of
from kimi_memory.store.wal.journal import Journal
from kimi_memory.store.wal.records import Entry, Provenance, is_mark, keep_lost, mark_of
from kimi_memory.store.wal.transaction import Intent, Transactions


class Means(NamedTuple):
    """What a replay asks of the memory."""

    follow_commit: Callable[[LoggedCommit], None]
    """Makes a commit as the record has it."""
    stamp: Callable[[], str]
    """Returns the time for names of what is put aside."""
    judge: Callable[[Entry], Entry]
    """Returns an edit of somebody with what its content counts for."""
    read_logged: Callable[[str], bytes | None]
    """Returns a file as the log has it by now; None where it does not say."""


class Replayer:
    """Carries out records; the caller sees to it that nobody else writes.

    Args:
        tree: the memory.
        transactions: what places files.
        journal: where it is noted.
        means: what else is asked.
    """

    def __init__(
        self, tree: Tree, transactions: Transactions, journal: Journal, means: Means
    ) -> None:
        self._tree, self._disk, self._transactions = tree, tree.disk, transactions
        self._journal, self._means = journal, means
        self._added: list[tuple[Entry, Actor, str]] = []
        """Lines that stand in files, and are neither durable nor noted yet."""

    def replay(self, record: LogRecord, done: frozenset[str]) -> None:
        """Carry out a record.

        Args:
            record: the next one of the log.
            done: the paths that it is journaled for already.

        Raises:
            ValueError: the folder is not what the record was made for; it says why.
        """
        actor = record.actor
        steps = [step for step in record.steps if _noted_path(step, record.kind) not in done]
        if record.kind != "append":
            self.settle()
        match record.kind:
            case "apply" | "append":
                if steps and not self._finish_staged(record.txn):
                    self._carry_out(record, steps, actor)
            case "edit":
                for step in steps:
                    self._take_edit(step, actor, record.txn)
            case "confirm":
                self._confirm(steps, actor, record.txn)
            case "commit" if record.commit is not None:
                self._write_carried(record.commit.carried)
                self._commit(record.commit)
            case _:
                return  # It says who leads, or where a copy may begin.

    def _commit(self, commit: LoggedCommit) -> None:
        try:
            self._means.follow_commit(commit)
        except ValueError:
            found = [path for path, _, blob in commit.files if blob and path not in commit.carried]
            if not any([self._restore(path) for path in found if self._is_edited(path)]):
                raise
            self._means.follow_commit(commit)

    def settle(self) -> None:
        """Make durable what was added to files, then note it: never the other way round.

        Raises:
            OSError: some of it is not known to be durable, or not noted: all of these records
                have to be carried out again.
        """
        added, self._added = self._added, []
        for path in dict.fromkeys(entry.path for entry, _, _ in added):
            with self._tree.place(path) as place:
                fd = self._tree.open_file(place, os.O_RDONLY, path)
                try:
                    self._disk.fdatasync(fd)
                finally:
                    self._disk.close(fd)
        for entry, actor, txn in added:
            self._journal.add([entry], actor, txn=txn, sync=False)

    def _add_lines(self, step: Step, actor: Actor, txn: str, *, due: bool) -> None:
        """Add lines to a file that is there, and leave the rest to `settle`."""
        if due:
            with self._tree.place(step.path) as place:
                fd = self._tree.open_file(place, os.O_RDWR | os.O_APPEND, step.path)
                try:
                    append_bytes(self._disk, fd, step.content or b"", step.offset, sync=False)
                finally:
                    self._disk.close(fd)
        elif self._is_noted_beyond(step):
            return
        self._added.append((entry_of(step), actor, txn))

    def _finish_staged(self, txn: str) -> bool:
        """Finish what a process of this node left in the middle; whether there was any."""
        for name in self._transactions.left_of(txn):
            self._transactions.complete(name, self._transactions.read(name), resumed=True)
            return True
        return False

    def _carry_out(self, record: LogRecord, steps: Sequence[LoggedStep], actor: Actor) -> None:
        waiting = {
            step.to or step.path: Provenance(*step.waits)
            for step in steps
            if step.waits is not None
        }
        fitted = [self._fit(step) for step in steps]
        if record.kind == "append" and not waiting and fitted[0][0].kind == "append":
            self._add_lines(fitted[0][0], actor, record.txn, due=fitted[0][1])
            return
        self.settle()
        due = tuple(step for step, is_due in fitted if is_due)
        placed = [
            entry_of(step)
            for step, is_due in fitted
            if not is_due and not self._is_noted_beyond(step)
        ]
        if due:
            self._transactions.run(Intent(record.txn, due, actor, waiting))
        # Placed by a process that died before it could note it.
        self._journal.add(
            [_with_provenance(entry, waiting) for entry in placed], actor, txn=record.txn
        )

    def _fit(self, logged: LoggedStep) -> tuple[Step, bool]:
        """Return a step as this folder needs it, and whether anything is left to do."""
        try:
            return self._fit_here(logged)
        except ValueError:
            self.settle()
            if not (self._is_edited(logged.path) and self._restore(logged.path)):
                raise
            return self._fit_here(logged)

    def _fit_here(self, logged: LoggedStep) -> tuple[Step, bool]:
        step = Step(
            logged.kind, logged.path, logged.to, logged.before, logged.after,
            logged.offset, logged.mode, logged.content,
        )  # fmt: skip
        if step.kind == "append":
            return self._fit_append(step)
        here = self._read(step.path)
        now = "" if here is None else digest(here)
        if step.kind == "move":
            return self._fit_move(step._replace(content=None), now)
        if now == step.after:
            return step, False
        if here is not None and now != step.before:
            self._keep(step.path, here)
        if step.kind == "delete":
            return step._replace(before=now), True
        return step._replace(kind="update" if here is not None else "create", before=now), True

    def _fit_append(self, step: Step) -> tuple[Step, bool]:
        size, rest = self._read_tail(step.path, step.offset)
        added = step.content or b""
        if 0 <= size == step.offset - 1:
            # An editor had left the last line open, and the writer ended it.
            step, added = step._replace(offset=size), b"\n" + added
            step = step._replace(content=added)
        if max(0, size) < step.offset:
            raise ValueError(f"{step.path} has {max(0, size)} bytes, it adds at {step.offset}")
        if rest.startswith(added):
            return step, False
        if not added.startswith(rest):
            raise ValueError(f"{step.path} has other bytes from {step.offset} on")
        return (step if size >= 0 else step._replace(kind="create")), True

    def _read_tail(self, path: str, offset: int) -> tuple[int, bytes]:
        """Return the size of a file and what it has from an offset on; -1 where there is none."""
        try:
            with self._tree.place(path) as place:
                fd = self._tree.open_file(place, os.O_RDONLY, path)
                try:
                    size = os.fstat(fd).st_size
                    return size, self._disk.read_at(fd, max(0, size - offset), offset)
                finally:
                    self._disk.close(fd)
        except FileNotFoundError:
            # A size that no file has, so that it matches none.
            return -1, b""

    def _fit_move(self, step: Step, now: str) -> tuple[Step, bool]:
        there = self._read(step.to)
        if not now and there is not None and digest(there) == step.after:
            return step, False
        if not now:
            raise ValueError(f"{step.path} is not there, the record moves it to {step.to}")
        if there is not None:
            self._keep(step.to, there)
            with self._tree.place(step.to) as place:
                self._disk.unlink(place.name, place.folder)
        if now != step.before:
            raise ValueError(f"{step.path} was changed here, the record moves it to {step.to}")
        return step, True

    def _take_edit(self, step: LoggedStep, actor: Actor, txn: str) -> None:
        """Give a file the content that a person gave it on another node, and note it as theirs."""
        here = self._read(step.path)
        if step.after != ("" if here is None else digest(here)):
            if here is not None and not self._is_noted(step.path, here):
                self._keep(step.path, here)
            self.write(step.path, step.content)
        if step.to and self._read(step.to) is not None:
            self.write(step.to, None)
        entry = Entry(step.kind, step.path, step.before, step.after, was=step.to)
        waiting = {step.path: Provenance(*step.waits)} if step.waits is not None else {}
        self._journal.add([_with_provenance(entry, waiting)], actor, txn=txn)

    def _is_noted_beyond(self, step: Step) -> bool:
        """Whether lines that were added later are noted already.

        A process that knows less than others of its node replays what they did. Were it to note
        that and die, the lines after it would look like somebody's edit to the others.
        """
        known = self._journal.mark_of(step.path) or ""
        end = step.offset + len(step.content or b"")
        return step.kind == "append" and is_mark(known) and int(known.rpartition("@")[2]) > end

    def _is_edited(self, path: str) -> bool:
        """Whether somebody changed, or removed, a file without a record."""
        here = self._read(path)
        return here is None or not self._is_noted(path, here)

    def _restore(self, path: str) -> bool:
        """Put aside what somebody made of a file, and give it the content that the log has."""
        content, known = self._means.read_logged(path), self._journal.mark_of(path)
        if content is None or known not in (None, digest(content), mark_of(content)):
            return False
        here = self._read(path)
        if here is not None:
            self._keep(path, here)
        self.write(path, content)
        return True

    def _is_noted(self, path: str, content: bytes) -> bool:
        """Whether a content came by a record of ours."""
        known = self._journal.mark_of(path)
        return known is not None and known == (
            mark_of(content) if is_mark(known) else digest(content)
        )

    def _confirm(self, steps: Sequence[LoggedStep], actor: Actor, txn: str) -> None:
        entries = [Entry("confirmed", step.path, step.before, step.after) for step in steps]
        self._journal.add(entries, actor, txn=txn)
        for step in steps:
            if self._read(step.path) is not None:
                with self._tree.place(step.path) as place:
                    # Whatever was derived from them is derived anew, as on the node that wrote it.
                    os.utime(place.name, dir_fd=place.folder, follow_symlinks=False)

    def _write_carried(self, carried: Mapping[str, bytes]) -> None:
        for path, content in carried.items():
            if not is_plain(path):
                # What tells git how to treat the others; its name begins with a dot.
                put(self._tree.root / path, content, sync=True)
            elif self._read(path) != content:
                self.write(path, content)

    def write(self, path: str, content: bytes | None) -> None:
        """Replace or remove a file, durably."""
        with (
            self._tree.folder(TEMPORARIES, make=True) as folder,
            self._tree.place(path, make=True) as place,
        ):
            if content is None:
                self._tree.discard(place)
            else:
                spare = Place(folder, f"{new_session_id(datetime.now(UTC))}.{owner()}.part")
                self._tree.write(spare, content)
                self._disk.rename(spare.name, spare.folder, place.name, place.folder)
            self._disk.fsync(place.folder)

    def _keep(self, path: str, content: bytes) -> None:
        """Put what somebody wrote here, and no record knows, where it can be found."""
        if not self._is_noted(path, content):
            name = keep_lost(self._tree, content, path, self._means.stamp())
            before = self._journal.mark_of(path) or ""
            edit = Entry("edited", path, before, digest(content))
            note_aside(self._tree.root, self._means.judge(edit), name)

    def _read(self, path: str) -> bytes | None:
        try:
            return self._tree.read(path)
        except FileNotFoundError:
            return None
        except UnsafePathError as error:
            raise ValueError(str(error)) from error


def _noted_path(step: LoggedStep, kind: str) -> str:
    """Return the path under which the journal has a step."""
    return step.to if step.kind == "move" and kind == "apply" else step.path


def _with_provenance(entry: Entry, waiting: Mapping[str, Provenance]) -> Entry:
    found = waiting.get(entry.path)
    return entry if found is None else entry._replace(**found._asdict())
