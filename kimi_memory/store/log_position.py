"""How far a folder got in its change log, and carrying out what comes next."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Protocol

from kimi_memory.domain.change_log import ChangeLog, LogRecord, Unreachable
from kimi_memory.errors import DivergedError, RefusedRecordError
from kimi_memory.formats.log_record import epoch_of, hash_record, is_purge, parse_record
from kimi_memory.store.deployment import REMEDY, RENEWAL, Deployment, Kept
from kimi_memory.store.partial import narrow_record
from kimi_memory.store.wal.journal import Journal

_SAVED_EVERY = 200
"""So many records are carried out before their number is kept: as many are looked at anew."""
# After a crash, so much of the log is read again: cheaper than a write at each record.
_SAVED_SECONDS = 2.0
_LOOK_SECONDS = 0.25
"""So long what was seen of the log is good enough for a read that asks for no record."""


class Folder(Protocol):
    """What a relay needs of the store it belongs to."""

    journal: Journal

    def turn(self) -> AbstractContextManager[None]:
        """Hold the lock of relays."""

    def replay(self, record: LogRecord, done: frozenset[str]) -> None:
        """Carry out a record here; `done` are the paths that it was journaled for."""

    def settle(self) -> None:
        """Make durable, and note, what was carried out."""


class Position:
    """Reads a log in order, each record once; the caller holds the turn.

    Args:
        open_log: connects to the engine, when it is first asked.
        folder: where records are carried out.
        deployment: how far that folder got.
        kept: where that is kept.
    """

    def __init__(
        self,
        open_log: Callable[[], ChangeLog],
        folder: Folder,
        deployment: Deployment,
        kept: Kept,
    ) -> None:
        self._open_log, self._folder, self._kept = open_log, folder, kept
        self.place = deployment
        self.needs_snapshot = False
        """Whether the log goes on from a snapshot that this folder has to be made anew of."""
        self.seen_end = 0.0
        """When the end of the log was last seen, by the clock of the process; 0 for never."""
        self._opened: ChangeLog | None = None
        self._epoch = 0
        self._saved_at, self._unsaved = time.monotonic(), 0

    @property
    def log(self) -> ChangeLog:
        """The engine, connected when it is first asked."""
        if self._opened is None:
            self._opened = self._open_log()
        return self._opened

    def close(self) -> None:
        """Keep how far the folder got, and let go of the engine."""
        if self._unsaved:
            self.save()
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @property
    def lag_ms(self) -> int:
        """For how long the end of the log was not seen; -1 where it never was."""
        return int((time.monotonic() - self.seen_end) * 1000) if self.seen_end else -1

    @property
    def known_epoch(self) -> int:
        """The epoch of the last record that was carried out here; 0 where nobody looked yet."""
        return self._epoch

    def last_epoch(self) -> int:
        """Return the epoch of the last record that is carried out here; 0 where there is none."""
        if not self._epoch:
            found = self.log.read(self.place.memory, self.place.seq - 1, 1)
            self._epoch = epoch_of(found[0][1]) if found else 0
        return self._epoch

    def advance(self, seq: int, body: bytes, epoch: int) -> None:
        """Record the number and the epoch of the last record that was carried out here."""
        self._epoch = epoch
        self.place = self.place._replace(seq=seq, prev=hash_record(body))
        self.seen_end = time.monotonic()
        self._unsaved += 1

    def catch_up(self) -> int:
        """Carry out all records that there are; return how many.

        Raises:
            DivergedError: the folder is not what the log says.
            Unreachable: the engine does not answer.
        """
        self.check_sound()
        self.needs_snapshot = False
        count = 0
        done: Mapping[str, set[str]] | None = None
        while found := self.log.read(self.place.memory, self.place.seq):
            # What this folder did already before it was interrupted stands in its journal.
            done = self._journaled() if done is None else done
            before, reached = self.place, False
            try:
                count += self._carry_out_all(found, done)
                reached = True
            finally:
                # What is not known to be durable, and noted, is looked at again.
                if not (reached or self.place.broken):
                    self.place = before
        self.seen_end = time.monotonic()
        if count:
            self.note_extent()
        return count

    def note_extent(self) -> None:
        """Record how far the journal goes, where the folder has all that the log has.

        At no other moment: of what another process of this node did meanwhile, the journal would
        count as read, and the log would not. The caller has held the turn since it knew that.
        """
        self.place = self.place._replace(extent=self._folder.journal.extent())

    def _carry_out_all(
        self, found: Sequence[tuple[int, bytes]], done: Mapping[str, set[str]]
    ) -> int:
        count = 0
        try:
            for seq, body in found:
                if not self._is_next(seq, body):
                    break
                self._carry_out(seq, body, done)
                count += 1
                self.save_if_due()
        finally:
            self._folder.settle()
        return count

    def read_at(self, after: int, wait_seconds: float) -> tuple[int, int]:
        """Follow as far as can be; return the last record, and for how many ms no end was seen.

        Where the folder stopped or the log does not answer, it is read as it is. The caller does
        not hold the turn.

        Args:
            after: the record that is wanted.
            wait_seconds: how long it is waited for.
        """
        end = time.monotonic() + wait_seconds
        # A reader then gets what this node has, and learns how far behind that is.
        with suppress(Unreachable, DivergedError):
            if self.place.seq < after or time.monotonic() - self.seen_end >= _LOOK_SECONDS:
                self._follow()
            while self.place.seq < after and (left := end - time.monotonic()) > 0:
                self.log.wait(self.place.memory, self.place.seq, left)
                self._follow()
        return self.place.seq, self.lag_ms

    def _follow(self) -> None:
        with self._folder.turn():
            self.catch_up()
            self.save_if_due()

    def save_if_due(self) -> None:
        """Keep how far the folder got, once in a while."""
        late = time.monotonic() - self._saved_at > _SAVED_SECONDS
        if self._unsaved >= _SAVED_EVERY or (late and self._unsaved):
            self.save()

    def save(self) -> None:
        """Keep how far the folder got."""
        self._folder.settle()
        self._kept.save(self.place)
        self._saved_at, self._unsaved = time.monotonic(), 0

    def check_sound(self) -> None:
        """Refuse to go on where the folder is not what the log says."""
        if self.place.broken:
            raise DivergedError(self.place.node, self.place.broken, REMEDY)

    def mark_broken(self, why: str) -> None:
        """Carry out nothing more here, and ship nothing; with no reason, go on."""
        self.place = self.place._replace(broken=why)
        self.save()

    def _is_next(self, seq: int, body: bytes) -> bool:
        """Whether a record is to be carried out; False where another process got beyond it.

        Raises:
            DivergedError: the records before it were destroyed, or it says that texts go.
        """
        if seq <= self.place.seq + 1 and not is_purge(body):
            return True
        # Another process of this node may have followed the log meanwhile.
        kept = self._kept.load()
        if kept is not None and kept.seq >= seq:
            self.place, self._epoch = kept, 0
            return False
        self.needs_snapshot = True
        why = f"the log goes on from a snapshot at record {seq}"
        raise DivergedError(self.place.node, why, RENEWAL)

    def _carry_out(self, seq: int, body: bytes, done: Mapping[str, set[str]]) -> None:
        place = self.place
        try:
            record = parse_record(body, partial(self.log.get_blob, place.memory))
            if record.seq != seq or record.memory != place.memory:
                raise ValueError("it says another number or memory than it stands under")
            # A record upon another one than ours shows that the two histories parted.
            if seq != place.seq + 1 or record.prev != place.prev:
                raise ValueError(f"it does not follow record {place.seq} of this folder")
            record = narrow_record(record, place.keep)
            self._folder.replay(record, frozenset(done.get(record.txn, ())))
        except (ValueError, KeyError) as error:
            self.mark_broken(f"record {seq}: {error}")
            raise DivergedError(place.node, self.place.broken, REMEDY) from error
        except RefusedRecordError:
            raise  # The folder is sound: it goes on once the log is mended.
        except DivergedError as error:
            self.mark_broken(f"record {seq}: {error.why}")
            raise
        self.advance(seq, body, record.epoch)

    def _journaled(self) -> Mapping[str, set[str]]:
        """Return what was journaled since the number that was kept, by record and path."""
        found: dict[str, set[str]] = {}
        for one in self._folder.journal.records(after=self.place.extent):
            if txn := str(one.get("txn") or ""):
                found.setdefault(txn, set()).add(str(one.get("of") or one.get("path")))
        return found
