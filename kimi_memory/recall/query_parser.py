"""The query line: words, "phrases", -exclusions, prefix* and field:value.

Only what cannot be meant otherwise is syntax: a mark stands at the beginning of a word
and reaches to its end, a field is one of ours, and in a line that ends like a sentence
quotes, hyphens and stars are what they are in any sentence. So a question is never
misread, and never refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from kimi_memory.domain.note import Status
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import UsageError
from kimi_memory.nlp.basic.patterns import HAN, regex
from kimi_memory.nlp.dates.ranges import period

TIERS = ("short-term", "episodic", "mid-term", "semantic", "long-term", "page")
KINDS = ("turn", "card", "event", "project", "agent", "identity", "day", "page")
CLOSED: Mapping[str, tuple[str, ...]] = {
    "tier": TIERS,
    "kind": KINDS,
    "status": tuple(map(str, Status)),
}
"""Fields of which every value is known."""
LISTS = ("tier", "kind", "type", "tag", "status", "speaker", "session", "key", "path")
"""Fields that may be given more than once; one of the values must hold."""
ONCE = ("project", "agent", "user", "since", "until", "valid-at", "as-of")
DATES = ("since", "until", "valid-at")
FIELDS = (*LISTS, *ONCE)

_QUOTES = r'"(?P<{0}a>[^"]*)"|“(?P<{0}b>[^”]*)”|「(?P<{0}c>[^」]*)」|『(?P<{0}d>[^』]*)』'
_TOKEN = regex(
    r"(?<!\S)(?:"
    rf"(?P<no>-)?(?:{_QUOTES.format('q')})"
    rf"|(?P<field>{'|'.join(FIELDS)}):(?:{_QUOTES.format('v')}|(?P<value>[^\s\"“「『]\S*))"
    # Three letters at least: "-v" and "-rf" are options of a command.
    rf"|-(?P<not>(?:[^\W\d_]{{3}}|[{HAN}])[\w-]*\*?)"
    rf"|(?P<begin>(?:[^\W\d_]\w|[{HAN}])[\w-]*)\*"
    r")(?!\S)"
)
# "Did she say "never"?" quotes; without an end mark, quotes ask for the very words.
_SENTENCE = regex(r"[.?!…。？！][)\]）】」』”’\"']?\s*$")


@dataclass(slots=True)
class _Found:
    """What the marks of a line say."""

    lists: dict[str, list[str]] = field(default_factory=dict)
    once: dict[str, Any] = field(default_factory=dict)
    phrases: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)


def parse(line: str, now: datetime, *, limit: int = 10) -> Query:
    """Read a line as a query.

    Args:
        line: what a person or an agent asks.
        now: what relative dates count from.
        limit: most hits.

    Raises:
        UsageError: a field has a value it cannot have; the place is named.
    """
    found, words, at = _Found(), [], 0
    sentence = _is_sentence(line)
    for mark in _TOKEN.finditer(line):
        said = _parse_mark(mark, found, now, sentence=sentence)
        if said is not None:
            words += [line[at : mark.start()], said]
            at = mark.end()
    text = " ".join("".join([*words, line[at:]]).split())
    # "-legacy" alone.
    if found.excluded and not (text or found.lists or found.once):
        # Everything but one thing is no question; the hyphen was part of a word.
        return Query(text=" ".join(line.split()), limit=limit)
    lists: dict[str, Any] = {name: tuple(dict.fromkeys(v)) for name, v in found.lists.items()}
    return Query(
        text=text,
        limit=limit,
        phrases=tuple(dict.fromkeys(found.phrases)),
        excluded=tuple(dict.fromkeys(found.excluded)),
        **lists,
        **{name.replace("-", "_"): value for name, value in found.once.items()},
    )


def check(name: str, values: Iterable[str], place: str) -> tuple[str, ...]:
    """Return the values of a field, which must be ones it can have.

    Raises:
        UsageError: one is not; `place` and the known ones are named.
    """
    found = tuple(values)
    known = CLOSED.get(name)
    for value in found:
        if known and value not in known:
            raise UsageError(f"{place}: there is no {name} {value!r}. Use {_join_choices(known)}.")
    return found


def boundary(name: str, value: str, now: datetime, place: str) -> datetime:
    """Return the moment that a date means: the whole day, week or month counts.

    ``since`` is its first moment, ``until`` the first after it, ``valid-at`` its last.

    Raises:
        UsageError: it is no date.
    """
    found = period(value, now)
    if found is None:
        raise UsageError(
            f"{place}: {value!r} is no date. "
            "Write 2026-02-27, 2026-02-27T09:30, 7d, 'last week' or 上个月."
        )
    if name == "since":
        return found.start
    # At a moment of its own, both ends are the same.
    last = name == "valid-at" and found.end > found.start
    # The end of a day is the first moment of the next: one step back belongs to it still.
    return found.end - timedelta.resolution if last else found.end


def looking_back(day: datetime | date | str, now: datetime) -> datetime:
    """Return the moment at which somebody wants to know what was held to be true.

    Args:
        day: its last moment counts; a time counts as it is, one without a zone in that of now.
        now: what relative dates count from.

    Raises:
        UsageError: it is no date.
    """
    if isinstance(day, datetime):
        return day if day.tzinfo else day.replace(tzinfo=now.tzinfo)
    text = day.isoformat() if isinstance(day, date) else day
    return boundary("valid-at", text, now, "valid_at")


def _is_sentence(line: str) -> bool:
    """Whether a line ends like prose; a line that is one quotation does not."""
    found = _SENTENCE.search(line)
    return found is not None and not _TOKEN.fullmatch(line.strip())


def _parse_mark(mark: re.Match[str], found: _Found, now: datetime, *, sentence: bool) -> str | None:
    """Note what a mark says; return what stays of it as words, None where it is none."""
    name = mark["field"]
    if name:
        return "" if _take_field(mark, found, now, sentence=sentence) else None
    if sentence:
        return None
    if mark["not"]:
        found.excluded.append(mark["not"])
        return ""
    if mark["begin"]:
        found.phrases.append(f"{mark['begin']}*")
        return mark["begin"]
    phrase = _quoted_value(mark, "q").strip()
    if not phrase:
        return ""
    (found.excluded if mark["no"] else found.phrases).append(phrase)
    # A phrase counts as words, too, so that rows which say it are ordered by relevance.
    return "" if mark["no"] else phrase


def _take_field(mark: re.Match[str], found: _Found, now: datetime, *, sentence: bool) -> bool:
    name, value = mark["field"], (mark["value"] or _quoted_value(mark, "v")).strip()
    place = f"{mark[0]!r} at character {mark.start() + 1}"
    if name in CLOSED and not value.replace("-", "").isalpha():
        return False  # status:500 is what a log says
    try:
        if name in ONCE and name in found.once:
            raise UsageError(f"{place}: {name}: stands twice. Give it once.")
        if name in DATES:
            found.once[name] = boundary(name, value, now, place)
        elif name in ONCE:
            found.once[name] = value
        else:
            found.lists.setdefault(name, []).extend(check(name, [value], place))
    except UsageError:
        # "Is status:done set?" is a question, whatever it reminds us of.
        if sentence:
            return False
        raise
    return True


def _quoted_value(mark: re.Match[str], group: str) -> str:
    return next((mark[group + kind] for kind in "abcd" if mark[group + kind] is not None), "")


def _join_choices(known: tuple[str, ...]) -> str:
    return f"{', '.join(known[:-1])} or {known[-1]}"
