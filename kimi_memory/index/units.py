"""Units read from files (turns, cards, events, chunks of pages), and their words.

A card or an event is one unit; other notes lend their head to their chunks.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from kimi_memory.domain.graph import links_of, mentioned
from kimi_memory.domain.note import Card, Note, Origin, Status, least_trusted
from kimi_memory.domain.pages import Digest, Event, Project, Proposal
from kimi_memory.domain.search_types import Chunk, ChunkSizes, Query, Unit
from kimi_memory.domain.session import owned, root_of, scope_of
from kimi_memory.errors import FormatError, KimiMemoryError
from kimi_memory.formats import codec
from kimi_memory.formats.body_layout import unlinked
from kimi_memory.formats.card_form import Head
from kimi_memory.formats.frontmatter import FrontMatter, decode, read
from kimi_memory.formats.jsonl import parts_of, read_transcript_lines, unseal
from kimi_memory.hooks.host import Host
from kimi_memory.index.files import Files
from kimi_memory.nlp.basic.patterns import PATTERNS, regex
from kimi_memory.nlp.dates.date_terms import date_words, day_words
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone, mark_of
from kimi_memory.nlp.rules.synonyms import Table, dump_tables, lists_mark, load_tables, tables
from kimi_memory.store.files.paths import TIERS
from kimi_memory.store.notes.notes import card_rank, card_section, is_shown
from kimi_memory.store.reading import Served

# A title is a few words for a whole page, and longer pages drown them.
TITLE_WEIGHT = 2
"""How often more a word of a title or heading counts than one of the text."""
ASKS = "a:asks"
"""Word of the turns that end with a question."""

# "Where did Anna move? [photo of a house]": pictures are described in brackets behind the text.
_NOTE = regex(r"(?<!\s)\s*+\[[^\[\]]{0,400}\]\s*+$")
_PROBED = datetime(2026, 3, 4, tzinfo=UTC)
# Whatever splitters treat differently: an apostrophe, a version, both scripts of Chinese, an
# accent.
_PROBE = (
    "The deploy script's retries failed on 2026-03-01; Alice chose PostgreSQL 16.2 over MySQL. "
    "上周五我们决定换成 PostgreSQL，因为并发写入太慢；資料庫已經遷移，遊戲復原。 "
    "user_id=42 e-mail café"
)

# By fingerprint: a process that opens many memories makes them once.
_MADE: dict[str, tuple[Table, ...]] = {}


class Words:
    """Splits texts the way this memory's plugins do.

    Args:
        host: the plugins.
        zone: the zone of the days on which something was said.
        sizes: of the chunks that words are taken from.
    """

    def __init__(self, host: Host, zone: Zone = UTC, sizes: ChunkSizes | None = None) -> None:
        self._host, self._zone = host, zone
        self._sizes = "" if sizes in (None, ChunkSizes()) else str(sizes)
        self.kept: Path | None = None
        """The file of an index of these very words that has their synonyms; see `keep_synonyms`."""

    @cached_property
    def synonyms(self) -> tuple[Table, ...]:
        """Words that others may stand for; the same for every view, as long as the plugins are."""
        try:
            content = self.kept.read_bytes() if self.kept else b""
        except OSError:
            content = b""  # Older indexes have none, and the next build removes a folder.
        return load_tables(content) or self._make_synonyms()

    def _make_synonyms(self) -> tuple[Table, ...]:
        mark = self.fingerprint
        if mark not in _MADE:
            # A small memory has no index to keep them: they lie beside the compiled patterns,
            # which need as little of a memory as they do.
            key = (f"synonyms of {mark}", lists_mark(), 0)
            content = PATTERNS.compute_once(key, lambda: dump_tables(tables(self.split)))
            _MADE[mark] = load_tables(content)
        return _MADE[mark]

    def keep_synonyms(self, path: Path) -> None:
        """Write the synonyms to a file, unless it holds them: to make them takes 1,400 splits."""
        content = dump_tables(self.synonyms)
        if not path.is_file() or path.read_bytes() != content:
            path.unlink(missing_ok=True)  # It may be a link into the index before this one.
            path.write_bytes(content)

    @property
    def fingerprint(self) -> str:
        """A hash that changes when the same text would yield other words, or other chunks."""
        found = [*self.split(_PROBE), *date_words(_PROBE, _PROBED), str(TITLE_WEIGHT), ASKS]
        # The day of a turn depends on it: 23:30 in Berlin is another day in Shanghai.
        found += [mark] if (mark := mark_of(self._zone)) else []
        found += [self._sizes] if self._sizes else []
        return hashlib.sha256("\0".join(found).encode()).hexdigest()[:16]

    def split(self, text: str) -> list[str]:
        """Return the words of a text, with repeats."""
        return list(self._host.answer("split_words", text=text) or ())

    def of_unit(self, unit: Unit) -> list[str]:
        """Return the words of a unit: text, speaker, dates, and its title with more weight."""
        words = self.split(unit.text)
        if unit.speaker:
            words += self.split(unit.speaker)
        if unit.title:
            words += self.split(unit.title) * TITLE_WEIGHT
        known = set(words)
        # Once each: a day that stands in the text already must not count twice.
        words += [word for word in _find_date_words(unit, self._zone) if word not in known]
        return [*words, ASKS] if unit.kind == "turn" and _is_question(unit.text) else words

    def of_query(self, query: Query, now: datetime) -> list[str]:
        """Return the words a question asks for, each once, in their order."""
        words = self.split(query.text)
        for further in self._host.gather("expand_query", query=query, now=now):
            words += further
        return list(dict.fromkeys(words))


def _is_question(text: str) -> bool:
    """Whether a text ends with a question; a remark in brackets after it does not count."""
    return _NOTE.sub("", text).rstrip("\"'”’」』)）~ \n").endswith(("?", "？"))


def _find_date_words(unit: Unit, zone: Zone) -> list[str]:
    """Return the day a turn was said on, and the days it speaks of."""
    at = None if unit.at is None else in_zone(unit.at, zone)
    said = date_words(unit.text, at)
    if unit.kind != "turn" or at is None:
        return said
    return list(dict.fromkeys([*day_words(at), *said]))


Split = Callable[[str], list[Chunk]]

_OVER = frozenset({Status.SUPERSEDED, Status.ARCHIVED})
_HELD = frozenset({str(Status.ACTIVE), str(Status.STALE), str(Status.CONFLICTED)})
# "- Anna lives in Bern (2026-02-27, 0.90) ^card-01hx", as on MEMORY.md and pages of people.
_REPEAT = re.compile(r"^.* \^(?:card|turn|project)-[0-9a-z-]+[ \t]*$", re.MULTILINE)


def tier_of(path: str) -> str:
    """Return the tier a path lies in, ``page`` outside of all."""
    head = path.partition("/")[0]
    return head if head in TIERS else "page"


def read_note(path: str, text: str, matter: FrontMatter) -> list[Unit] | dict[str, Any]:
    """Return the units of a note, or what its head says of every chunk of its body.

    Args:
        path: of its file.
        text: of its file.
        matter: the front matter of the text.

    Raises:
        FormatError: the note cannot be parsed.
    """
    note = codec.build_note(matter, path)
    match note:
        case Card():
            return [_card_unit(note, path, text)]
        case Event():
            return [_event_unit(note, path, text)]
        case Digest():
            return []  # It repeats turns, and those are units themselves.
        case Proposal():
            return []  # It repeats a card, and nobody has said yes to more.
    project = note.name if isinstance(note, Project) else getattr(note, "project", "")
    shared = _shared_fields(note, "")
    # By its path, which the chunk brings along.
    del shared["tier"]
    return {
        **shared,
        "project": project,
        "agent": getattr(note, "name", "") if note.kind == "agent" else "",
        "type": str(getattr(note, "type", "")),
        "importance": float(getattr(note, "importance", 0.5)),
        "trust": _default_trust(note),
    }


def _card_unit(card: Card, path: str, text: str) -> Unit:
    head = Head.of(card)
    links = (*links_of(card), *mentioned(text, [link.to for link in card.links]))
    order, weight, _ = card_rank(head)
    # What has expired is not so any more, whatever else would end it.
    ends = [end for end in (card.valid_to, card.expires) if end is not None]
    return Unit(
        confidence=card.confidence,
        importance=card.importance,
        trust=str(card.trust),
        valid_from=card.valid_from or card.created,
        valid_to=min(ends, default=None),
        temperature=card.temperature,
        links=tuple(map(str, links)),
        lang=str(card.lang),
        section=str(card_section(head)) if is_shown(head) else "",
        order=float(order),
        weight=float(weight),
        since=head.since,
        over=tuple(dict.fromkeys(quote.session for quote in card.quotes if card.status in _OVER)),
        **_unit_fields(card, path, text),
    )


def _event_unit(event: Event, path: str, text: str) -> Unit:
    return Unit(
        importance=event.importance,
        trust=_default_trust(event),
        links=tuple(map(str, mentioned(text, ()))),
        **_unit_fields(event, path, text),
    )


def _unit_fields(note: Card | Event, path: str, text: str) -> dict[str, Any]:
    """Return what is known of a note that is a unit as a whole."""
    return {
        **_shared_fields(note, path),
        "id": note.id,
        "path": path,
        "first": 1,
        "last": max(1, len(text.splitlines())),
        # Without its quotes: they are turns, which are units of their own.
        "text": "\n".join(filter(None, note.body_texts)),
        "title": note.title,
        "type": str(note.type),
        "key": note.key,
        "project": note.project,
        **owned(note.scope),
    }


def _default_trust(note: Note) -> str:
    """Return whose word a note without evidence of its own is: jobs write all but identity."""
    return "human" if note.kind == "identity" else "agent"


def _shared_fields(note: Note, path: str) -> dict[str, Any]:
    at = getattr(note, "at", None)
    return {
        "kind": note.kind,
        "tier": tier_of(path),
        "at": at if isinstance(at, datetime) else note.updated,
        "status": str(note.status),
        "tags": note.tags,
    }


def read_units(path: str, content: bytes, split: Split) -> list[Unit]:
    """Return the units of a file in order of their lines.

    Raises:
        FormatError: the file cannot be parsed.
    """
    if path.endswith(".jsonl"):
        lines = content.splitlines(keepends=True)
        # Nearly always; a second header comes from a merge line by line.
        if content.count(b'"kind":"session"') < 2:
            return list(_turns_of(path, lines, 1))
        return [u for part in parts_of(lines) for u in _turns_of(path, part.lines, part.first)]
    if path.startswith("review/skills/"):
        return []  # Nobody has said yes to these procedures.
    text = decode(content, path)
    matter = read(text, path)
    kind = str(matter.values.get("kind", ""))
    if matter.values.get("id") and kind:
        found = read_note(path, text, matter)
        if isinstance(found, list):
            return found
        head = {**found, **_page_owner(matter.values)}
    else:
        # A page without an id may only lower its trust.
        trust, agent = matter.values.get("trust"), matter.values.get("agent")
        claims = {"trust": trust} if trust in tuple(Origin) else {}
        claims |= {"agent": agent} if isinstance(agent, str) else {}
        head = {"kind": "page", **claims, **_page_owner(matter.values)}
    # Pages repeat cards and turns line by line; the card or the turn itself is the unit.
    told = unlinked(matter.body)
    body = _REPEAT.sub("", told)
    shift = matter.first_body_line - 1
    chunks = [chunk for chunk in split(body) if _says_something(chunk, body != told)]
    return [_chunk_unit(chunk, path, shift, head) for chunk in chunks]


def _page_owner(values: Mapping[str, Any]) -> dict[str, str]:
    """Return whose a page is, where it says so."""
    scope = values.get("scope")
    return owned(scope) if isinstance(scope, str) and scope.strip() else {}


def _says_something(chunk: Chunk, thinned: bool) -> bool:
    """Whether a chunk has text; headings alone do not where lines were taken out."""
    lines = [line for line in chunk.text.splitlines() if line.strip()]
    return bool(lines) and not (thinned and all(line.startswith("#") for line in lines))


def _turns_of(path: str, lines: list[bytes], start: int) -> Iterator[Unit]:
    """Yield the turns of one session, whose lines begin at one of the file."""
    transcript = read_transcript_lines(lines, path)
    session = transcript.session
    common: dict[str, Any] = {
        "kind": "turn",
        "tier": tier_of(path),
        "path": path,
        "session": root_of(session),
        "project": session.project,
        "agent": session.agent,
        "user": session.user,
        "scope": scope_of(session),
    }
    records = (number for number, line in enumerate(lines, start) if _is_turn(line))
    for turn, line in zip(transcript.turns, records, strict=False):
        yield Unit(
            id=f"session:{session.id}#{turn.n}",
            first=line,
            last=line,
            text=turn.text,
            n=turn.n,
            speaker=turn.speaker,
            role=str(turn.role),
            at=turn.at,
            tags=turn.tags,
            importance=turn.importance,
            trust=str(turn.origin),
            **common,
        )


_SEALED = b'{"kind":"turn",'


def _is_turn(line: bytes) -> bool:
    # As we write it; only lines of another form are parsed.
    if line.startswith(_SEALED):
        return True
    if b"turn" not in line:
        return False

    try:
        return unseal(line).get("kind") == "turn"
    except (ValueError, RecursionError):
        # A torn line is no turn; the reader of the session counts it.
        return False


def _chunk_unit(chunk: Chunk, path: str, shift: int, head: dict[str, Any]) -> Unit:
    first = chunk.first + shift
    return Unit(
        id=f"{path}#L{first}",
        tier=tier_of(path),
        path=path,
        first=first,
        last=chunk.last + shift,
        text=chunk.text,
        title=" / ".join(chunk.trail),
        **head,
    )


def guard(path: str, content: bytes, split: Split) -> tuple[list[Unit], FormatError | None]:
    """Return the units of a file, or none and what is wrong with it."""
    try:
        return read_units(path, content, split), None
    except FormatError as error:
        # One broken file must not keep all others from being found.
        return [], error


def served_units(path: str, served: Served, split: Split) -> tuple[list[Unit], FormatError | None]:
    """Return the units of a file as agents get it; what waits is marked as a candidate."""
    units, fault = guard(path, served.content, split)
    return capped_units(units, served), fault


def served_note(files: Files, path: str) -> Note | None:
    """Return the note in a file as agents get it; None for a broken note or another file."""
    # A file that is gone or broken shows nothing; that is no reason to fail a question.
    with suppress(OSError, KimiMemoryError):
        return codec.parse(decode(files.served(path).content, path), path)
    return None


def capped_units(units: list[Unit], served: Served) -> list[Unit]:
    """Return units that are trusted no more than their file, or their line in it, is."""
    if served.unseen:
        lines = [b"", *served.content.splitlines(keepends=True)]
        return [
            _cap_unit(unit, Origin.REMOTE) if lines[unit.first] in served.unseen else unit
            for unit in units
        ]
    cap = served.cap
    if cap is Origin.AGENT and not served.candidate:
        return []  # A page, such as IDENTITY.md, cannot say of itself that it waits.
    return units if cap is None else [_cap_unit(unit, cap) for unit in units]


def _cap_unit(unit: Unit, cap: Origin) -> Unit:
    # A word that is no origin counts for nothing: the cap alone holds.
    known = [Origin(unit.trust)] if unit.trust in tuple(Origin) else []
    doubted = unit.kind != "turn" and unit.status in _HELD
    status = str(Status.CANDIDATE) if doubted else unit.status
    capped = replace(unit, trust=str(least_trusted([*known, cap])), status=status)
    # Nobody has said yes to it: at the start of a session it counts for nothing, but for a
    # statement that says of itself that it waits.
    waits = unit.status == Status.CANDIDATE
    return capped if waits else replace(capped, lang="", section="", over=())


def passage(unit: Unit) -> str:
    """Return the text of a unit as a model should see it: day, speaker, title, words."""
    head = [f"{unit.at:%Y-%m-%d}" if unit.at else "", unit.speaker, unit.title]
    return "\n".join([*(" ".join(part for part in head if part),), unit.text]).strip()
