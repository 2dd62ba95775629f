"""One memory lived through labelled sessions, and the notes that came of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.gold.matching import fold
from benchmarks.gold.sessions import GoldSession, GoldTurn
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.errors import KimiMemoryError
from kimi_memory.formats.codec import parse
from kimi_memory.hooks.host import Host

Place = tuple[str, str]
"""A session and a turn, by the ids of the labels."""

LIVE = frozenset({"active", "stale"})
MANY = 4
"""An event that quotes more turns is a digest: judged line by line."""
UNDATED = datetime(2025, 1, 1, tzinfo=UTC)
_PAUSE, _TURN, _END = timedelta(minutes=10), timedelta(seconds=40), timedelta(minutes=1)
_OWN = ("title", "value", "applies", "usage", "caveats", "content", "outcome", "lesson")
_PAGES = frozenset({"overview", "category", "entity", "conflict"})
"""Kinds of pages whose lines only repeat notes."""

_FRONT = re.compile(r"\ufeff?---\r?\n(.*?)\r?\n---\r?\n?(.*)", re.S)
_SESSION = r"session[:_]([A-Za-z0-9][A-Za-z0-9._-]*"
_CITED = re.compile(
    _SESSION + r"?)(?:\]\])?(?:\|[^\]]*\]\])?\s*#(?:\^t)?(\d+)(?:-(\d+))?",
)
_NAMED = re.compile(_SESSION + ")")
_NUMBERED = re.compile(r"(?<![\w/:])#(\d+)(?:[-–](\d+))?")
_QUOTED = re.compile(rf"((?:^> ?.*\n?)+)\s*^[—–-]+ .*?{_SESSION})\]\]\s*#(\d+)", re.M)
_LISTED = re.compile(r"\s*(?:[-*+]|\d+\.) ")


@dataclass(slots=True)
class Clock:
    """A clock that the sessions set."""

    now: datetime

    def __call__(self) -> datetime:
        """Return the moment of the sessions."""
        return self.now


@dataclass(slots=True)
class Note:
    """A card, an event, or a line of a page that names turns."""

    kind: str
    status: str
    type: str
    own: str
    """What it says itself."""
    quotes: list[tuple[Place, str]]
    text: str = ""
    """Its whole file."""
    id: str = ""
    near: frozenset[Place] = frozenset()
    """Items, by session and id, of whose evidence it quotes a turn."""
    holds: frozenset[Place] = frozenset()
    """Those of them whose words stand in it."""
    holds_own: frozenset[Place] = frozenset()
    hits: list[Place | tuple[str, str]] = field(default_factory=list)
    """Turn and text of what it quotes that only looks like knowledge."""
    proven: bool = False
    """Whether it quotes evidence of any item."""

    @property
    def live(self) -> bool:
        """Whether it is held to be true."""
        return self.status in LIVE

    @property
    def bad(self) -> bool:
        """Whether it keeps what only looks like knowledge, and no item."""
        return bool(self.hits) and not self.holds

    @property
    def supported(self) -> bool:
        """Whether it is about evidence and not bad."""
        return self.proven and not self.bad


class Lived:
    """A memory that lived through the labelled sessions of one corpus.

    Args:
        set: the set of sessions it belongs to.
        corpus: its name.
        sessions: they stand in time, whatever order they are given in.
        folder: where it is written.
    """

    def __init__(
        self, set: str, corpus: str, sessions: Sequence[GoldSession], folder: Path
    ) -> None:
        self.set, self.name = set, f"{set}/{corpus}"
        self.sessions = sorted(sessions, key=lambda one: one.turns[0].at or UNDATED)
        self.texts: dict[Place, str] = {}
        self.speakers: dict[Place, str] = {}
        self._stored: dict[tuple[str, int], Place] = {}
        first = self.sessions[0].turns[0].at or UNDATED + timedelta(hours=10)
        self._clock, self.root = Clock(first - timedelta(minutes=5)), folder / "memory"
        opening = Opening(
            home=Home(folder / "config", folder / "state"),
            clock=self._clock,
            host=Host(entry_points=False),
            background=False,
        )
        Memory.create(self.root, opening=opening).close()
        _without_git(self.root / "memory.toml")
        self.memory = Memory.open(self.root, opening)
        self._live()
        self.notes = list(self._read())

    @property
    def turn_count(self) -> int:
        """How many turns were spoken."""
        return sum(len(one.turns) for one in self.sessions)

    def items(self) -> Iterator[tuple[GoldSession, Mapping[str, Any]]]:
        """Yield what a careful reader would keep, with its session."""
        for one in self.sessions:
            for item in one.labels["remember"]:
                yield one, item

    def nevers(self) -> Iterator[tuple[GoldSession, Mapping[str, Any]]]:
        """Yield what only looks like knowledge, with its session."""
        for one in self.sessions:
            for never in one.labels["never"]:
                yield one, never

    @cached_property
    def past(self) -> frozenset[str]:
        """The items, as session/id, whose value a later item changes."""
        replaced = ((one.id, item.get("replaces")) for one, item in self.items())
        return frozenset(old if "/" in old else f"{id}/{old}" for id, old in replaced if old)

    def needed(self, session: str, item: Mapping[str, Any]) -> list[str]:
        """Return the words an item needs; the name of its speaker only if it is all there is."""
        speakers = {fold(self.speakers.get((session, turn), "")) for turn in item["evidence"]}
        rest = [one for one in item["must_words"] if fold(one) not in speakers - {""}]
        return rest or item["must_words"]

    def owner(self, session: str, item: Mapping[str, Any]) -> str:
        """Return the name that a note of an item needs where several people talk."""
        names = {name for (id, _), name in self.speakers.items() if id == session and name}
        first = item["holder"].split()[0]
        return first if len(names) > 1 and first in names else ""

    def turn_ids(self) -> dict[str, Place]:
        """Return the turns of the labels by the ids that recall gives them."""
        return {f"session:{id}#{n}": place for (id, n), place in self._stored.items()}

    # The life

    def _live(self) -> None:
        day: date | None = None
        for number, one in enumerate(self.sessions):
            at = one.turns[0].at or self._clock.now + timedelta(days=1)
            if day and at.date() != day:
                self._close_day(day, at.date())
            self._clock.now = max(at, self._clock.now + _PAUSE)
            self._hold_session(one, number)
            day = self._clock.now.date()
        if day:
            self._close_day(day, None)

    def _hold_session(self, one: GoldSession, number: int) -> None:
        slug = re.sub(r"[^A-Za-z0-9]+", "-", one.id).strip("-").lower()[:48]
        handle = self.memory.session(f"g{number:03d}-{slug}", **one.header)
        for turn in one.turns:
            place = one.id, turn.id
            self.texts[place], self.speakers[place] = turn.text, turn.speaker
            later = turn.at and turn.at > self._clock.now
            self._clock.now = turn.at if turn.at and later else self._clock.now + _TURN
            if stored := self._say(handle, turn):
                self._stored[handle.id, stored] = place
        self._clock.now += _END
        handle.end()

    def _say(self, handle: Any, turn: GoldTurn) -> int:
        """Store a turn; return its number, 0 where nothing of it is kept."""
        said = {"speaker": turn.speaker, "at": self._clock.now}
        try:
            stored = handle.turn(turn.role, turn.text, origin=turn.origin, **said)
        except ValueError:  # a role or an origin that the product does not know
            role = turn.role if turn.role in ("assistant", "tool") else "user"
            stored = handle.turn(role, turn.text, **said)
        return stored.n if stored else 0

    def _close_day(self, day: date, following: date | None) -> None:
        night = datetime.combine(day, time(23, 30), UTC)
        self._clock.now = max(self._clock.now + timedelta(minutes=5), night)
        self.memory.consolidate("daily", day)
        sunday = day + timedelta(days=6 - day.weekday())
        if following is None or following > sunday:
            evening = datetime.combine(sunday, time(23, 45), UTC)
            self._clock.now = max(self._clock.now, evening)
            self.memory.consolidate("weekly", sunday)

    # What came of it

    def _read(self) -> Iterator[Note]:
        for path in sorted(self.root.rglob("*.md")):
            short = path.relative_to(self.root)
            hidden = any(part.startswith(".") for part in short.parts)
            if hidden or short.parts[0] in ("review", "conflicts"):
                continue
            text = path.read_text("utf-8", "replace")
            members, body = _front(text)
            kind = str(members.get("kind") or "")
            if kind in ("card", "event"):
                note = self._note(text, str(short))
                digest = kind == "event" and len(note.quotes) > MANY
                yield from self._lines(path, members, body) if digest else [note]
            elif kind not in _PAGES and short.parts[0] != "semantic":
                yield from self._lines(path, members, body)

    def _note(self, text: str, path: str) -> Note:
        members, body = _front(text)
        status = str(members.get("status") or "active")
        try:
            note: Any = parse(text, path)
            quotes = [(quote.session, int(quote.n), quote.text) for quote in note.quotes]
            own = "\n".join(str(getattr(note, name)) for name in _OWN if getattr(note, name, ""))
            status = str(note.status)
        except (KimiMemoryError, AttributeError):  # a note that a person made odd
            quoted = _QUOTED.findall(body)
            quotes = [(id, int(n), re.sub(r"^> ?", "", q, flags=re.M)) for q, id, n in quoted]
            own = re.split(r"^## (?:Evidence|证据)", body, flags=re.M)[0]
        for source in members.get("sources") or ():
            for id, first, last in _CITED.findall(source):
                known = {(session, n) for session, n, _ in quotes}
                run = range(int(first), int(last or first) + 1)
                quotes += [(id, n, "") for n in run if (id, n) not in known]
        placed = [(self._stored[s, n], said) for s, n, said in quotes if (s, n) in self._stored]
        kind, type = str(members["kind"]), str(members.get("type") or "")
        return Note(kind, status, type, own, placed, text, str(members.get("id") or ""))

    def _lines(self, path: Path, members: Mapping[str, Any], body: str) -> Iterator[Note]:
        """Yield the list items of a page that name turns, up to its transcript."""
        session = self._session_of(path, members)
        for line in body.splitlines():
            if line.startswith("### #"):
                return
            if not _LISTED.match(line):
                continue
            cited = _CITED.findall(line)
            if session:
                rest = _CITED.sub("", line)
                cited += [(session, first, last) for first, last in _NUMBERED.findall(rest)]
            turns = [
                (id, n)
                for id, first, last in cited
                for n in range(int(first), int(last or first) + 1)
            ]
            places = [self._stored[turn] for turn in turns if turn in self._stored]
            if places:
                yield Note("digest", "active", "", line, [(place, "") for place in places], line)

    def _session_of(self, path: Path, members: Mapping[str, Any]) -> str:
        """Return the session that a page is about, if it is about one."""
        if own := re.match(r"session_(.+)\.md$", path.name):
            return own[1]
        named = {id for source in members.get("sources") or () for id in _NAMED.findall(source)}
        return named.pop() if len(named) == 1 else ""


def _without_git(settings: Path) -> None:
    text = settings.read_text("utf-8")
    if "[history]" not in text:
        settings.write_text(f"{text}\n[history]\ngit = false\n", "utf-8")


def _front(text: str) -> tuple[dict[str, Any], str]:
    """Return the members at the head of a page, lists only where each item has a line."""
    found = _FRONT.match(text)
    if not found:
        return {}, text
    members: dict[str, Any] = {}
    key = ""
    for line in found[1].splitlines():
        if (item := re.match(r"\s+- (.*)", line)) and key:
            if isinstance(members.setdefault(key, []), list):
                members[key].append(item[1].strip("\"'"))
        elif pair := re.match(r"([\w-]+):\s*(.*)", line):
            key = pair[1]
            members[key] = pair[2].strip("\"'") or []
    return members, found[2]
