"""Open to-dos of check lists become task cards, and so lines of the project page.

Why it exists: a list with boxes is the one form in which people say plainly what is
still to be done; it works in every language. Ticked items are finished-task detail
and are not kept. It wraps the distiller, whichever that is.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from kimi_memory import hookimpl
from kimi_memory.model.card import CardType
from kimi_memory.model.draft import Draft
from kimi_memory.model.note import Lang
from kimi_memory.model.origin import Origin
from kimi_memory.model.session import Transcript
from kimi_memory.model.source import Quote
from kimi_memory.model.turn import Turn
from kimi_memory.text.language import language_of
from kimi_memory.text.normal import normalise
from kimi_memory.text.regex import regex
from kimi_memory.text.slug import slug

_BOX = regex(r"^[^\S\n]*[-*+] \[( |x|X)\] +(\S.{1,200}?)[^\S\n]*$", re.MULTILINE)
_TRUSTED = {Origin.HUMAN, Origin.AGENT}


@hookimpl(wrapper=True)
def distil_session(
    transcript: Transcript,
) -> Generator[None, list[Draft] | None, list[Draft] | None]:
    """Add the to-dos that are open at the end of the session to what was distilled."""
    drafts = yield
    return None if drafts is None else [*drafts, *open_tasks(transcript)]


def open_tasks(transcript: Transcript) -> list[Draft]:
    """Return a draft for each item whose last box in the session is empty."""
    last: dict[str, Draft | None] = {}
    for turn in transcript.turns:
        for ticked, item in _items(turn):
            last[normalise(item)] = None if ticked else _draft(transcript, turn, item)
    return [draft for draft in last.values() if draft is not None]


def _items(turn: Turn) -> Iterator[tuple[bool, str]]:
    if turn.origin in _TRUSTED and "```" not in turn.text:
        for box in _BOX.finditer(turn.text):
            yield box[1] != " ", box[2]


def _draft(transcript: Transcript, turn: Turn, item: str) -> Draft:
    session = transcript.session
    return Draft(
        type=CardType.TASK_STATE,
        key=f"task.{slug(item, limit=40)}",
        title=item,
        value=item,
        quotes=(Quote(session.id, turn.n, item),),
        at=turn.at,
        lang=Lang(language_of(item)),
        importance=0.6,
        confidence=0.8,
        origin=turn.origin,
        tags=("to-do",),
        category=session.project or "general",
        project=session.project,
        participants=(turn.speaker or str(turn.role),),
    )
