"""Rot: what is wrong with single memos, each with its place, reason and remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from kimi_memory.domain.foreign_note import Memo
from kimi_memory.nlp.basic.patterns import language_of, normalise, regex
from kimi_memory.nlp.dates.timestamps import find_moment
from kimi_memory.operations.foreign_stores import Stored

# `until 2026-05-01`, `expires on 2026-05-01`, `截至2026年5月1日`, `2026-05-01之前`.
_UNTIL = regex(
    r"\b(?:until|till|through|by|before|due|expires?(?: on)?|deadline:?)\s+(?:the )?"
    r"(\d{4}-\d\d?-\d\d?)"
    r"|(?:直到|截至|截止(?:到|于)?|到期[:：]?|有效期至)\s*(\d{4}[-年/.]\s?\d{1,2}[-月/.]\s?\d{1,2})"
    r"|(\d{4}[-年/.]\s?\d{1,2}[-月/.]\s?\d{1,2}日?)\s?(?:之前|以前|前|为止|到期|截止)",
)
# `tomorrow`, `next week`, `下周`; not `上周期`, which is a cycle and no week.
_DRIFTING = regex(
    r"\b(?:today|tomorrow|yesterday|tonight|(?:this|next|last) (?:week|month|monday|tuesday"
    r"|wednesday|thursday|friday|weekend))\b"
    r"|(?:今天|明天|昨天|后天|前天|今晚|明晚|[上下本这]个?(?:周|星期|礼拜|月)(?!期))"
)
# A habit does not drift: `every Monday`, `每周一`.
_EVERY = regex(r"\bevery|\balways|\beach|每|总是|一直")
# Of fewer memos, no language is the common one.
_FEW = 8
_MOST = 0.9
# Names and numbers look like any language.
_SHORTEST = 12


class Check(StrEnum):
    """What an audit looks for, worst first."""

    SECRET = "secret"  # noqa: S105  the name of a check
    RECALLED = "re-captured"
    CONTRADICTION = "contradiction"
    DUPLICATE = "duplicate"
    NEAR = "near-duplicate"
    STALE = "stale"
    UNPROVEN = "no-evidence"
    LANGUAGE = "language"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Rot:
    """One finding."""

    check: Check
    path: str
    line: int
    why: str
    remedy: str
    other: str = ""
    """``path:line`` of what it repeats or contradicts."""
    count: int = 1
    """How many memos it speaks of."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A memo and the file it stands in."""

    memo: Memo
    file: Stored

    @property
    def place(self) -> str:
        """``path:line``."""
        return f"{self.file.path}:{self.memo.line}"

    @property
    def at(self) -> datetime:
        """When it was last held true: by its own dates, else by the file's."""
        memo = self.memo
        return memo.updated or memo.created or self.file.modified


def stale(placed: Placed, now: datetime, days: int) -> Iterator[Rot]:
    """Find cards that are past their date, long unconfirmed, or say "today" without a date."""
    memo = placed.memo
    why, remedy = _why_stale(placed, now, days)
    if not why and find_moment(memo.text) is None and not _EVERY.search(normalise(memo.text)):
        drifting = _DRIFTING.search(normalise(memo.text))
        if drifting:
            why = f"it says {drifting[0]!r} and not which day that was"
            remedy = "Write the date."
    if why:
        yield Rot(Check.STALE, placed.file.path, memo.line, why, remedy)


def _why_stale(placed: Placed, now: datetime, days: int) -> tuple[str, str]:
    memo = placed.memo
    if memo.expires is not None and memo.expires < now:
        return f"it was valid until {memo.expires:%Y-%m-%d}", "Archive it, or confirm it anew."
    for found in _UNTIL.finditer(normalise(memo.text)):
        until = find_moment(next(filter(None, found.groups())))
        # A day that is named is the last on which it holds.
        if until is not None and until + timedelta(days=1) < now:
            return f"it names {until:%Y-%m-%d} as its end", "Archive it, or confirm it anew."
    age = (now - placed.at).days
    if age > days and not memo.stands:
        dated = "last confirmed" if memo.updated or memo.created else "its file last changed"
        return f"{dated} {age} days ago", "Confirm it, or let it go."
    return "", ""


def unproven(file: Stored, turns: Mapping[str, str]) -> Iterator[Rot]:
    """Find memos that name no source, and quotes that do not stand in their turn.

    Args:
        file: a file of the store.
        turns: the text of each turn that the store holds, by ``<session>#<n>``.
    """
    claims = [memo for memo in file.memos if memo.live and not memo.past]
    bare = [memo for memo in claims if not memo.sources]
    if bare:
        why = f"{len(bare)} of {len(claims)} statements name no source"
        if len(claims) == 1:
            why = "it names no source"
        remedy = "Say where it comes from, or let its conversation be stored."
        yield Rot(Check.UNPROVEN, file.path, bare[0].line, why, remedy, count=len(bare))
    for memo in file.memos if turns else ():
        for quote in memo.quotes:
            said = turns.get(f"{quote.session}#{quote.n}")
            if said is None or not quote.stands_in(said):
                lost = "is not stored" if said is None else "does not hold the quoted words"
                why = f"turn session:{quote.session}#{quote.n} {lost}"
                remedy = "Correct the quote, or restore the session."
                yield Rot(Check.UNPROVEN, file.path, memo.line, why, remedy)


def foreign(placed: Sequence[Placed]) -> Iterator[Rot]:
    """Find memos in another language than they say, than their evidence, or their neighbours."""
    tongues = {id(one): language_of(one.memo.text) for one in placed}
    counts: dict[str, Counter[str]] = {}
    for one in placed:
        counts.setdefault(_neighbourhood_path(one), Counter())[tongues[id(one)]] += 1
    for one in placed:
        memo, here = one.memo, tongues[id(one)]
        near = counts[_neighbourhood_path(one)]
        common, many = near.most_common(1)[0]
        whole = sum(near.values())
        # A memo in the language of its evidence is right, whatever stands around it.
        quoted = language_of("\n".join(q.text for q in memo.quotes)) if memo.quotes else here
        # Too short to tell a language by; a hanzi says about as much as two letters.
        if len(memo.text) < _SHORTEST // (2 if here == "zh" else 1):
            continue
        if quoted != here:
            why = f"it is in {_NAMES[here]}, its evidence in {_NAMES[quoted]}"
        elif memo.lang and memo.lang != here:
            why = f"it is marked {memo.lang!r} and written in {_NAMES[here]}"
        elif whole >= _FEW and here != common and many >= whole * _MOST:
            why = f"it is in {_NAMES[here]} among statements in {_NAMES[common]}"
        else:
            continue
        yield Rot(
            Check.LANGUAGE, one.file.path, memo.line, why, "Keep it in the words of its evidence."
        )


def _neighbourhood_path(placed: Placed) -> str:
    """Return where a memo has its neighbours: its file, or its folder if it is alone there."""
    file = placed.file
    return file.path if len(file.memos) > 1 else file.path.rpartition("/")[0]


_NAMES = {"zh": "Chinese", "en": "English"}
