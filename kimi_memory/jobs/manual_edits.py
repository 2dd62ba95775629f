"""What people wrote by hand: turns of a session of its own, which cards then quote."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count

from kimi_memory.domain.job import Change, Create, digest_of
from kimi_memory.domain.note import HAND, Card, Origin, Quote, Rel, Role, Source
from kimi_memory.domain.session import BY_HAND, Session, Transcript, Turn, in_scope
from kimi_memory.formats.jsonl import archive_path, context_of, end_line, session_line, turn_line
from kimi_memory.formats.session_page import transcript_language, transcript_markdown
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.nlp.rules.relations import repeats_claim


class Hand:
    """The statements of one job that a person wrote, each with the place where it stands.

    Args:
        now: the moment of the job.
        seed: what tells this job from others of the same day. Two copies that take over one
            edit of a page have one seed, and so one session.
        exists: whether a path is taken.
    """

    def __init__(self, now: datetime, seed: str, exists: Callable[[str], bool]) -> None:
        self._now, self._seed, self._exists = now, seed, exists
        self._turns: dict[str, list[Turn]] = {}
        self._sessions: dict[str, Session] = {}

    def proved(self, card: Card, value: str, where: str) -> Card:
        """Return a card that says a value, and rests on the person's own words for it.

        Earlier words that say otherwise stay, as evidence against it: read again, they
        must not open a dispute that is settled.

        Args:
            card: as it was before.
            value: what the person wrote.
            where: path and line, or what else tells where that stands.
        """
        quote = self._add_quoted_turn(value, where, card.scope)
        same = value == card.value
        against = {q.hash for q in card.quotes if not same and not _has_same_meaning(q.text, value)}
        sources = (
            replace(source, rel=Rel.CONTRADICTS) if source.quote in against else source
            for source in card.sources
        )
        own = Source.from_quote(quote, Rel.SUPPORTS if same else Rel.UPDATES)
        return replace(card, value=value, sources=(*sources, own), quotes=(*card.quotes, quote))

    def changes(self) -> Iterator[Change]:
        """Yield the changes that file what was written."""
        for scope, turns in self._turns.items():
            yield from archive(self._find_session(scope), turns, self._now)

    def _find_session(self, scope: str) -> Session:
        """Return the session of what was written of one scope; it is of that scope, too."""
        if scope not in self._sessions:
            drawn = (self._build_session(scope, more) for more in count())
            free = (one for one in drawn if not self._exists(archive_path(one)))
            self._sessions[scope] = next(free)
        return self._sessions[scope]

    def _build_session(self, scope: str, more: int) -> Session:
        own = [scope] if scope else []
        again = [str(more)] if more else []  # The same edit, made again on the same day.
        mark = digest_of([self._seed, *own, *again])[:10]
        session = Session(
            f"{HAND}{self._now:%Y%m%d}-{mark}", self._now, host=BY_HAND, title="by hand"
        )
        return in_scope(session, scope) if scope else session

    def _add_quoted_turn(self, text: str, where: str, scope: str) -> Quote:
        turns = self._turns.setdefault(scope, [])
        n = len(turns) + 1
        turn = Turn(n, self._now, Role.USER, text, origin=Origin.HUMAN, importance=0.9, ref=where)
        turns.append(turn)
        return Quote(self._find_session(scope).id, n, text)


def archive(session: Session, turns: Sequence[Turn], now: datetime) -> Iterator[Change]:
    """Yield the changes that file a session which nobody has to distil; none without turns."""
    if not turns:
        return
    lines, context = [session_line(session)], ""
    chained = []
    for turn in turns:
        chained.append(replace(turn, context=context))
        lines.append(turn_line(chained[-1]))
        context = context_of(context, lines[-1])
    lines.append(end_line(now))
    path = archive_path(session)
    transcript = Transcript(session, tuple(chained), ended=now)
    page = transcript_markdown(transcript, transcript_language(transcript))
    yield Create(path, b"".join(lines))
    yield Create(f"{path.removesuffix('.jsonl')}.md", page.encode())


def _has_same_meaning(words: str, value: str) -> bool:
    """Whether earlier words say what a value says."""
    said, wanted = normalise(words), normalise(value)
    return said in wanted or wanted in said or repeats_claim(words, value)
