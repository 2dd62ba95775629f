"""Forgetting and purging a memory: the whole of it, files, history and index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations_with_replacement

from kimi_memory.api.memory import Memory
from kimi_memory.domain.ids import zulu
from kimi_memory.domain.job import JobReport, Op, Update, digest, of_job
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.session import Json
from kimi_memory.errors import ReadOnlyError, StoreError, UsageError
from kimi_memory.formats.job_file import add_member, job_path
from kimi_memory.index.files import INDEX
from kimi_memory.jobs.forget import Forget, check_wanted
from kimi_memory.jobs.kept_waiting import find_unconfirmed, keep_waiting
from kimi_memory.jobs.purge import Doomed, Purge, Removal, check_texts, subject_of
from kimi_memory.jobs.purge_file import DoomedLine, Scrub, Targets
from kimi_memory.jobs.purge_spellings import find_longer_words
from kimi_memory.jobs.rekeying import rekey
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.operations.agent_files import ROOT, says_forgotten
from kimi_memory.store.copy import checkpoint, list_ids
from kimi_memory.store.git.purged_pairs import Onto
from kimi_memory.store.git.rewrite import SIDE, Found, Rewrite
from kimi_memory.store.git.settings import kept_outside
from kimi_memory.store.notes.notes import read_tombstones
from kimi_memory.store.wipe_caches import places, restart_journal, run_places, wipe, wipe_runs

__all__ = ["Doomed", "PurgeReport", "Wanted", "forget", "purge"]

# A person sees what is meant; all of them may be hundreds.
_SHOWN = 5
_WORD = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+")
_WORDS = 64
"""So many words of a query are compared, alone and in rows, with what was purged."""


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """What a purge did, or without leave would do."""

    done: bool
    id: str = ""
    """The purge's record in ``mid-term/jobs``; empty when nothing was done."""
    files: tuple[str, ...] = ()
    """Files of the memory that change."""
    notes: tuple[str, ...] = ()
    """Ids of cards and events that go as a whole."""
    lines: int = 0
    private: int = 0
    """Hidden and machine-local files that hold a target."""
    objects: int = 0
    """Objects of git that hold one, reachable or not."""
    commits: int = 0
    """Commits and tags whose own message or names hold one."""
    remotes: tuple[str, ...] = ()
    """Where the history was pushed to, and must be purged as well."""
    commit: str = ""
    shown: tuple[DoomedLine, ...] = ()
    """The lines whose words would go; none once they are gone. Ids and hashes are not shown."""
    longer: tuple[str, ...] = ()
    """Words that stay, although a text is a part of them; they go when they are named."""

    @property
    def empty(self) -> bool:
        """Whether nothing was found."""
        return not (self.files or self.private or self.objects)


def forget(memory: Memory, wanted: Wanted, *, dry_run: bool = False) -> JobReport:
    """Archive notes with a tombstone, so that they are neither recalled nor made again.

    `Memory.undo` takes it back.

    Args:
        memory: an open memory.
        wanted: a note, a key, a session, words or a time.
        dry_run: report the diff and write nothing.

    Raises:
        NotFoundError: there is no such note, key or session.
        UsageError: not exactly one of them is named.
    """
    check_wanted(wanted)
    if wanted.query and not wanted.hashed and _is_hashed(memory, wanted.query):
        wanted = replace(wanted, hashed=True)  # What was purged is never written again.
    if not dry_run:
        # A page that holds an edit is not written anew, and would go on showing it.
        memory.take_edits()
    report = memory.run(Forget(memory, wanted), dry_run=dry_run)
    if dry_run:
        return report
    return replace(report, left_out=(*report.left_out, *_warn_agent_notes(memory)))


def _is_hashed(memory: Memory, words: str) -> bool:
    """Whether words, or some of them, were purged or forgotten but for a hash."""
    stones = read_tombstones(memory.store)
    held = {one.value for one in stones if one.hashed}
    found = list(_WORD.finditer(words))[:_WORDS] if held else []
    parts = (words[a.start() : b.end()] for a, b in combinations_with_replacement(found, 2))
    return any(not held.isdisjoint(stones.forms(part)) for part in chain([words], parts))


