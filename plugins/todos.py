"""To-dos of check lists and of talk become task cards, and so lines of the project page.

Why it exists: a list with boxes, "we still need to move the export" and 迁移脚本还没写
say plainly what is still to be done; "done with the export" ends the one open task that
it names. Ticked items are finished-task detail and are not kept. Between two people
nothing is taken from talk. It wraps the distiller, whichever that is.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace

from kimi_memory import hookimpl
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.note import CardType, Lang, Origin, Quote, Role
from kimi_memory.domain.session import Transcript, Turn
from kimi_memory.nlp.basic.patterns import language_of, normalise, regex
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.rules.tasks import done_in, finishes, tasks_in

# A box with more than 200 characters is prose. Blanks, never a line break, around the item: an
# empty box must not swallow the next line.
_BOX = regex(r"^[^\S\n]*[-*+] \[( |x|X)\] +(\S.{1,200}?)[^\S\n]*$", re.MULTILINE)
MOST_BOXES = 6
_TRUSTED = {Origin.HUMAN, Origin.AGENT}


@hookimpl(wrapper=True)
def distil_session(
    transcript: Transcript,
) -> Generator[None, list[Draft] | None, list[Draft] | None]:
    """Add the to-dos that are open at the end of the session to what was distilled."""
    drafts = yield
    if drafts is None:
        return None
    tasks = [*open_tasks(transcript), *finished_tasks(transcript)]
    return [*(draft for draft in drafts if not _is_told(draft, tasks)), *tasks]


def _is_told(draft: Draft, tasks: Iterable[Draft]) -> bool:
    """Whether a draft holds for a fact what a task says in the same words."""
    return draft.type is CardType.FACT and any(
        (task.quotes[0].session, task.quotes[0].n) == (quote.session, quote.n)
        and task.value in quote.text
        for task in tasks
        for quote in draft.quotes
    )


def open_tasks(transcript: Transcript) -> list[Draft]:
    """Return a draft for each item whose last box in the session is empty."""
    last: dict[str, Draft | None] = {}
    alone = not transcript.has_several_people()
    at_work = transcript.has_agent_at_work()
    for turn in transcript.turns:
        boxes = list(_yield_items(turn))
        # Nobody types so many boxes into a message: it is a document to work on.
        pasted = len(boxes) > MOST_BOXES and turn.by_person and at_work
        for ticked, item in boxes:
            # An agent at work writes a list for itself: what it will do in the next minutes.
            if not ticked and (pasted or (at_work and turn.role is Role.ASSISTANT)):
                continue
            last[normalise(item)] = None if ticked else _make_draft(transcript, turn, item)
        if boxes or not (alone and turn.by_person):
            continue
        for done in done_in(turn.text):
            # Where "done with the export" fits two open tasks, nobody can tell which: both stay
            # open.
            named = [key for key, draft in last.items() if draft and finishes(done, draft.value)]
            last.update(dict.fromkeys(named if len(named) == 1 else (), None))
        for item in tasks_in(turn.text):
            last.setdefault(normalise(item), _make_draft(transcript, turn, item))
    return [draft for draft in last.values() if draft is not None]


def finished_tasks(transcript: Transcript) -> list[Draft]:
    """Return a draft for each thing that a person, or a ticked box, says is done."""
    found: list[Draft] = []
    alone = not transcript.has_several_people()
    for turn in transcript.turns:
        ticked = [item for done, item in _yield_items(turn) if done]
        spoken = done_in(turn.text) if alone and turn.by_person else []
        for item in (*ticked, *spoken):
            draft = _make_draft(transcript, turn, item)
            found.append(replace(draft, key=f"done.{slug(item, limit=40)}", done=True))
    return found


def _yield_items(turn: Turn) -> Iterator[tuple[bool, str]]:
    # A list in a code block is an example or a file, not what is to be done here.
    if turn.origin in _TRUSTED and "```" not in turn.text:
        for box in _BOX.finditer(turn.text):
            yield box[1] != " ", box[2]


def _make_draft(transcript: Transcript, turn: Turn, item: str) -> Draft:
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
