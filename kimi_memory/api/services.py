"""What an opened memory is made of; each part is made when it is first asked for."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from kimi_memory.api import stages
from kimi_memory.api.options import Opening, open_store, read_settings, user_host
from kimi_memory.api.user_dirs import Home
from kimi_memory.domain.ids import lettered
from kimi_memory.domain.search_types import ChunkSizes
from kimi_memory.errors import KimiMemoryError
from kimi_memory.nlp.dates.zone import in_zone

if TYPE_CHECKING:
    from kimi_memory.capture.screen import Screen
    from kimi_memory.capture.views import Views
    from kimi_memory.index.index import Index
    from kimi_memory.jobs.runner import Jobs
    from kimi_memory.nlp.dates.zone import Zone
    from kimi_memory.recall.engine import Recall
    from kimi_memory.recall.receipts import Receipts
    from kimi_memory.store.git.autocommit import Batch
    from kimi_memory.store.git.history import History
    from kimi_memory.store.trust.vetting import Vetting

_VIEW_SECONDS = 0.25


class Parts:
    """The parts of one memory folder: files, plugins, history, indexes."""

    def __init__(self, root: Path, opening: Opening) -> None:
        home = opening.home or Home.of_user()
        self.root, self.clock, self.actor = root, opening.clock, opening.actor
        self.home, self._key = home, home.key()
        self.settings = read_settings(root)
        self.host = opening.host or user_host(home)
        self.store = open_store(root, home, self._key, self.clock)
        self.store.vet(self._vetting)
        self._background = opening.background
        self.host.notice("memory_opened", root=root)

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
        return stages.History(
            self.root,
            lock=lambda: self.store.lock("git"),
            clock=self.clock,
            enabled=self.settings.history.git,
        )

    def _vetting(self) -> Vetting:
        edits = self.settings.consolidation.external_edits
        return stages.Vetting(self.store, edits, lambda: self.history)

    @cached_property
    def batch(self) -> Batch:
        """What was written since the last commit."""
        return stages.Batch(
            self.root,
            lambda subject, trailers, looks: self.history.commit(
                subject, trailers=trailers, looks=looks
            ),
            self.settings.history,
            clock=self.clock,
            trailers=lambda: stages.checkpoint(self.store) if self.copy_id else {},
        )

    @cached_property
    def copy_id(self) -> str:
        """Which of all copies of the memory this folder is; empty where nothing can be written."""
        found = stages.copy_id(self.store)
        stages.note_copy(self.home.state, self.settings.memory.id, self.root, found)
        return found

    def other_copies(self) -> list[str]:
        """Return the other folders on this machine that hold this memory."""
        return stages.other_copies(self.home.state, self.settings.memory.id, self.root)

    @cached_property
    def screen(self) -> Screen:
        """What takes secrets and injected blocks out of texts."""
        return stages.Screen(self.host, self._key, self.settings.capture.max_turn_bytes)

    @cached_property
    def _views(self) -> Views:
        return stages.Views(self.store, _VIEW_SECONDS if self._background else 0.0)

    @cached_property
    def jobs(self) -> Jobs:
        """What carries out plans and knows what was done."""
        clock, batch = self.clock, self.batch
        return stages.Jobs(
            self.store,
            self.history,
            self.host,
            self.settings,
            clock=clock,
            batch=batch,
            mask=self.screen.mask_new,
        )

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
            sizes=ChunkSizes(*self.settings.chunks),
        )

    @cached_property
    def _recall(self) -> Recall:
        from kimi_memory.recall.engine import Recall

        return Recall(self.index, self.host, self.settings.recall, self.now)

    @cached_property
    def _receipts(self) -> Receipts:
        from kimi_memory.recall.receipts import PAUSE_SECONDS, Receipts

        pause = PAUSE_SECONDS if self._background else 0.0
        return Receipts(self.store, self.clock, pause)

    def is_secret(self, text: str) -> bool:
        """Whether a text holds what may not be stored."""
        return bool(self.screen.spans(text))

    def mask_secrets(self, text: str) -> str:
        """Return a text without secrets and injected blocks."""
        return self.screen.pass_text(text).text

    def _nonce(self, *about: str) -> str:
        """Return the mark of a block: another for each content, so that none can hold its own.

        The same content in one session has the same block, so that prompt caches keep it.
        """
        told = "\0".join((str(self.root), f"{self.now():%Y-%m-%d}", *about))
        mark = hmac.new(self._key, told.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
        return lettered(mark[:16])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """Commit what is pending (in a long-lived process) and let go of the folder."""
        if "_receipts" in self.__dict__:
            self._receipts.close()
        if "_views" in self.__dict__:
            self._views.close()
        if self._background or "batch" in self.__dict__:
            self.batch.close()
        if self._background and self.batch.pending():
            try:
                self.batch.flush()
            except KimiMemoryError as error:
                import logging  # Most processes have nothing to say there.

                # The batch stays pending.
                logging.getLogger("kimi_memory").warning("history is behind: %s", error)
        if "index" in self.__dict__:
            self.index.close()
        if "history" in self.__dict__:
            self.history.close()
        self.store.close()
