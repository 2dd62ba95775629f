"""Versions that passed: another copy made them, and replaced them again before they came here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from kimi_memory.config import MARKER
from kimi_memory.domain.memory_identity import read_id
from kimi_memory.domain.note import Origin
from kimi_memory.errors import HistoryError
from kimi_memory.store.git.arrivals import list_passed
from kimi_memory.store.git.head import blob_of, brought_nothing, read_state
from kimi_memory.store.git.signed_commits import SignedCommits

if TYPE_CHECKING:
    from kimi_memory.store.git.history import History
    from kimi_memory.store.git.signers import Signers
    from kimi_memory.store.store import Store


class Passed:
    """Knows the versions in commits that came, which nobody saw here.

    Args:
        store: the memory.
        history: returns its commits.
        signers: the keys that the user knows; None for none.
    """

    def __init__(
        self, store: Store, history: Callable[[], History], signers: Signers | None
    ) -> None:
        self._store, self._history, self._signers = store, history, signers
        self._commits: tuple[object, Mapping[str, frozenset[str]]] = None, {}
        self._vouched: dict[str, frozenset[str] | None] = {}

    def has(self, path: str, content: bytes) -> bool:
        """Whether commits that came made this version, and nobody known vouches for it."""
        made = self.list_commits().get(blob_of(content), frozenset())
        return bool(made) and not any(self._is_vouched(commit, path) for commit in made)

    def list_commits(self) -> Mapping[str, frozenset[str]]:
        """Return the commits that came, by the blobs that they made."""
        folder, since = self._store.root / ".git", self._store.journal.born() / 1e9
        if brought_nothing(folder, since):
            return {}
        # As long as HEAD stands still, the answer is the same.
        state = (since, read_state(folder))
        if self._commits[0] != state:
            try:
                self._commits = state, list_passed(self._history().repository(), folder, since)
            except HistoryError:
                # While git does not answer nothing passes, which is the safe side.
                return {}
        return self._commits[1]

    def _is_vouched(self, commit: str, path: str) -> bool:
        """Whether somebody whose word counts here signed a commit in which a file did not wait."""
        if self._signers is None or not self._signers.known():
            return False
        if commit not in self._vouched:
            self._vouched[commit] = self._read_waiting(
                SignedCommits(self._history().repository(), self._signers), commit
            )
        waited = self._vouched[commit]
        return waited is not None and path not in waited

    def _read_waiting(self, signed: SignedCommits, commit: str) -> frozenset[str] | None:
        """Return the files that waited in a commit; None where no known person signed it."""
        row = signed.read(commit)
        ours = read_id(self._store.read(MARKER))
        # With the same key its owner may have signed commits of other memories.
        same = row.waiting is not None and read_id(signed.read_file(commit, MARKER)) == ours
        return row.waiting if same and signed.judge(row).level is Origin.HUMAN else None