def _warn_agent_notes(memory: Memory) -> Iterator[str]:
    """Yield a line for each note of an agent that still says what was forgotten."""
    for path in memory.store.files(ROOT):
        text = memory.store.read(path).decode("utf-8", "replace")
        if path.endswith(".md") and says_forgotten(memory, text):
            yield f"{path}: an agent's note says it; recall keeps it to itself, 'purge' destroys it"


@dataclass(frozen=True, slots=True)
class Following:
    """Purges of another copy that are to be carried out here."""

    onto: Onto
    """The history that the other copy has rewritten."""
    purges: tuple[str, ...]
    """Their ids."""


def purge(
    memory: Memory, doomed: Doomed, *, yes: bool = False, following: Following | None = None
) -> PurgeReport:
    """Destroy texts, or every word of sessions, in files, history, journal and index.

    Nothing can restore them; that they are gone is proven by a scan of every byte.

    Args:
        memory: an open memory.
        doomed: what is to go.
        yes: do it; else only report what would be destroyed.
        following: the purges of another copy that named it.

    Raises:
        UsageError: nothing is named, or a text is too short, or stands in ids and dates.
        HistoryError: the repository cannot be rewritten; nothing was changed.
        StoreError: the proof found a place that still holds a text; it is named.
    """
    if not (doomed.texts or doomed.sessions or doomed.names):
        raise UsageError("Say what to purge: a text or a session.")
    run = _Purge(memory, doomed, following)
    if not yes:
        return run.preview()
    memory.refuse_if_deployed(
        "a purge from here", "Run 'kimi-memory purge' on the node that leads: it reaches every one"
    )
    if memory.store.read_only:
        raise ReadOnlyError(memory.store.read_only)
    # Alone: what another process wrote meanwhile might hold the text.
    with memory.store.lock("job"), memory.store.lock("store"):
        return run.carry_out()


def is_purgeable(text: str) -> bool:
    """Whether a text is long enough to be looked for everywhere; all copies have the same rules."""
    try:
        return bool(check_texts((text,)))
    except UsageError:
        return False


