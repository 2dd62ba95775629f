"""Compaction of a running chat: kept whole on disk, remembered, and made short for its model."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kimi_memory import Memory
from kimi_memory.capture.log import MASK, Captured, Said
from kimi_memory.domain.compaction import Compaction, Flushed, Limits, Message, Spoken
from kimi_memory.domain.ids import derived_id, safe_session_id
from kimi_memory.domain.job import JobReport, Op, Plan, Step, digest_of
from kimi_memory.domain.note import EventType, Lang, Quote, Role, Source
from kimi_memory.domain.pages import Event
from kimi_memory.domain.session import Transcript, Turn, scope_of
from kimi_memory.errors import UsageError
from kimi_memory.formats.page_lines import fill
from kimi_memory.jobs.fold_drafts import Remember
from kimi_memory.jobs.gates import DraftGate
from kimi_memory.jobs.planner import OneJob
from kimi_memory.llm.usage import metered
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.nlp.basic.safe_text import fence
from kimi_memory.nlp.basic.sentences import estimate
from kimi_memory.nlp.dates.timestamps import moment
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf

from .chat import LABEL, Reach, cost_of, cut, find_reach, is_gist, session_of, text_of
from .summarize import (
    Point,
    allowed,
    choose,
    lines_of,
    paragraph,
    points_in,
    points_of,
    tongue,
)

_SUMMARY_SHARE = 0.25
_LEAST_SUMMARY = 200
"""With fewer tokens a summary holds little more than its heading."""
_MOST_SUMMARY = 4000
"""A longer one is no summary, and no page of the memory could hold it."""
# A card with more sources is unreadable, and the first ones prove it.
_QUOTES = 20
_ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
}


def compact(
    memory: Memory,
    messages: Sequence[Message],
    limits: Limits,
    *,
    session: str = "",
    force: bool = False,
    spoken: Sequence[Spoken] | None = None,
    **whose: str,
) -> Compaction:
    """Make a chat fit again, after everything in it is stored and what matters remembered.

    The result costs at most the limits' budget, provided that the last messages do.

    The arguments are those of `Memory.compact`; `spoken` says what of each message is kept, all of
    its text if None.

    Raises:
        UsageError: a message has no role that is known.
    """
    before = cost_of(messages)
    head, middle, tail = cut(messages, limits)
    old = any(not is_gist(message) for message in middle)
    if not middle or (before <= limits.budget and not (force and old)):
        return Compaction(tuple(messages), before, before, session=session)
    # Before anything is dropped: after this line every message is on disk.
    said = _list_said(memory, messages, spoken)
    session = session or session_of(messages, memory.screen.mask, **whose)
    reach = find_reach(messages).within(session)
    flushed = _store_said(memory, said, session, whose, reach)
    gone = range(len(head), len(head) + len(middle))
    parts = _find_stored_turns(memory, session, said, gone, reach)
    room = limits.budget - cost_of([*head, *tail])
    gist = _build_gist(memory, parts, middle, min(room, _summary_share(limits.window_tokens)))
    recorded = _record_gist(memory, parts, gist)
    made = (*head, *gist.message(room), *tail)
    return Compaction(
        messages=made,
        before=before,
        after=cost_of(made),
        dropped=len(middle),
        summary=gist.text,
        session=flushed.session,
        stored=flushed.stored,
        remembered=flushed.remembered,
        recorded=recorded,
    )


def flush(memory: Memory, messages: Sequence[Message], session: str = "", **whose: str) -> Flushed:
    """Store what of a chat is not stored yet, and remember what triggers find in it.

    Call it before a host compacts on its own: nothing that was said is lost then.

    Args:
        memory: an open memory.
        messages: the chat, oldest first.
        session: the session that holds the chat; found by its first message if empty.
        whose: agent, user, project and area of a session that is begun for it.
    """
    if not messages:
        return Flushed(session)
    said = _list_said(memory, messages, None)
    session = session or session_of(messages, memory.screen.mask, **whose)
    flushed = _store_said(memory, said, session, whose, find_reach(messages).within(session))
    lang = tongue([one.text for one in said if one])
    return replace(flushed, prompt=fill("prompts/flush", lang).strip())


def _list_said(
    memory: Memory, messages: Sequence[Message], spoken: Sequence[Spoken] | None
) -> list[Said | None]:
    """Return what is kept of each message; None for nothing, and for an earlier summary."""
    words = spoken or [Spoken(text_of(message)) for message in messages]
    parsed: list[Said | None] = []
    before: list[str] = []
    for message, said in zip(messages, words, strict=True):
        one = _parse_message(memory, message, said)
        if one is not None:
            # Masked here, where the message before it is known: it is compared with what is stored.
            one = replace(one, text=memory.screen.pass_turn(one.text, before).text)
            before = [*before[-1:], one.text]
        parsed.append(one)
    return parsed


def _store_said(
    memory: Memory,
    said: Sequence[Said | None],
    session: str,
    whose: Mapping[str, str],
    reach: Reach,
) -> Flushed:
    """Store what is not stored yet."""
    turns = [turn for part in _read_parts(memory, session) for turn in part.turns]
    ours, refs = {one.ref for one in said if one and one.ref}, {turn.ref for turn in turns}
    known = Counter(_stored_key(turn, reach) for turn in turns if turn.ref not in ours)
    fresh = []
    for at, one in enumerate(said):
        if one is None or (one.ref and one.ref in refs):
            continue
        mark = _said_key(memory, one, at, reach)
        # The same words may be said twice, so turns are counted off, not looked up.
        if known[mark] > 0:
            known[mark] -= 1
        else:
            fresh.append(one)
    if not fresh:
        return Flushed(session)
    handle = memory.session(session, **{"host": "chat", **whose})
    captured = handle.log.add(fresh)
    memory.written()
    return Flushed(session, len(captured), tuple(_remember_drafts(memory, captured)))


def window(memory: Memory, session: str, budget_tokens: int, *, keep: int = 5) -> list[Message]:
    """Return the history to resume a session with: a summary, then the latest turns.

    Call it after a host compacted, or when a session is opened again. Nothing is written.

    Args:
        memory: an open memory.
        session: a session's id, or the beginning of it.
        budget_tokens: most tokens of the result.
        keep: so many latest turns come before the summary in line for the budget.

    Raises:
        NotFoundError: there is no such session.
    """
    root = sessions.find(memory.store, session).root
    turns = [turn for part in _read_parts(memory, root) for turn in part.turns]
    spoken = [turn for turn in turns if turn.role in (Role.USER, Role.ASSISTANT)]
    messages: list[Message] = [{"role": str(t.role), "content": t.text} for t in spoken]
    if cost_of(messages) <= budget_tokens:
        return messages
    # The summary keeps its share, unless the latest turns need all of the room.
    left = budget_tokens - _summary_share(budget_tokens)
    at = len(messages)
    while at > 0:
        cost = cost_of(messages[at - 1 : at])
        limit = left if len(messages) - at >= keep else budget_tokens - cost_of(messages[at:])
        if cost > limit:
            break
        left, at = left - cost, at - 1
    tail = messages[at:]
    parts = _of_turns(_read_parts(memory, root), {turn.n for turn in spoken[:at]})
    room = budget_tokens - cost_of(tail)
    gist = _build_gist(memory, parts, (), room)
    return [*gist.message(room), *tail]


def _summary_share(tokens: int) -> int:
    """Return how many of some tokens a summary may cost."""
    return min(_MOST_SUMMARY, max(_LEAST_SUMMARY, int(tokens * _SUMMARY_SHARE)))


def _parse_message(memory: Memory, message: Message, spoken: Spoken) -> Said | None:
    role, text = message.get("role"), spoken.text
    if not memory.screen.pass_text(text).text.strip():
        return None
    if not isinstance(role, str) or role not in _ROLES:
        raise UsageError(f"A message has the role {role!r}. Use one of {', '.join(_ROLES)}.")
    at = moment(message.get("timestamp")) or memory.clock()
    name = message.get("name")
    speaker = name if isinstance(name, str) else ""
    return Said(_ROLES[role], text, at, speaker, spoken.ref)


def _turn_key(role: Role, text: str, *, later: bool) -> str:
    # The tag of a mask depends on the machine; the turn is the same on each. What follows a
    # summary is a turn of its own, though the same words were said among those it stands for.
    return f"{role}\0{later}\0{MASK.sub('⟦redacted⟧', text)}"


def _stored_key(turn: Turn, reach: Reach) -> str:
    return _turn_key(turn.role, turn.text, later=turn.n > reach.turn)


def _said_key(memory: Memory, one: Said, position: int, reach: Reach) -> str:
    text = memory.screen.pass_text(one.text).text
    return _turn_key(one.role, text, later=position > reach.position)


def _read_parts(memory: Memory, session: str) -> list[Transcript]:
    root = sessions.split_part(safe_session_id(session))[0]
    return [sessions.read(memory.store, p.path) for p in sessions.parts(memory.store, root)]


def _find_stored_turns(
    memory: Memory, session: str, said: Sequence[Said | None], positions: range, reach: Reach
) -> list[Transcript]:
    """Return the stored turns of the messages at some positions, in the sessions that hold them."""
    parts = _read_parts(memory, session)
    places: dict[str, list[int]] = defaultdict(list)
    for turn in (turn for part in parts for turn in part.turns):
        places[_stored_key(turn, reach)].append(turn.n)
        places[turn.ref].append(turn.n)
    numbers = set()
    for at in positions:
        if (one := said[at]) is None:
            continue
        key = _said_key(memory, one, at, reach)
        if found := (places[one.ref] if one.ref else []) or places[key]:
            numbers.add(found.pop(0))
    return _of_turns(parts, numbers)


def _of_turns(parts: Sequence[Transcript], numbers: set[int]) -> list[Transcript]:
    chosen = [replace(p, turns=tuple(t for t in p.turns if t.n in numbers)) for p in parts]
    return [part for part in chosen if part.turns]


def _remember_drafts(memory: Memory, captured: Sequence[Captured]) -> Iterator[JobReport]:
    drafts = [draft for one in captured for draft in one.drafts]
    if not (drafts and memory.settings.capture.auto):
        return
    texts = {one.turn.n: one.turn.text for one in captured}
    yield memory.run(Remember(memory, drafts, texts))


@dataclass(frozen=True, slots=True)
class _Gist:
    """The summary of what was dropped."""

    text: str
    points: tuple[Point, ...]
    nonce: str
    lang: Lang
    head: str

    def message(self, room: int) -> list[Message]:
        """Return the message that stands for what was dropped, if one fits."""
        points = list(self.points)
        while True:
            block = fence(lines_of(points, self.head, self.lang), self.nonce, LABEL)
            made: Message = {"role": "user", "content": block}
            if cost_of([made]) <= room:
                return [made]
            if not points:
                return []
            points.remove(min(points, key=lambda p: (p.weight, p.order)))


def _build_gist(
    memory: Memory, parts: Sequence[Transcript], dropped: Sequence[Message], room: int
) -> _Gist:
    turns = [turn for part in parts for turn in part.turns]
    lang = tongue([turn.text for turn in turns])
    carried = [p for m in dropped if is_gist(m) for p in points_in(text_of(m))]
    with metered():
        found = [*paragraph(memory.host, parts, lang), *points_of(memory.host, parts, carried)]
    good = allowed(found, DraftGate.from_context(memory).objection)
    head = _format_heading(parts, turns, lang)
    points = choose(good, max(0, room - estimate(head) - 60))
    text = "\n".join(lines_of(points, head, lang))
    said = (f"{t.n} {t.text}" for t in turns)
    return _Gist(text, tuple(points), digest_of(["gist", text, *said])[:16], lang, head)


def _format_heading(parts: Sequence[Transcript], turns: Sequence[Turn], lang: Lang) -> str:
    if not turns:
        return "更早的对话摘要。" if lang is Lang.ZH else "Summary of earlier conversation."
    id, first, last = parts[0].session.id, turns[0], turns[-1]
    run = f"session:{id}#{first.n}-{last.n}"
    days = " – ".join(dict.fromkeys((f"{first.at:%Y-%m-%d}", f"{last.at:%Y-%m-%d}")))
    if lang is Lang.ZH:
        return f"此前 {len(turns)} 条消息的摘要（{days}）；原文完整保存在 {run}。"
    return f"Summary of {len(turns)} earlier messages ({days}); kept whole in {run}."


def _record_gist(memory: Memory, parts: Sequence[Transcript], gist: _Gist) -> JobReport | None:
    if not parts:
        return None
    event = _build_event(parts, gist, memory.clock())
    plan = Plan(
        kind="compact",
        subject=parts[-1].session.id,
        inputs=digest_of(["compact", event.id, gist.text]),
        steps=(Step(Op.ADD, event, "a summary stands for these turns in the chat"),),
    )

    def make(shelf: Shelf) -> Plan:
        # A host that repeats its request gets the same summary, and no second event.
        return replace(plan, steps=()) if event.id in shelf.entries() else plan

    return memory.run(OneJob(plan.kind, make))


def _build_event(parts: Sequence[Transcript], gist: _Gist, now: datetime) -> Event:
    turns = [turn for part in parts for turn in part.turns]
    quotes = []
    for point in gist.points:
        if point.quote is not None:
            holder = next((p for p in parts if p.turn(point.quote.n)), None)
            turn = holder.turn(point.quote.n) if holder else None
            quote = Quote(holder.session.id if holder else "", point.quote.n, point.quote.text)
            # A sentence that a model wrote is no quote, and an event may hold only those that
            # stand.
            if turn and quote.stands_in(turn.text):
                quotes.append(quote)
    runs = [Source(p.session.id, p.turns[0].n, p.turns[-1].n) for p in parts]
    count = len(turns)
    zh = gist.lang is Lang.ZH
    # Of the session, too: two owners may say the same, and neither sees the other's.
    told = [*(p.session.id for p in parts), *(f"{t.n} {normalise(t.text)}" for t in turns)]
    return Event(
        id=derived_id("event", turns[-1].at, *told),
        created=now,
        updated=now,
        tags=("compaction",),
        sources=(*runs, *map(Source.from_quote, quotes[:_QUOTES])),
        lang=gist.lang,
        title=f"压缩对话：{count} 条消息" if zh else f"Conversation compacted: {count} messages",
        type=EventType.FINDING,
        at=turns[-1].at,
        participants=tuple(dict.fromkeys(t.speaker or str(t.role) for t in turns))[:8],
        content=gist.text,
        quotes=tuple(quotes[:_QUOTES]),
        importance=0.5,
        project=parts[-1].session.project,
        scope=scope_of(parts[-1].session),
    )
