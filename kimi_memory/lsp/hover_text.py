"""What is shown of a note or a turn where somebody points at it, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kimi_memory.domain.note import Card, Lang, Note
from kimi_memory.domain.pages import Digest, Event, Project
from kimi_memory.domain.session import Session, Turn, speaker_of
from kimi_memory.jobs.trace import Evidence
from kimi_memory.lsp.vault import Page
from kimi_memory.nlp.basic.patterns import language_of
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone

MOST = 600
"""So many characters of one text are shown."""
_WORDS = {
    "since": ("自", "since"),
    "project": ("项目", "project"),
    "trust": ("来自", "word of a"),
    "replaces": ("取代", "replaces"),
    "replaced": ("被取代", "replaced by"),
    "gone": ("会话不在了", "the session is gone"),
    "stands": ("引文原样在", "the quote stands"),
    "differs": ("引文不在这句话里", "the quote does not stand in its turn"),
    "rests": ("由它得来", "what rests on it"),
    "nothing": ("没有卡片或事件由它得来", "no card or event rests on it"),
    "until": ("到", "until"),
}
# What would begin a block or a link where somebody's words are shown.
_ACTIVE = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>#|~"})


def plain(text: str, most: int = MOST) -> str:
    """Return somebody's words in one line, with nothing in them that Markdown acts on."""
    line = " ".join(text.split())
    return (line if len(line) <= most else f"{line[:most]}…").translate(_ACTIVE)


def _code(text: str) -> str:
    """Return an id as code; what would end the code there, and begin a picture, is left out."""
    return f"`{' '.join(text.replace('`', '').split())}`"


def say(word: str, lang: Lang) -> str:
    """Return a word in a language."""
    return _WORDS[word][lang is not Lang.ZH]


def note_text(
    note: Note, proofs: Sequence[Evidence], zone: Zone, *, replaced_by: Iterable[Page] = ()
) -> str:
    """Return what a note says, whose word it is, what proves it and what replaced it."""
    if not isinstance(note, Card | Event):
        return _page_text(note)
    said = note.value if isinstance(note, Card) else note.content or note.title
    head = [f"**{plain(note.key or note.title)}**", str(note.type), str(note.status)]
    if isinstance(note, Card):
        head.append(f"{note.confidence:.2f}")
    lines = [" · ".join(head), "", plain(said), "", _facts(note, zone)]
    for page in replaced_by:
        shown = plain(page.title or page.key)
        lines += ["", f"**{say('replaced', note.lang)}** {shown} {_code(page.id)}"]
    for one in proofs:
        lines += ["", *_proof_lines(one, note.lang, zone)]
    return "\n".join(lines)


def _facts(note: Card | Event, zone: Zone) -> str:
    begun = (
        (note.valid_from or note.verified or note.created) if isinstance(note, Card) else note.at
    )
    parts = [f"{say('since', note.lang)} {in_zone(begun, zone):%Y-%m-%d}"]
    if isinstance(note, Card) and note.valid_to:
        parts.append(f"{say('until', note.lang)} {in_zone(note.valid_to, zone):%Y-%m-%d}")
    if note.project:
        parts.append(f"{say('project', note.lang)} {plain(note.project)}")
    if isinstance(note, Card):
        parts.append(f"{say('trust', note.lang)} {note.trust}")
    return " · ".join(parts)


def _proof_lines(one: Evidence, lang: Lang, zone: Zone) -> list[str]:
    at = f"session:{one.source.session}#{one.source.first}"
    if not one.path:
        return [f"✗ {say('gone', lang)}: {_code(at)}"]
    mark = "✓" if one.verified or not one.source.quote else "✗"
    why = say("stands" if mark == "✓" else "differs", lang) if one.source.quote else ""
    lines = []
    for turn in one.turns[:3]:
        who = plain(turn.speaker or str(turn.role), 60)
        said = plain(one.quote or turn.text)
        lines.append(f"> {said}  \n> — {who}, {in_zone(turn.at, zone):%Y-%m-%d %H:%M} {_code(at)}")
    return [*lines, "", f"{mark} {why}".strip()]


def _page_text(note: Note) -> str:
    name = getattr(note, "name", "") or getattr(note, "title", "") or note.id
    lines = [f"**{plain(str(name))}** · {note.kind} · {note.status}"]
    if isinstance(note, Digest):
        lines += ["", *(f"- {plain(line.text, 120)}" for line in note.lines[:6])]
    if isinstance(note, Project):
        shown = (*note.state[:2], *note.decisions[-3:])
        lines += ["", *(f"- {plain(line, 120)}" for line in shown)]
    return "\n".join(lines)


def turn_text(turn: Turn, session: Session, zone: Zone, rests: Sequence[Page]) -> str:
    """Return a turn with what rests on it."""
    lang = Lang(language_of(turn.text))
    who = plain(speaker_of(turn, session), 60)
    moved = replace(turn, at=in_zone(turn.at, zone))
    place = _code(f"session:{session.id}#{turn.n}")
    lines = [f"**{who}** {moved.at:%Y-%m-%d %H:%M} {place}", ""]
    lines += [f"> {plain(turn.text)}", ""]
    if not rests:
        return "\n".join([*lines, say("nothing", lang)])
    shown = [
        f"- {plain(page.title or page.path, 120)} · {page.kind} · {page.status}" for page in rests
    ]
    return "\n".join([*lines, f"{say('rests', lang)}:", "", *shown[:12]])
