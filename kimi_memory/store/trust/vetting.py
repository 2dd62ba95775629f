"""Vetting: which files of a memory count as a person's word, and which wait for it.

What the store wrote counts. What came from outside is judged once, by the moment it was
written and the way it came; the journal keeps the judgement, and so the answer follows
from the files and the journal alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from os import stat_result
from time import time_ns
from typing import TYPE_CHECKING, Literal

from kimi_memory.domain.change import Change, Create, Update, digest
from kimi_memory.domain.note import Card, Origin, Status, least_trusted
from kimi_memory.errors import FormatError, HistoryError
from kimi_memory.formats.frontmatter import decode, id_of
from kimi_memory.merge.marks import has_marks
from kimi_memory.store.git.head_log import blob_of, brought_nothing
from kimi_memory.store.reading import (
    SETTINGS,
    WAITS,
    WHY,
    Served,
    Standing,
    Waiting,
    is_judged,
    recorded_standing,
)
from kimi_memory.store.trust.agents_at_work import AgentsAtWork
from kimi_memory.store.trust.versions import NONE, Versions
from kimi_memory.store.wal.append_log import is_mark
from kimi_memory.store.wal.records import EXTERNAL, Entry, Provenance, Record, record_of

if TYPE_CHECKING:
    from kimi_memory.store.git.history import History
    from kimi_memory.store.store import Store

Rule = Literal["auto", "trust", "review"]
_APART_NS = 3_000_000_000
"""Who writes a file sets both of its times; so far apart, it was brought."""
_YOUNG_NS = 10_000_000_000
"""So shortly after it was written, a file may be one of ours that is not journaled yet."""
MERGED = "a merge brought it"
_LIVE = frozenset({Status.ACTIVE, Status.STALE, Status.CONFLICTED})


class Vetting:
    """Judges the files of one store.

    Args:
        store: the files and the journal.
        rule: the setting ``consolidation.external_edits``.
        history: returns the history, which tells what came by a pull.
    """

    def __init__(self, store: Store, rule: Rule, history: Callable[[], History]) -> None:
        self._store, self._rule, self._history = store, rule, history
        self._versions = Versions(store, history)
        self._work = AgentsAtWork(store)
        self._made: tuple[object, set[str], set[str]] = None, set(), set()

    def served(self, path: str) -> Served:
        """Return a file as agents and jobs get it.

        That is the last version that counts, where this one waits or a merge left its marks
        in it. A card without one is a candidate.

        Raises:
            NotFoundError: there is none.
        """
        content = self._store.read(path)
        if not is_judged(path):
            return Served(content)
        if has_marks(path, content):
            sound = self._versions.without_marks(path)
            return Served(sound, None, WHY)
        found = self.standing(path, content)
        if found.cap is None:
            return Served(content, passing=found.passing)
        old = self._versions.of_mark(path, found.vetted) if path.endswith(".md") else None
        if old is not None:
            return Served(old, None, found.why, found.passing)
        candidate = _make_candidate(path, content, found.cap)
        shown = candidate or content
        return Served(shown, found.cap, found.why, found.passing, bool(candidate))

    def standing(self, path: str, content: bytes) -> Standing:
        """Return what the content of a file counts for."""
        if not is_judged(path):
            return Standing()
        last = self._store.journal.last(path)
        known = recorded_standing(last, content)
        if known is not None:
            return known
        try:
            look = (self._store.root / path).stat()
        except OSError:
            return Standing()
        # What a person had before the memory was made is theirs.
        if last is None and self._is_adopted(path, content, look):
            return Standing()
        cap, why = self.judge(path, content, look)
        # Ours is in its place before the journal says so: a moment later the answer is another
        # one.
        young = time_ns() - look.st_ctime_ns < _YOUNG_NS
        vetted = self.vetted_before(last, path) if cap else ""
        return Standing(cap, why, vetted, passing=young and cap is not None)

    def judge(self, path: str, content: bytes, look: stat_result) -> tuple[Origin | None, str]:
        """Return how much a content from outside is trusted at most, and why; None for a person's.

        Args:
            path: the file.
            content: what was written there.
            look: of the file.
        """
        if not is_judged(path) or self._trusts_all(path):
            return None, ""
        brought = self._describe_arrival(path, content, look)
        if brought:
            return (
                # A branch that comes back brings what already counted here.
                (None, "") if self._is_known_content(digest(content)) else (Origin.REMOTE, brought)
            )
        if path.endswith(".jsonl"):
            return None, ""  # A turn that nobody's journal accounts for is for `verify` to name.
        # Both: an agent's shell can set the time of modification back, not that of the change.
        for at in (look.st_ctime, look.st_mtime):
            session = self._work.at(datetime.fromtimestamp(at, UTC))
            if session:
                return Origin.AGENT, f"written while session {session} was open"
        if self._rule == "review":
            return Origin.AGENT, "external_edits is set to review"
        return None, ""

    def came(self, path: str) -> bool:
        """Whether a session was begun elsewhere and grew here, without a person's word on it."""
        # The cheap tests first: nearly every file was begun here.
        last = self._store.journal.last(path)
        waits = last is not None and last.origin in WAITS
        if not waits and path not in self._arrived_blobs():
            return False
        records = (one for one in self._store.journal.records() if one.get("path") == path)
        found = [record_of(one) for one in records]
        first = found[0] if found else None
        brought = first is None or first.actor == EXTERNAL or first.origin in WAITS
        begun_here = not brought and first is not None and not first.before
        return not begun_here and all(one.op != "confirmed" for one in found)

    def entry(self, entry: Entry, content: bytes, look: stat_result) -> Entry:
        """Return a record of a change from outside with what it is judged to be."""
        cap, why = self.judge(entry.path, content, look)
        if cap is None:
            return entry
        vetted = self.vetted_before(self._store.journal.last(entry.path), entry.path)
        return entry._replace(origin=f"{EXTERNAL}:{cap}", why=why, vetted=vetted or entry.before)

    def merged(self, changes: Iterable[Change]) -> dict[str, Provenance]:
        """Return the paths whose new content waits, as a merge brings it, and where it is from."""
        written = [change for change in changes if isinstance(change, Create | Update)]
        found = {change.path: self._judge_merged(change.path, change.content) for change in written}
        return {path: one for path, one in found.items() if one is not None}

    def _judge_merged(self, path: str, content: bytes) -> Provenance | None:
        known = self._is_known_content(digest(content))
        if not is_judged(path) or self._trusts_all(path) or known:
            return None
        vetted = self.vetted_before(self._store.journal.last(path), path)
        if self._store.exists(path) and id_of(self._store.read(path), path) != id_of(content, path):
            vetted = NONE  # The note that counted here lies elsewhere now.
        return Provenance(f"{EXTERNAL}:{Origin.REMOTE}", MERGED, vetted)

    def vetted_before(self, last: Record | None, path: str) -> str:
        """Return the mark of the last version that counted, by the record of what was there."""
        if last is None:
            return self._store.seen_mark(path)
        return last.vetted if last.origin in WAITS else last.mark

    def waiting(self, path: str) -> Waiting | None:
        """Return a file that waits for a person's word; None for one that does not."""
        content = self._store.read(path)
        found = self.standing(path, content)
        if found.cap is None:
            return None
        at = (self._store.root / path).stat().st_mtime
        return Waiting(path, found, content, datetime.fromtimestamp(at, UTC))

    def version(self, path: str, mark: str) -> bytes | None:
        """Return an earlier content of a file by its mark; None where nothing has it."""
        return self._versions.of_mark(path, mark)

    def is_unconfirmed(self, path: str, content: bytes) -> bool:
        """Whether an earlier content of a file came from outside and nobody ever confirmed it."""
        mark = digest(content)
        if not is_judged(path) or self._is_known_content(mark):
            return False
        if mark in self._made[2] or blob_of(content) in self._arrived_blobs().get(path, ()):
            return True
        # What was written lately need not be journaled yet.
        is_there = self._store.exists(path) and self._store.read(path) == content
        return is_there and self.standing(path, content).cap is not None

    def _trusts_all(self, path: str) -> bool:
        """Whether the setting says so, in a settings file that does not wait itself."""
        # The settings never vouch for themselves: who may write them could switch the judging off.
        if self._rule != "trust" or path == SETTINGS:
            return False
        return self.standing(SETTINGS, self._store.read(SETTINGS)).cap is None

    def _is_adopted(self, path: str, content: bytes, look: stat_result) -> bool:
        """Whether a file lay there when the journal was begun."""
        if look.st_ctime_ns < (self._store.journal.born() or time_ns()):
            return True
        return self._store.seen_mark(path) == digest(content)

    def _describe_arrival(self, path: str, content: bytes, look: stat_result) -> str:
        """Return how a file came here that was written elsewhere; empty for one written here."""
        if blob_of(content) in self._arrived_blobs().get(path, ()):
            return "a pull or a merge brought it"
        if abs(look.st_ctime_ns - look.st_mtime_ns) > _APART_NS:
            return "it was written elsewhere and copied here"
        return ""

    def _arrived_blobs(self) -> Mapping[str, frozenset[str]]:
        since = self._store.journal.born() / 1e9
        if brought_nothing(self._store.root / ".git", since):
            return {}
        try:
            return self._history().arrivals(since)
        except HistoryError:
            return {}

    def _is_known_content(self, mark: str) -> bool:
        """Whether this content counted here before, wherever it lay."""
        extent = self._store.journal.extent()
        if self._made[0] != extent:
            sure, waits = set[str](), set[str]()
            for one in self._store.journal.records():
                after = str(one.get("after"))
                if not is_mark(after):
                    (waits if one.get("origin") in WAITS else sure).add(after)
            self._made = extent, sure, waits
        return mark in self._made[1]


def _make_candidate(path: str, content: bytes, cap: Origin) -> bytes:
    """Return a card as the candidate that it is; nothing for what is no card."""
    from kimi_memory.formats import codec

    try:
        text = decode(content, path)
        note = codec.parse(text, path) if path.endswith(".md") else None
    except FormatError:
        return b""
    if not isinstance(note, Card):
        return b""
    status = Status.CANDIDATE if note.status in _LIVE else note.status
    trust = least_trusted([note.trust, cap])
    return codec.patch(text, note, replace(note, status=status, trust=trust), path).encode()
