"""An audit: how much rot there is in any store of memories, which is only read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kimi_memory.capture.log import Screen
from kimi_memory.hooks.host import Host
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.nlp.basic.safe_text import injected
from kimi_memory.operations.foreign_stores import Skipped, Stored, read_store

from .checks import Check, Placed, Rot, foreign, stale, unproven
from .contradictions import quarrels, repeats

STALE_DAYS = 180
"""A memo that nobody confirmed for so long counts as stale."""

# Rules of secrets are slow on one text of megabytes, and quick on many small ones.
_PIECE = 100_000
# Longer than any secret, so that none is cut in two at the end of a piece.
_OVERLAP = 4_000


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found."""

    root: Path
    files: int
    size: int
    """Bytes read."""
    memos: int
    """Statements held true, turns of conversations aside."""
    turns: int
    systems: Mapping[str, int]
    """How many memos each system wrote."""
    findings: tuple[Rot, ...]
    skipped: tuple[str, ...]

    @property
    def counts(self) -> Mapping[Check, int]:
        """How many memos or places each check found, worst check first."""
        found: Counter[Check] = Counter()
        for rot in self.findings:
            found[rot.check] += rot.count
        return {check: found[check] for check in Check}


def audit(root: Path, host: Host, now: datetime, *, stale_days: int = STALE_DAYS) -> Audit:
    """Measure the rot in a store of memories, and change nothing.

    Args:
        root: a memory folder, a folder of Markdown, an export: a file or a folder.
        host: asked to read, to screen and to judge.
        now: the moment from which age counts.
        stale_days: unconfirmed for longer is stale.

    Raises:
        UsageError: there is nothing at `root`.
    """
    skipped = Skipped()
    files = list(read_store(root, host, skipped))
    placed = [Placed(memo, file) for file in files for memo in file.memos]
    held = [one for one in placed if one.memo.live and not one.memo.past]
    turns = {one.memo.id: one.memo.text for one in placed if one.memo.past}
    screen = Screen(host, b"")
    # Texts that repeat word for word are compared once: else one contradiction of a repeated memo
    # would count for each of its copies.
    findings = [
        *(rot for file in files for rot in _of_file(file, screen)),
        *repeats(held),
        *quarrels(_drop_repeats(held), host),
        *(rot for one in held for rot in stale(one, now, stale_days)),
        *(rot for file in files for rot in unproven(file, turns)),
        *foreign(held),
    ]
    order = list(Check)
    findings.sort(key=lambda rot: (order.index(rot.check), rot.path, rot.line, rot.why))
    return Audit(
        root,
        len(files),
        sum(file.size for file in files),
        len(held),
        len(placed) - len(held),
        dict(Counter(one.memo.system for one in held)),
        tuple(findings),
        tuple(skipped.lines),
    )


def _drop_repeats(held: Sequence[Placed]) -> list[Placed]:
    """Return the memos without those that repeat an earlier one word for word."""
    first = {normalise(one.memo.text): one for one in reversed(held)}
    return [one for one in held if first[normalise(one.memo.text)] is one]


def _of_file(file: Stored, screen: Screen) -> Iterator[Rot]:
    if file.problem:
        # The problem may begin with its place: "line 12: …".
        line = int(found) if (found := file.problem.partition(":")[0][5:]).isdigit() else 1
        remedy = "Mend it by hand; it was not changed."
        yield Rot(Check.UNREADABLE, file.path, line, file.problem, remedy)
    if file.text:
        yield from _of_text(file, file.text, 1, screen)
    else:
        for memo in file.memos:
            for rot in _of_text(file, f"{memo.title}\n{memo.text}", memo.line, screen):
                yield Rot(rot.check, rot.path, memo.line, rot.why, rot.remedy)


def _of_text(file: Stored, text: str, first: int, screen: Screen) -> Iterator[Rot]:
    for start, end in injected(text):
        name = text[start + 1 : end].partition(">")[0].partition(" ")[0].strip()
        why = f"a <{name}> block that a program put into a prompt was kept as knowledge"
        remedy = "Delete the block; what it recalled is stored elsewhere."
        yield Rot(Check.RECALLED, file.path, first + text.count("\n", 0, start), why, remedy)
    for start, rule in _find_secrets(text, screen):
        why = f"it holds what looks like a secret ({rule})"
        remedy = "Revoke it, then remove it here and from history and backups."
        yield Rot(Check.SECRET, file.path, first + text.count("\n", 0, start), why, remedy)


def _find_secrets(text: str, screen: Screen) -> list[tuple[int, str]]:
    """Return where secrets begin and of what kind they are; never what they are."""
    found: dict[int, str] = {}
    reached = at = 0
    while at < len(text):
        for span in screen.spans(text[at : at + _PIECE + _OVERLAP]):
            start = at + span.start
            # One that the border cut is found whole in the next piece.
            if start >= reached and (span.start < _PIECE or at + _PIECE >= len(text)):
                found.setdefault(start, span.rule)
                reached = max(reached, at + span.end)
        at += _PIECE
    return sorted(found.items())
