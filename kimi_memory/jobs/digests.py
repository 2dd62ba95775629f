"""Digests of sessions: made when a session is distilled, cut when words are forgotten."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import cast

from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import Lang, Quote, Role, Source, Status
from kimi_memory.domain.pages import Digest, DigestLine, Part
from kimi_memory.domain.session import Transcript, scope_of, speaker_of
from kimi_memory.hooks.host import Host
from kimi_memory.jobs.gates import DraftGate
from kimi_memory.llm.proposals.proof import is_written
from kimi_memory.nlp.basic.markdown import EMPHASIS, LINK
from kimi_memory.nlp.basic.patterns import bare, regex
from kimi_memory.nlp.rules.gist import close_arrows
from kimi_memory.nlp.rules.strip_code import headline
from kimi_memory.store.notes.notes import Shelf

_JOINTS = regex(r" (?:…|→|/) ")
"""What a line sets between the words it quotes."""
_SIGNS = regex(r"^[^\w\s`\"“「《(（]+\s*")
"""Signs before the first word, which make no title."""
_WORD = regex(r"[^\W\d_]{2,}")


def digest_step(
    transcript: Transcript, host: Host, gate: DraftGate, lang: Lang, now: datetime
) -> Step | None:
    """Return the step that files the digest of a session; None where nothing is worth a line.

    Args:
        transcript: the session.
        host: asked for the lines.
        gate: holds back lines with secrets or with what was forgotten.
        lang: the language of the labels.
        now: the moment of the job.
    """
    answer = host.answer("digest_session", transcript=transcript)
    proposed = cast("list[DigestLine]", answer or [])  # what the hook's annotation says
    session = transcript.session
    scopes = {"memory", f"project:{session.project}", f"session:{session.id}", scope_of(session)}
    lines = [
        _with_day(line, transcript)
        for line in proposed
        if (is_quoted(line, transcript) or is_written(line, transcript))
        and not gate.line_objection(line.text, scopes)
    ]
    if not lines:
        return None
    turns = transcript.turns
    digest = Digest(
        id=derived_id("digest", session.started, session.id),
        created=now,
        updated=now,
        sources=(Source(session.id, turns[0].n, turns[-1].n),),
        lang=lang,
        title=_choose_title(transcript, lines),
        session=session.id,
        at=session.started,
        participants=_list_participants(transcript),
        lines=tuple(lines),
        project=session.project,
        scope=scope_of(session),
    )
    return Step(Op.ADD, digest, f"{len(lines)} lines of {len(turns)} turns")


def _with_day(line: DigestLine, transcript: Transcript) -> DigestLine:
    """Return a line with the day of its last turn, where its session began on another day."""
    said = next((turn.at for turn in reversed(transcript.turns) if turn.n <= line.last), None)
    began = transcript.session.started.date()
    day = "" if said is None or said.date() == began else said.date().isoformat()
    return replace(line, day=day)


def is_quoted(line: DigestLine, transcript: Transcript) -> bool:
    """Whether all words of a line stand in the turns it names."""
    turns = [turn.text for turn in transcript.turns if line.first <= turn.n <= line.last]
    plain = [LINK.sub(r"\1", EMPHASIS.sub("", text)) for text in turns]
    texts = [*turns, *(EMPHASIS.sub("", text) for text in turns), *plain]
    texts += [close_arrows(text) for text in texts]
    pieces = [piece for piece in _JOINTS.split(line.text) if piece.strip()]
    return bool(pieces) and all(
        any(Quote("", 0, piece).stands_in(text) for text in texts) for piece in pieces
    )


def cut_digests(
    shelf: Shelf, lost: Callable[[str, DigestLine], bool], now: datetime
) -> Iterator[Step]:
    """Yield the digests that lose lines; one that loses all of them is archived.

    Args:
        shelf: the notes as they are.
        lost: tells which lines of which session go.
        now: the moment of the job.
    """
    for filed in shelf.notes(Digest.kind):
        digest = filed.note
        if not isinstance(digest, Digest) or digest.status is Status.ARCHIVED:
            continue
        gone = [line for line in digest.lines if lost(digest.session, line)]
        if not gone:
            continue
        rest = tuple(line for line in digest.lines if line not in gone)
        if not rest:
            old = replace(digest, status=Status.ARCHIVED, updated=now)
            yield Step(Op.FORGET, old, "all of it is forgotten")
            continue
        title = digest.title
        if any(title.rstrip("…") in line.text for line in gone):
            title = _make_headline(rest)
        new = replace(digest, lines=rest, title=title, updated=now)
        yield Step(Op.REFINE, new, f"{len(gone)} lines are forgotten")


def lines_about(
    sessions: Collection[str], turns: Collection[tuple[str, int]], words: Iterable[str]
) -> Callable[[str, DigestLine], bool]:
    """Return what tells the lines of some sessions, of some turns, or with some words.

    Args:
        sessions: ids of sessions of which every line goes.
        turns: session id and number of turns whose lines go.
        words: texts; a line that holds one of them goes, and one that is part of one.
    """
    parts = [part for text in words if (part := bare(text))]

    def lost(session: str, line: DigestLine) -> bool:
        if session in sessions:
            return True
        if any((session, n) in turns for n in range(line.first, line.last + 1)):
            return True
        text = bare(line.text)
        return any(part in text or (text and text in part) for part in parts)

    return lost


def _choose_title(transcript: Transcript, lines: Iterable[DigestLine]) -> str:
    if len(_WORD.findall(transcript.session.title)) > 1:
        return transcript.session.title
    return _make_headline(lines)


def _make_headline(lines: Iterable[DigestLine]) -> str:
    order = list(Part)
    best = min(lines, key=lambda line: (order.index(line.part), line.first))
    words = _JOINTS.split(best.text)[0]
    return headline(_SIGNS.sub("", words) or words)


def _list_participants(transcript: Transcript) -> tuple[str, ...]:
    session = transcript.session
    spoken = (turn for turn in transcript.turns if turn.role in (Role.USER, Role.ASSISTANT))
    return tuple(dict.fromkeys(speaker_of(turn, session) for turn in spoken))
