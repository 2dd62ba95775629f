"""The part of a store that a relay uses: its turn, what somebody edited, and what others wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from kimi_memory.domain.job import Actor
from kimi_memory.store.files.locks import Locks
from kimi_memory.store.files.paths import is_own
from kimi_memory.store.reading import Reading
from kimi_memory.store.wal.records import EXTERNAL, Entry

if TYPE_CHECKING:
    from kimi_memory.domain.change_log import LogRecord
    from kimi_memory.store.files.tree import Tree
    from kimi_memory.store.log_replay import Replayer
    from kimi_memory.store.relay import Relay
    from kimi_memory.store.wal.journal import Journal
    from kimi_memory.store.wal.transaction import Transactions


OUTSIDER = Actor(EXTERNAL)
"""Who changes files without asking the store."""


class Shipping(Reading):
    """A store whose changes may be put into a log before they are made.

    Nothing of a relay is imported before one is attached.
    """

    relay: Relay | None = None
    """What puts changes into the log; None for a memory of this machine alone."""
    _is_apart = False
    _locks: Locks
    _transactions: Transactions
    _replayer: Replayer

    def attach(
        self, relay: Relay, replayer: Callable[[Tree, Transactions, Journal], Replayer]
    ) -> None:
        """Ship from now on every change that is made here.

        Args:
            relay: puts it into the log.
            replayer: makes what carries out records, given what it needs of the store.
        """
        self.relay = relay
        self._replayer = replayer(self._tree, self._transactions, self.journal)

    def _find_relay(self, paths: Sequence[str]) -> Relay | None:
        """Return what ships a change of some files; None where they are this copy's own."""
        return None if all(map(is_own, paths)) else self.relay

    def turn(self) -> AbstractContextManager[None]:
        """Let no other process of this machine ship a change, or carry one out."""
        return self._locks.hold("relay", op="relay", place=str(self.root))

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Ship nothing of what this process changes inside; others of this node still do.

        The caller holds everything that they need for it, and has all copies made anew after it.
        """
        relay, self.relay, self._is_apart = self.relay, None, True
        try:
            yield
        finally:
            self.relay, self._is_apart = relay, False

    def replay(self, record: LogRecord, done: frozenset[str]) -> None:
        """Carry out a record of the log; `done` are the paths it was journaled for."""
        self._replayer.replay(record, done)

    def take_edit(self, edit: Entry, content: bytes | None) -> None:
        """Do, and ship, what a person did to a file on another node; the caller holds the file.

        Args:
            edit: what it was there, and what its content counts for.
            content: None where the file is to go.

        Raises:
            NotPrimaryError: this node does not lead; nothing was done.
        """
        if self.relay is not None:
            self.relay.lead()
        # As an editor saves it here: should this process die, it is found and shipped like that.
        self._replayer.write(edit.path, content)
        self._note_outside([edit], OUTSIDER)

    def settle(self) -> None:
        """Make durable, and note, what was carried out."""
        self._replayer.settle()

    def _note_outside(self, entries: Sequence[Entry], actor: Actor) -> None:
        """Journal what was changed from outside; a relay ships it before."""
        if self.relay is None:
            self.journal.add(entries, actor)
        elif entries:
            self.relay.edits(
                entries, actor, lambda kept, txn: self.journal.add(kept, actor, txn=txn)
            )
