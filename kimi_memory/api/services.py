"""What an opened memory is made of; each part is made when it is first asked for."""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kimi_memory.api.options import (
    Home,
    Opening,
    find_confirmed,
    open_store,
    read_settings,
    user_host,
)
from kimi_memory.config import MARKER, Settings, parse_settings
from kimi_memory.domain.ids import lettered
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.merge.line_merges import has_marks
from kimi_memory.nlp.dates.zone import Zone, in_zone
from kimi_memory.store.copy import checkpoint, copy_id, note_copy, other_copies, read_copies
from kimi_memory.store.files.paths import DEPLOYED
from kimi_memory.store.git.autocommit import BATCH, Batch
from kimi_memory.store.git.head import list_unexamined

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from kimi_memory.api.signing import Signing
    from kimi_memory.capture.screen import Screen
    from kimi_memory.index.index import Index
    from kimi_memory.past.points import Points
    from kimi_memory.past.reader import PastReader
    from kimi_memory.recall.engine import Recall
    from kimi_memory.recall.receipts import Receipts
    from kimi_memory.store.git.history import History
    from kimi_memory.store.git.signing_key import SigningKey
    from kimi_memory.store.shipped_commits import CommitShipping
    from kimi_memory.store.trust.vetting import Vetting


class Parts:
    """The parts of one memory folder: files, plugins, history, indexes."""

    notes: Sequence[str] = ()
    """What creating it has to tell, and gates that held an auto-captured card; one line each."""
    shipping: CommitShipping | None = None
    """What ships commits of a deployed memory."""
    settings_wait: str = ""
    """Why ``memory.toml`` waits for a person's word; the settings before it count till then."""

    def __init__(self, root: Path, opening: Opening) -> None:
        home = opening.home or Home.of_user()
        self.root, self.clock, self.actor = root, opening.clock, opening.actor
        self.home, self._key = home, home.key()
        self.settings = read_settings(root)
        self.host = opening.host or user_host(home)
        self.store = open_store(root, home, self._key, self.clock)
        if (root / DEPLOYED).exists():
            # What ships changes to other nodes is not loaded for a memory of this machine alone.
            import_module("kimi_memory.api.relaying").attach_relay(self)
        self.store.vet(self._make_vetting)
        self._hold_back_settings()
        if self.settings.memory.moved:
            self.store.set_moved(self.settings.memory.moved)
        self.background = opening.background
        self.host.notice("memory_opened", root=root)

    def _hold_back_settings(self) -> None:
        """Go on with the settings that counted before, where those of the file wait."""
        if has_marks(MARKER, (self.root / MARKER).read_bytes()):
            return  # Of these, only our side was read.
        # Judged as if nothing were set: who may write the file could switch its judging off.
        found, self.settings = self.settings, Settings(memory=self.settings.memory)
        content, self.settings_wait = find_confirmed(self.store)
        if not self.settings_wait:
            self.settings = found
        elif content:
            self.settings = parse_settings(content.decode(), str(self.root / MARKER))
        self.__dict__.pop("history", None)
        self.store.vet(self._make_vetting)

    @property
    def zone(self) -> Zone:
        """The time zone of days and shown times."""
        return self.settings.zone

    def now(self) -> datetime:
        """Return the present moment on the clocks of that zone."""
        return in_zone(self.clock(), self.zone)

    @cached_property
    def history(self) -> History:
        """The commits of the folder."""
        from kimi_memory.store.git.history import History

        return History(
            self.root,
            lock=lambda: self.store.lock("git"),
            clock=self.clock,
            enabled=self.settings.history.git,
            signing=self._signing_key,
            shipping=self.shipping,
        )

    @cached_property
    def signing(self) -> Signing:
        """The keys of the user: the one that signs here, and those that they know."""
        from kimi_memory.api.signing import Signing

        return Signing(self.home, self.store, lambda: self.history)

    def _signing_key(self) -> SigningKey | None:
        """Return what signs each commit; None where the user chose no key, or another moment."""
        table = self.home.settings().signing
        return self.signing.key if table.key and table.when == "commit" else None

    def sign_last(self) -> None:
        """Sign the last version before it leaves this copy, where the user wants that.

        Raises:
            SignatureError: the key cannot be used.
        """
        table = self.home.settings().signing
        if table.key and table.when == "sync" and not self.store.read_only:
            self.signing.sign_last(self.copy_id)

    @property
    def points(self) -> Points:
        """What finds points in the history: dates, commits, versions, names, jobs."""
        return self.past.points

    @cached_property
    def past(self) -> PastReader:
        """What reads notes as they were, and tells which commit changed them."""
        from kimi_memory.past.reader import make_reader

        folders = partial(read_copies, self.home.state, self.settings.memory.id)
        return make_reader(self.store, self.history, folders, self.now, self._key)

    def _make_vetting(self) -> Vetting:
        from kimi_memory.store.trust.vetting import Vetting

        edits = self.settings.consolidation.external_edits
        return Vetting(self.store, edits, lambda: self.history, self.signing.signers)

    @cached_property
    def batch(self) -> Batch:
        """What was written since the last commit."""
        return Batch(
            self.root,
            lambda subject, trailers, looks: self.history.commit(
                subject, trailers=trailers, looks=looks
            ),
            self.settings.history,
            clock=self.clock,
            trailers=lambda: checkpoint(self.store) if self.copy_id else {},
            lock=self._lock_batches,
        )

    def _lock_batches(self) -> AbstractContextManager[None]:
        # Commits of a log use git in their turn: who waits for the turn must not hold git.
        return self.store.lock("git" if self.store.relay is None else BATCH)

    @cached_property
    def copy_id(self) -> str:
        """Which of all copies of the memory this folder is; empty where nothing can be written."""
        found = copy_id(self.store)
        note_copy(self.home.state, self.settings.memory.id, self.root, found)
        return found

    def other_copies(self) -> list[str]:
        """Return the other folders on this machine that hold this memory."""
        return other_copies(self.home.state, self.settings.memory.id, self.root)

    @cached_property
    def screen(self) -> Screen:
        """What takes secrets and injected blocks out of texts."""
        from kimi_memory.capture.screen import Screen

        return Screen(self.host, self._key, self.settings.capture.max_turn_bytes)

    @cached_property
    def index(self) -> Index:
        """The indexes, opened when first asked for."""
        from kimi_memory.index.index import Index

        return Index(
            self.store,
            self.host,
            key=self._key,
            clock=self.clock,
            zone=self.zone,
            sizes=self.settings.chunks,
        )

    @cached_property
    def engine(self) -> Recall:
        """What answers questions; asked by itself, it leaves no receipts."""
        from kimi_memory.recall.engine import Recall

        return Recall(self.index, self.host, self.settings.bounded_recall, self.now)

    @cached_property
    def _recall_receipts(self) -> Receipts:
        from kimi_memory.recall.receipts import PAUSE_SECONDS, Receipts

        pause = PAUSE_SECONDS if self.background else 0.0
        return Receipts(self.store, self.clock, pause, self.settings.recall.prompt_days)

    def has_merges(self) -> bool:
        """Whether something was pulled or merged here that nobody examined yet."""
        folder, store = self.root / ".git", self.store
        if not self.settings.history.git or store.read_only or not folder.exists():
            return False
        # A worktree keeps its log elsewhere: the repair asks git where.
        return not folder.is_dir() or bool(
            list_unexamined(self.root, folder, store.journal.born() / 1e9)
        )

    def written(self) -> None:
        """Note that files were written, so that a commit of them follows."""
        self.batch.note()
        if self.background:
            self.batch.start()

    def refuse_if_deployed(self, what: str, remedy: str) -> None:
        """Refuse what would change this copy of a deployed memory behind its log.

        Raises:
            UsageError: the memory is deployed.
        """
        if self.store.relay is not None:
            why = f"This memory is shared over a change log, which {what} does not reach"
            raise UsageError(f"{why}. {remedy}.")

    def check_leads(self) -> None:
        """Refuse to go on in a deployed memory where another node takes the writes.

        Raises:
            NotPrimaryError: another does, or the log does not answer.
        """
        if self.store.relay is not None:
            self.store.relay.lead()

    def is_secret(self, text: str) -> bool:
        """Whether a text holds what may not be stored."""
        return bool(self.screen.spans(text))

    def mask_secrets(self, text: str) -> str:
        """Return a text without secrets and injected blocks."""
        return self.screen.pass_text(text).text

    def _derive_nonce(self, *about: str) -> str:
        """Return the mark of a block: another for each content, so that none can hold its own.

        The same content in one session has the same block, so that prompt caches keep it.
        """
        # By day: a mark that leaked into a page is worth nothing tomorrow.
        told = "\0".join((str(self.root), f"{self.now():%Y-%m-%d}", *about))
        mark = hmac.new(self._key, told.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
        return lettered(mark[:16])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """Commit what is pending (in a long-lived process) and let go of the folder."""
        if "_recall_receipts" in self.__dict__:
            self._recall_receipts.close()
        # A short process leaves its batch to the next one: a commit takes longer than its work.
        if self.background or "batch" in self.__dict__:
            self.batch.close()
        if self.background and self.batch.pending():
            try:
                self.batch.flush()
            except KimiMemoryError as error:
                # The batch stays pending.
                logging.getLogger("kimi_memory").warning("history is behind: %s", error)
        if self.store.relay is not None:
            self.store.relay.close()
        # The store last: the others still need its folder.
        if "index" in self.__dict__:
            self.index.close()
        if "history" in self.__dict__:
            self.history.close()
        self.store.close()