class _Purge:
    """One purge; lives for one call."""

    def __init__(self, memory: Memory, doomed: Doomed, following: Following | None) -> None:
        self._memory, self._store, self._following = memory, memory.store, following
        self._rewrite = Rewrite(memory.root)
        follower = next(iter(list_ids(memory.store)), "") if following else ""
        about = (memory.settings, memory.actor.name, memory.clock(), follower)
        self._purge = Purge(memory.store, *about)
        past = self._rewrite.blobs() if self._rewrite.present else ()
        self._targets: Targets = self._purge.targets(doomed, past)
        self._scrub = Scrub(self._targets, memory.store.journal.keyed)

    def preview(self) -> PurgeReport:
        """Return what would be destroyed."""
        return self._find_targets()[0]

    def carry_out(self) -> PurgeReport:
        """Destroy, prove, and file the receipt."""
        if self._rewrite.present:
            self._rewrite.check()
        seen, removal = self._find_targets()
        if seen.empty and not removal.found and not (self._memory.root / SIDE).exists():
            return PurgeReport(done=False, commit=self._commit_late(), longer=seen.longer)
        if self._memory.history.ready():
            self._memory.batch.flush("Before purge")
        indexed = (self._memory.root / INDEX).exists()
        if rekey(self._store):
            seen, removal = self._find_targets()
        # What waits for a person's word still waits when the journal was begun anew.
        self._waiting = find_unconfirmed(self._store)
        # Files first: from here on the text is in no new commit, whatever happens.
        id = self._clear_files(seen, removal)
        self._clear_history()
        self._clear_private()
        commit = self._commit_purge(id)
        # Before the proof: it looks at the index as well.
        if indexed:
            self._memory.index.refresh(full=True)
        found = self._verify_purged()
        if self._following:
            commit = self._file_proof(id, found)
        return PurgeReport(
            True, id, seen.files, seen.notes, seen.lines, seen.private, seen.objects,
            seen.commits, seen.remotes, commit, longer=seen.longer,
        )  # fmt: skip

    def _find_targets(self) -> tuple[PurgeReport, Removal]:
        found = Found()
        remotes: tuple[str, ...] = ()
        if self._rewrite.present:
            found, remotes = self._rewrite.search(self._scrub), self._rewrite.remotes()
            # Records of jobs hold hashes of earlier contents, too.
            for path, content in self._rewrite.blobs():
                self._scrub.learn(content, self._scrub.content(path, content))
        around = kept_outside(self._memory.root, own=self._rewrite.present)
        remotes += (f"the repository {around}, which holds files of this memory",) * bool(around)
        removal = self._purge.removal(self._scrub, self._targets)
        truth = set(self._store.files())
        private = [path for path in places(self._memory.root, self._scrub) if path not in truth]
        private += self._find_in_runs()
        notes = tuple(one.target for one in removal.operations if one.op is Op.FORGET)
        files = tuple(path for path in removal.paths if path in truth) if removal.found else ()
        longer: set[str] = set()
        for path in truth:
            longer |= find_longer_words(self._targets.texts, self._store.read(path))
        report = PurgeReport(
            False, "", files, notes, len(removal.lines), len(private), found.objects,
            found.commits, remotes, shown=tuple(line for line in removal.lines if line.said),
            longer=tuple(sorted(longer, key=str.casefold)),
        )  # fmt: skip
        return report, removal

    def _find_in_runs(self) -> list[str]:
        """Return the files outside in which the output of agents' runs holds it."""
        return [*map(str, run_places(self._memory.home.state, self._memory.root, self._scrub))]

    def _clear_files(self, seen: PurgeReport, removal: Removal) -> str:
        counts = {
            "files": len(seen.files),
            "notes": len(seen.notes),
            "lines": seen.lines,
            "private": seen.private,
            "objects": seen.objects,
            "commits": seen.commits,
        }
        head = self._rewrite.head() if self._rewrite.present else ""
        follows = self._following.purges if self._following else ()
        id, receipt = self._purge.receipt(self._targets, removal, counts, head, follows)
        actor = of_job(self._memory.actor, "purge")
        self._store.apply([*removal.changes, *receipt], actor, subject=id)
        return id

    def _clear_history(self) -> None:
        if self._rewrite.present:
            with self._store.lock("git"):
                self._rewrite.run(self._scrub, self._following.onto if self._following else None)

    def _clear_private(self) -> None:
        root = self._memory.root
        self._memory.index.drop()
        wipe(root, self._scrub)
        wipe_runs(self._memory.home.state, root, self._scrub)
        # Its records hold the hash of every line. What is on disk now must not look like an
        # edit to a journal that begins here.
        self._store.reconcile()
        restart_journal(self._store, keep_waiting(self._store, self._waiting, self._scrub))
        vars(self._memory).pop("copy_id", None)

    def _commit_purge(self, id: str) -> str:
        if not self._memory.history.ready():
            return ""
        trailers = {"Job": id, "Kind": "purge", **checkpoint(self._store)}
        subject = f"purge: {subject_of(self._targets)}"
        return self._memory.history.commit(subject, trailers=trailers)

    def _commit_late(self) -> str:
        """Commit the receipt of a run that was killed just before it could."""
        id = self._purge.id_of(self._targets)
        history, path = self._memory.history, job_path(id)
        if not (self._store.exists(path) and history.ready()):
            return ""
        return "" if history.content("HEAD", path) else self._commit_purge(id)

    def _file_proof(self, id: str, found: Found) -> str:
        """Have the record say that nothing is left here; return the commit."""
        proof: dict[str, Json] = {"copy": self._memory.copy_id, "at": zulu(self._memory.clock())}
        proof |= {"objects": found.read, "bytes": found.bytes, "hits": found.objects}
        path = job_path(id)
        content = self._store.read(path)
        change = Update(path, digest(content), add_member(content, "proof", proof))
        self._store.apply([change], of_job(self._memory.actor, "purge"), subject=id)
        return self._commit_purge(id)

    def _verify_purged(self) -> Found:
        # Not believed but looked for, in every byte of the folder.
        found = self._rewrite.search(self._scrub) if self._rewrite.present else Found()
        left = [*places(self._memory.root, self._scrub), *self._find_in_runs()]
        left += ["objects of .git"] if found.objects else []
        if left:
            shown = ", ".join(map(self._scrub.name, left[:_SHOWN]))
            raise StoreError(
                f"{counted(len(left), 'places have it still')}: {shown}. "
                "Close the programs that have them open, then purge again."
            )
        return found
