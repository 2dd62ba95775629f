"""Syncing with remotes: what others sent is merged here, what is here is sent to them.

The loop holds no state but commits: killed between any two steps, the next sync goes on.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.config import MARKER
from kimi_memory.domain.memory_identity import read_id
from kimi_memory.domain.sync import SyncOptions, SyncReport
from kimi_memory.errors import DivergedError, HistoryError, KimiMemoryError, MovedError, UsageError
from kimi_memory.jobs.merging import check_format
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.operations.drop_folders import meet_in_folder
from kimi_memory.operations.health_checks import find_purged_heads
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.remotes import measure_lag, note_outcome, offer_remotes, open_remotes
from kimi_memory.store.git.merge_commit import Merger
from kimi_memory.store.git.network import Deadline
from kimi_memory.store.git.remote_copy import RemoteCopy
from kimi_memory.store.git.remotes import Remote

# Each time another copy was quicker; five in a row means that many sync at once.
_TRIES = 5
# Copies that met once would meet again if all waited equally long.
_PAUSE_SECONDS = 0.2


def sync_memory(
    memory: Memory, names: Sequence[str] = (), options: SyncOptions | None = None
) -> list[SyncReport]:
    """Bring a memory and its remotes in step; one that fails keeps no other waiting.

    What a remote brings waits for a person's word as what a merge brings.

    Args:
        memory: opened for writing.
        names: of the remotes; all if empty.
        options: how; by default both ways.

    Raises:
        UsageError: there are none.
        NotFoundError: one of the names is none of a remote.
        LockTimeoutError: another process syncs.
        MovedError: the memory lies elsewhere now.
    """
    if memory.store.moved:
        # Its last version says so, which no other copy should take for its own.
        raise MovedError(memory.store.moved)
    remotes = open_remotes(memory)
    chosen = [remotes.find(name) for name in names] or remotes.read()
    if not chosen:
        offered = offer_remotes(memory)
        add = f"{offered[0].name} {offered[0].url}" if offered else "NAME URL"
        raise UsageError(f"No remote to sync with. Add one: kimi-memory remote add {add}")
    with memory.store.lock("sync"):
        return [_try_sync(memory, remote, options or SyncOptions()) for remote in chosen]


def _try_sync(memory: Memory, remote: Remote, options: SyncOptions) -> SyncReport:
    try:
        report = Sync(memory, remote, options).run()
        seen = memory.history.merger().find_seen(remote.name)
        report = replace(report, lag_ms=measure_lag(memory, seen))
    except KimiMemoryError as error:
        report = SyncReport(remote.name, remote.url, failed=str(error), code=error.exit_code)
    if not options.dry_run:
        note_outcome(memory, remote.name, report.failed)
    return report


class Sync:
    """Brings a memory in step with one remote.

    Args:
        memory: opened for writing.
        remote: one of its remotes.
        options: which way.
    """

    def __init__(self, memory: Memory, remote: Remote, options: SyncOptions) -> None:
        self._memory, self._remote, self._options = memory, remote, options
        self._deadline = Deadline(options.seconds)
        self._report = SyncReport(remote.name, remote.url)

    def run(self) -> SyncReport:
        """Exchange with the remote until both have the same; return what was done.

        Raises:
            DivergedError: its history was replaced, or others keep pushing.
            RemoteError: it cannot be reached, or refuses.
        """
        if self._remote.drop:
            return self._meet_in_folder()
        if self._options.since:
            raise UsageError(
                f"{self._remote.name} is asked what it lacks. Give --since for drop folders alone."
            )
        for number in range(_TRIES):
            # Copies that met once would meet again and again.
            pause = random.uniform(0, _PAUSE_SECONDS * number)  # noqa: S311  no secret
            time.sleep(min(pause, self._deadline.left()))
            merger = self._flush()
            with merger.reach(self._remote, self._deadline) as there:
                if self._exchange(merger, there):
                    head = self._report.head or self._memory.history.head()
                    return replace(self._report, head=head)
        why = f"others pushed to it each of the {_TRIES} times"
        remedy = "What is here is kept there, under refs/kimi/copies; sync again"
        raise DivergedError(self._remote.name, why, remedy)

    def _meet_in_folder(self) -> SyncReport:
        """Exchange bundles that something else carries; it is not waited for."""
        how, before = self._options, self._memory.history.head()
        met = meet_in_folder(self._memory, Path(self._remote.url), how)
        merger = self._memory.history.merger()
        # Nobody answers in a folder: what was put there counts as sent.
        known = self._memory.points.find(how.since).commit if how.since else ""
        sent = merger.count_since(self._seen(merger) or known) if met.sent else 0
        if met.sent:
            self._note_seen(merger, merger.ours)
        theirs = [one.theirs for one in met.merged]
        received = merger.count_since(before, *theirs) if theirs else 0
        merged = tuple(one for one in met.merged if one.paths)
        return replace(
            self._report,
            received=received,
            sent=sent,
            head=merger.ours,
            merged=merged,
            left_out=met.waiting,
        )

    def _flush(self) -> Merger:
        if not self._options.dry_run:
            self._memory.repair_merges()
        self._memory.batch.flush()
        if self._options.push and not self._options.dry_run:
            self._memory.sign_last()
        return self._memory.history.merger()

    def _exchange(self, merger: Merger, there: RemoteCopy) -> bool:
        """Do one round; False where somebody else pushed meanwhile."""
        heads = there.list_heads(self._memory.copy_id)
        if heads.main == merger.ours:
            self._note_seen(merger, heads.main)
            self._report = replace(self._report, head=merger.ours)
            return True
        if heads.main and not merger.has(heads.main):
            main = there.fetch()
            self._check_memory(there, main)
            self._check_purges(there, main)
            # Before anything is merged, so that no race and no replaced history can lose it.
            if self._options.push and merger.ours not in (heads.own, self._seen(merger)):
                self._send(merger, there, None)
            if not self._options.pull:
                self._leave_out("it has what is not here; sync without --push to send to its main")
                return True
            self._receive(merger, there, main)
            merger = self._flush()
            if merger.ours == main or self._options.dry_run:
                return True
        else:
            main = heads.main
            self._check_forced(merger, there, main)
        if not self._options.push:
            return True
        return self._send(merger, there, main)

    def _receive(self, merger: Merger, there: RemoteCopy, main: str) -> None:
        """Look at a branch that was fetched, and merge it."""
        self._check_forced(merger, there, main)
        self._check_beginning(merger, there, main)
        there.admit()
        self._report = replace(
            self._report, received=self._report.received + merger.count_since(merger.ours, main)
        )
        merged = merge_copy(self._memory, main, dry_run=self._options.dry_run)
        named = replace(merged, source=self._remote.name)
        self._report = replace(self._report, merged=(*self._report.merged, named))
        self._note_seen(self._memory.history.merger(), main)

    def _send(self, merger: Merger, there: RemoteCopy, lease: str | None) -> bool:
        count = merger.count_since(lease or "") if lease is not None else 0
        if self._options.dry_run:
            self._report = replace(self._report, sent=count)
            return True
        sent = there.send(merger.ours, self._memory.copy_id, lease)
        if sent.refused:
            self._leave_out(f"it does not keep refs/kimi/copies ({sent.refused})")
        if sent.main:
            self._report = replace(self._report, sent=self._report.sent + count)
            self._note_seen(merger, merger.ours)
        return sent.main

    def _seen(self, merger: Merger) -> str:
        return merger.find_seen(self._remote.name)

    def _note_seen(self, merger: Merger, commit: str) -> None:
        if not self._options.dry_run and self._seen(merger) != commit:
            merger.note_seen(self._remote.name, commit)

    def _leave_out(self, line: str) -> None:
        if line not in self._report.left_out:
            self._report = replace(self._report, left_out=(*self._report.left_out, line))

    def _check_memory(self, there: RemoteCopy, main: str) -> None:
        """Refuse what is no copy of this memory."""
        content = there.read_content(main, MARKER) or b""
        check_format(content, self._remote.name)
        id = read_id(content)
        if id != self._memory.settings.memory.id:
            raise HistoryError(
                f"{self._remote.name} holds another memory (id {id[:80] or 'unknown'}). Remove "
                "the remote; 'kimi-memory import' takes over what another memory knows."
            )

    def _check_beginning(self, merger: Merger, there: RemoteCopy, main: str) -> None:
        """Refuse a history that shares nothing with ours."""
        # What descends from something that was here once, does.
        known = self._seen(merger) and not self._options.accept_forced
        if not known and not there.shares_history(main):
            why = "its history has nothing in common with this memory, as after a purge"
            remedy = "Copy the memory anew from there, and import what only this copy knows"
            raise DivergedError(self._remote.name, why, remedy)

    def _check_purges(self, there: RemoteCopy, main: str) -> None:
        """Refuse what would bring back, here or there, what a purge destroyed."""
        brings = there.brings_purge(main)
        here = brings or bool(find_purged_heads(self._memory))
        if not here or not there.has_rewritten(main):
            return
        why = "it still has the history from before a purge of this memory"
        remedy = "Have 'kimi-memory purge --everywhere' carry the purge out there"
        if brings:
            why = "another copy purged a text that the history here still has"
            remedy = f"Carry it out here: 'kimi-memory purge --follow {self._remote.name}'"
        raise DivergedError(self._remote.name, why, remedy)

    def _check_forced(self, merger: Merger, there: RemoteCopy, main: str) -> None:
        """Refuse a history that lacks what the remote had; keep what it had."""
        seen = self._seen(merger)
        if not seen or self._options.accept_forced or there.descends(main, seen):
            return
        again = f"'kimi-memory sync {self._remote.name} --accept-forced'"
        if not main:
            # A new disk, or somebody cleared it: who knows whether it should be filled again.
            why = "what it had is gone"
            raise DivergedError(self._remote.name, why, f"If it may be filled again: {again}")
        lost = there.measure_losses(seen, main)
        kept = "" if self._options.dry_run else there.keep_rescued(seen)
        named = f", such as {', '.join(lost.deleted[:3])}" if lost.deleted else ""
        raise DivergedError(
            self._remote.name,
            f"its history was replaced: {counted(lost.versions, 'versions are')} gone there, with "
            f"{counted(len(lost.deleted), 'files')}{named}, and "
            f"{counted(len(lost.changed), 'files are')} otherwise. "
            f"Nothing of it was taken{f'; what it had is kept as {kept}' if kept else ''}",
            f"Find out who did it; {again} merges what is there with what is here, and sends it",
        )
