"""The history checked: signatures, merges made again, and what may only grow."""

from __future__ import annotations

import hmac
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from kimi_memory.api.memory import Memory
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.errors import FormatError, KimiMemoryError
from kimi_memory.formats.jsonl import tombstone_of, unseal
from kimi_memory.jobs.vouching import follows_from_parents
from kimi_memory.merge.records import PURGED
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.store.files.paths import PRIVATE, TOMBSTONES
from kimi_memory.store.git.signed_commits import SignedCommit, SignedCommits
from kimi_memory.store.git.signers import GIT, is_sound, key_of
from kimi_memory.store.trust.session_growth import turn_lines

_SEEN = f"{PRIVATE}/cache/history"
_ARCHIVE = "episodic/sessions/"
_REWRITES = ("Kind: purge", "Kind: rekey", "Kind: repair", "Kind: undo", "Kind: rollback")
"""Kinds of commits that may take out lines of a session, or bring back an earlier state."""


def verify_history(memory: Memory, since: str = "") -> list[Finding]:
    """Verify every commit once; a commit that was verified before is skipped.

    Args:
        memory: opened for reading or writing.
        since: a point in the history; only what came after it is checked.

    Raises:
        UsageError: there is no such point.
        HistoryError: there is no history.
    """
    findings = memory.history.check()
    head = memory.points.graph().head
    known = memory.points.find(since).commit if since else ""
    signed = SignedCommits(memory.history.repository(), memory.signing.signers)
    rows, keys = signed.read_new(head, known), _read_seen(memory)
    fresh = [row for row in rows if row.id not in keys]
    found = [*_check_signatures(fresh), *_check_merges(memory, fresh)]
    found += _check_growth(memory, signed, fresh)
    bad = {one.path for one in found}
    # Only sound commits are remembered: a bad one is reported each time.
    keys |= {row.id: key_of(row.signature) for row in fresh if row.id not in bad}
    _keep_seen(memory, keys)
    counts = Counter(keys.get(row.id, "") for row in rows)
    return [*findings, *found, *_count_signatures(memory, counts)]


def _check_signatures(rows: Sequence[SignedCommit]) -> Iterator[Finding]:
    for row in rows:
        if row.signature and not is_sound(row.signature, row.payload, GIT):
            message = "its signature is not one of what it says: it was changed after it was signed"
            yield _fault("signatures", message, row)


def _check_merges(memory: Memory, rows: Sequence[SignedCommit]) -> Iterator[Finding]:
    merger = memory.history.merger()
    for row in rows:
        if row.by_values and not follows_from_parents(merger, row):
            message = "this merge is not what its two parents give; is it of another version?"
            yield _fault("merges", message, row, Severity.WARNING)


def _check_growth(
    memory: Memory, signed: SignedCommits, rows: Sequence[SignedCommit]
) -> Iterator[Finding]:
    """Yield the commits that took out what a purge barred, or turns of an ended session."""
    # What a merge took out, one of its parents took out before.
    touched = signed.read_touched(row.id for row in rows if len(row.parents) == 1)
    watched = {
        row.id: [one for one in touched.get(row.id, ()) if one.before and _is_watched(one.path)]
        for row in rows
    }
    blobs = {blob for ones in watched.values() for one in ones for blob in (one.before, one.blob)}
    contents = memory.history.blobs(sorted(blobs - {""}))
    for row in rows:
        may_cut = any(kind.encode() in row.payload for kind in _REWRITES)
        for one in watched[row.id]:
            before, after = contents[one.before], contents.get(one.blob, b"")
            if one.path == TOMBSTONES and _purged(before) - _purged(after):
                message = f"it took out of {TOMBSTONES} what a purge barred"
                yield _fault("tombstones", message, row)
            elif not may_cut and one.blob and one.path != TOMBSTONES:
                lost = set(turn_lines(before)) - set(turn_lines(after))
                if lost:
                    message = (
                        f"it changed {counted(len(lost), 'turns')} of the ended session {one.path}"
                    )
                    yield _fault("sessions", message, row, Severity.WARNING)


def _is_watched(path: str) -> bool:
    return path == TOMBSTONES or (path.startswith(_ARCHIVE) and path.endswith(".jsonl"))


def _purged(content: bytes) -> set[tuple[str, str, str]]:
    found = set()
    for line in content.splitlines():
        try:
            stone = tombstone_of(unseal(line))
        except (FormatError, ValueError):
            # Other checks name a broken line; here it excuses nothing.
            continue
        if stone.why == PURGED:
            found.add((stone.scope, stone.key, stone.value))
    return found


def _fault(
    check: str, message: str, row: SignedCommit, severity: Severity = Severity.ERROR
) -> Finding:
    remedy = f"Look at it with 'kimi-memory diff {row.id[:10]}^ {row.id[:10]}'."
    return Finding(check, severity, message, remedy, row.id)


def _count_signatures(memory: Memory, counts: Mapping[str, int]) -> Iterator[Finding]:
    names = {one.key.split()[1]: one.principal for one in memory.signing.signers.read()}
    yield _sound(f"{counted(sum(counts.values()), 'commits')}, {counts.get('', 0)} not signed")
    known, unknown = Counter[str](), 0
    for key, count in counts.items():
        known[names.get(key, "")] += count if key in names else 0
        unknown += count if key and key not in names else 0
    for name, count in sorted(known.items()):
        if count:
            yield _sound(f"{counted(count, 'commits')} signed by {name}")
    if unknown:
        yield _sound(f"{counted(unknown, 'commits')} signed with keys not known")


def _sound(message: str) -> Finding:
    return Finding("signatures", Severity.OK, message)


def _read_seen(memory: Memory) -> dict[str, str]:
    """Return the commits that were verified before, each with the key that signed it."""
    try:
        mark, _, body = memory.store.read(_SEEN).partition(b"\n")
        # What a stranger's folder says of its own history counts for nothing.
        if not hmac.compare_digest(mark, memory.store.journal.sign(body)):
            return {}
        return {str(id): str(key) for id, key in json.loads(body).items()}
    except (KimiMemoryError, ValueError):
        # Nothing was verified here before: all is looked at.
        return {}


def _keep_seen(memory: Memory, keys: Mapping[str, str]) -> None:
    body = json.dumps(keys).encode()
    with suppress(KimiMemoryError):  # Without it, all are checked again.
        memory.store.view(_SEEN, memory.store.journal.sign(body) + b"\n" + body)
