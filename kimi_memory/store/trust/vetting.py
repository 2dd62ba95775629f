"""Vetting: which files of a memory count as a person's word, and which wait for it.

What the store wrote counts. What came from outside is judged once, by the moment it was
written and the way it came; the journal keeps the judgement, and so the answer follows
from the files and the journal alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from os import stat_result
from time import time_ns
from typing import TYPE_CHECKING, Literal

from kimi_memory.domain.job import Change, Create, Update, digest
from kimi_memory.domain.note import Origin
from kimi_memory.errors import HistoryError
from kimi_memory.formats.frontmatter import id_of
from kimi_memory.formats.jsonl import has_marks
from kimi_memory.store.files.disk import state_of
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.git.head import blob_of, brought_nothing
from kimi_memory.store.reading import (
    SETTINGS,
    WAITS,
    WHY,
    OldFile,
    Recorded,
    Served,
    Standing,
    Waiting,
    is_judged,
    recorded_standing,
)
from kimi_memory.store.trust.agents_at_work import AgentsAtWork
from kimi_memory.store.trust.as_candidate import as_candidate, join_lines
from kimi_memory.store.trust.passed import Passed
from kimi_memory.store.trust.session_growth import find_unseen_lines, turn_lines
from kimi_memory.store.trust.versions import NONE, Marks, Versions
from kimi_memory.store.wal.records import (
    EXTERNAL,
    Entry,
    Provenance,
    Record,
    is_session,
    may_hold_unseen,
    record_of,
)

if TYPE_CHECKING:
    from kimi_memory.store.git.history import History
    from kimi_memory.store.git.signers import Signers
    from kimi_memory.store.store import Store

Rule = Literal["auto", "trust", "review"]
_APART_NS = 3_000_000_000
"""Who writes a file sets both of its times; so far apart, it was brought."""
_YOUNG_NS = 10_000_000_000
"""So shortly after it was written, a file may be one of ours that is not journaled yet."""
MERGED = "a merge brought it"
LOST = "its file went with what came from elsewhere"


class Vetting:
    """Judges the files of one store.

    Args:
        store: the files and the journal.
        rule: the setting ``consolidation.external_edits``.
        history: returns the history, which tells what came by a pull.
        signers: the keys that the user knows.
    """

    def __init__(
        self,
        store: Store,
        rule: Rule,
        history: Callable[[], History],
        signers: Signers | None = None,
    ) -> None:
        self._store, self._rule, self._history = store, rule, history
        self._passed = Passed(store, history, signers)
        self._versions = Versions(store, history)
        self._work = AgentsAtWork(store)
        self._marks = Marks()

    def served(self, path: str, read: Recorded | None = None) -> Served:
        """Return a file as agents and jobs get it.

        That is the last version that counts, where this one waits or a merge left its marks
        in it. A card without one is a candidate.

        Args:
            path: the file.
            read: what was read of it a moment ago; it is read where that is not given.

        Raises:
            NotFoundError: there is none.
        """
        if path == TOMBSTONES:
            return self._served_tombstones()
        content, last = read or Recorded(self._store.read(path), self._store.journal.last(path))
        if not is_judged(path):
            return Served(content)
        if has_marks(path, content):
            sound = self._versions.without_marks(path)
            return Served(sound, None, WHY)
        found = self._standing_of(path, content, last)
        if found.cap is None:
            return self._serve_own(path, Recorded(content, last), passing=found.passing)
        old = self._versions.of_mark(path, found.vetted) if path.endswith(".md") else None
        if old is not None:
            return Served(old, None, found.why, found.passing)
        candidate = as_candidate(path, content, found.cap)
        shown = candidate or content
        return Served(shown, found.cap, found.why, found.passing, bool(candidate))

    def _serve_own(self, path: str, read: Recorded, *, passing: bool) -> Served:
        """Return a file that does not wait; of a session, with the turns that nobody saw said."""
        content, last = read
        known = not is_session(path) or recorded_standing(last, content) is not None
        grew = not known or may_hold_unseen(self._store.journal.last, path)
        if not grew or self._trusts_all(path):
            return Served(content, passing=passing)
        look = (self._store.root / path).stat()
        unseen = find_unseen_lines(self._store, path) if last else turn_lines(content)
        if last is None and self._is_adopted(path, content, look):
            unseen = []
        # A turn of ours is in its file a moment before the journal says so.
        young = time_ns() - look.st_ctime_ns < _YOUNG_NS
        return Served(content, passing=bool(unseen) and young, unseen=frozenset(unseen))

    def _served_tombstones(self) -> Served:
        """Return the tombstones that bar: what others take out bars on until a person agrees."""
        if not self._store.exists(TOMBSTONES):
            return Served(self._find_lost_tombstones(), None, LOST)
        content = self._store.read(TOMBSTONES)
        found = self.standing(TOMBSTONES, content)
        if found.cap is None:
            return Served(content, passing=found.passing)
        before = self._versions.of_mark(TOMBSTONES, found.vetted) or b""
        return Served(join_lines(before, content), None, found.why, found.passing)

    def turned_away(self, file: Waiting) -> bytes | None:
        """Return what stays of a waiting file that a person turns away; None for nothing."""
        before = self._versions.of_mark(file.path, file.standing.vetted)
        if file.path != TOMBSTONES:
            return before if file.path.endswith(".md") else None
        records = (
            record_of(one) for one in self._store.journal.records() if one.get("path") == TOMBSTONES
        )
        brought = [one.mark for one in records if one.origin in WAITS and one.op != "append"]
        theirs = self._versions.of_mark(TOMBSTONES, brought[-1]) if brought else None
        # What was forgotten here since then stays.
        known = (theirs or file.content).splitlines()
        ours = [line for line in file.content.splitlines() if line not in known]
        return join_lines(before or b"", b"\n".join(ours))

    def _find_lost_tombstones(self) -> bytes:
        """Return the tombstones of a file that went without a word of ours; empty where we did."""
        if self._trusts_all(TOMBSTONES):
            return b""
        mark = _mark_of_lost(self._store.journal.last(TOMBSTONES))
        return self._versions.of_mark(TOMBSTONES, mark) or b"" if mark else b""

    def standing(self, path: str, content: bytes) -> Standing:
        """Return what the content of a file counts for."""
        if not is_judged(path):
            return Standing()
        return self._standing_of(path, content, self._store.journal.last(path))

    def _standing_of(self, path: str, content: bytes, last: Record | None) -> Standing:
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
            went = self._is_gone_back_to(path, content)
            return (None, "") if went else (Origin.REMOTE, brought)
        if path.endswith(".jsonl"):
            return None, ""  # Of a session each turn is judged for itself, see `unseen_lines`.
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

    def unseen_lines(self, path: str, earlier: bytes = b"") -> Sequence[bytes]:
        """Return the lines of a session file, or an earlier state, that nobody here saw said."""
        return () if self._trusts_all(path) else find_unseen_lines(self._store, path, earlier)

    def entry(self, entry: Entry, content: bytes, look: stat_result) -> Entry:
        """Return a record of a change from outside with what it is judged to be."""
        cap, why = self.judge(entry.path, content, look)
        if cap is None:
            return entry
        vetted = self.vetted_before(self._store.journal.last(entry.path), entry.path)
        return entry._replace(origin=f"{EXTERNAL}:{cap}", why=why, vetted=vetted or entry.before)

    def merged(
        self,
        changes: Iterable[Change],
        caps: Mapping[str, Origin] | None = None,
        strict: Collection[str] = (),
    ) -> dict[str, Provenance]:
        """Return the paths whose new content waits, as a merge brings it, and where it is from.

        Args:
            changes: what the merge writes.
            caps: what is trusted at most of the files that nobody vouches for, by their paths;
                None where nobody vouches for any.
            strict: paths that wait for review, even if settings or a trusted signature accept them.
        """
        found = {
            change.path: self._judge_merged(change.path, change.content, cap)
            for change in changes
            if isinstance(change, Create | Update)
            and (cap := self._cap_merged(change.path, caps, strict))
        }
        return {path: one for path, one in found.items() if one is not None}

    def _cap_merged(
        self, path: str, caps: Mapping[str, Origin] | None, strict: Collection[str]
    ) -> Origin | None:
        if path in strict:
            return Origin.REMOTE
        if self._trusts_all(path):
            return None
        return Origin.REMOTE if caps is None else caps.get(path)

    def _judge_merged(self, path: str, content: bytes, cap: Origin) -> Provenance | None:
        if not is_judged(path) or self._stands_here(path, content):
            return None
        last = self._store.journal.last(path)
        vetted = self.vetted_before(last, path)
        if not self._store.exists(path):
            vetted = _mark_of_lost(last) if path == TOMBSTONES else vetted
        elif self._id_at(path) != id_of(content, path):
            vetted = NONE  # The note that counted here lies elsewhere now.
        else:
            # It is asked for as soon as the file waits, and git would take a walk for each.
            self._versions.keep(vetted, self._store.read(path))
        return Provenance(f"{EXTERNAL}:{cap}", MERGED, vetted)

    def _id_at(self, path: str) -> str:
        """Return the id of the note that lies at a path, also while git's marks stand in it."""
        content = self._store.read(path)
        sound = self._versions.without_marks(path) if has_marks(path, content) else content
        return id_of(sound, path)

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
        """Return an earlier content of a file by its mark; None where it is not kept."""
        return self._versions.of_mark(path, mark)

    def find_unconfirmed(self, files: Iterable[OldFile], *, gone: bool = False) -> set[OldFile]:
        """Return which of some earlier files came from outside and nobody ever confirmed them."""
        # Asked for thousands at once: what is known of the memory is looked up for all of them.
        marks, arrived, trusted = self._read_marks(), self._arrived_blobs(), self._trusts_all("")
        passed = {} if trusted else self._passed.list_commits()
        found = set[OldFile]()
        for path, content in files:
            mark = digest(content)
            if not is_judged(path) or mark in marks.places:
                continue
            came = path in arrived and blob_of(content) in arrived[path]
            came = came or mark in marks.waits or (not gone and self._waits_here(path, content))
            # What a copy said and took back before it came was never shown to anybody here.
            if came or (blob_of(content) in passed and self._passed.has(path, content)):
                found.add((path, content))
        return found

    def _waits_here(self, path: str, content: bytes) -> bool:
        """Whether a file has this content now, and waits; it need not be journaled yet."""
        look = state_of(self._store.root, path)
        same = look is not None and look[0] == len(content) and self._store.exists(path)
        if not same or self._store.read(path) != content:
            return False
        return self.standing(path, content).cap is not None

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

    def _is_gone_back_to(self, path: str, content: bytes) -> bool:
        """Whether this content counts here, or did when a person went back to it with git."""
        if self._stands_here(path, content):
            return True
        merged = self._arrived_blobs(merged=True).get(path, ())
        return digest(content) in self._read_marks().places and blob_of(content) not in merged

    def _arrived_blobs(self, *, merged: bool = False) -> Mapping[str, frozenset[str]]:
        since = self._store.journal.born() / 1e9
        if brought_nothing(self._store.root / ".git", since):
            return {}
        try:
            return self._history().arrivals(since, merged=merged)
        except HistoryError:
            # Of what git does not tell us nothing counts as brought by it.
            return {}

    def _stands_here(self, path: str, content: bytes) -> bool:
        """Whether this content counts here, wherever it lies: no later word of ours replaced it.

        A copy that goes back to what was corrected or forgotten here says something new.
        """
        found = self._read_marks()
        if path == TOMBSTONES:
            return False
        place = found.places.get(digest(content))
        return place is not None and found.latest.get(place) == digest(content)

    def _read_marks(self) -> Marks:
        self._marks = self._marks.updated(self._store.journal)
        return self._marks


def _mark_of_lost(last: Record | None) -> str:
    """Return the mark of the last version that counted of a file that is not there.

    Empty where its last record is our own deletion, or there is none.
    """
    if last is None or (not last.mark and last.actor != EXTERNAL):
        return ""
    return last.vetted or last.mark or last.before
