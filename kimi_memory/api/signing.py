"""The keys of a user in one memory: the one that signs here, and those that they know."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from kimi_memory.store.copy import checkpoint
from kimi_memory.store.git.history import History
from kimi_memory.store.git.signed_commits import is_last_signed
from kimi_memory.store.git.signers import Signers
from kimi_memory.store.git.signing_key import SigningKey
from kimi_memory.store.notes.note_index import Survey
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.reading import is_judged
from kimi_memory.store.store import Store


class Signing:
    """Signs in the name of the user of one memory.

    Args:
        key: the file of the key that signs; None where the user chose none.
        config: the directory of the user's settings, where known keys lie.
        store: the files of the memory.
        history: returns its commits.
    """

    def __init__(
        self, key: Path | None, config: Path, store: Store, history: Callable[[], History]
    ) -> None:
        self._key, self._store, self._history = key, store, history
        self.signers = Signers(config)
        """The keys that the user knows."""

    @cached_property
    def key(self) -> SigningKey | None:
        """What signs; None where the user chose no key."""
        key = self._key
        return SigningKey(key, self._list_waiting, self._store.root) if key else None

    def sign_last(self, copy: str) -> None:
        """Sign the last version before it leaves this copy, where it is not signed.

        Args:
            copy: the id of this copy.

        Raises:
            SignatureError: the key cannot be used.
        """
        history, key = self._history(), self.key
        if key is None or is_last_signed(history.repository(), copy):
            return
        trailers = {"Kind": "sign", **checkpoint(self._store)}
        history.commit("Signed", trailers=trailers, signing=key._replace(strict=True))

    def _list_waiting(self) -> list[str]:
        """Return the files that wait for a person's word, and sessions in which turns do."""
        survey = Shelf(self._store).survey
        return [
            path
            for path in filter(is_judged, survey.looks)
            if survey.waits(path) or self._has_unseen_turns(survey, path)
        ]

    def _has_unseen_turns(self, survey: Survey, path: str) -> bool:
        vetting = self._store.vetting
        if vetting is None or not path.endswith(".jsonl"):
            return False
        return survey.fact(path, "unseen", lambda _: bool(vetting.unseen_lines(path)))
