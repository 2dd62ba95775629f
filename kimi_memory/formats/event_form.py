"""The text forms of what lies in time: events, digests, days, proposals."""

from __future__ import annotations

import re
from dataclasses import replace

from kimi_memory.domain.ids import on_clocks, shown, stamp
from kimi_memory.domain.note import EventType, Lang
from kimi_memory.domain.pages import Day, Digest, DigestLine, Event, Part, Proposal
from kimi_memory.formats import codec
from kimi_memory.formats.body_layout import Body, Layout, Style, label, link_to, related_links
from kimi_memory.formats.codec import Keys
from kimi_memory.nlp.basic.safe_text import Value, one_line

_EVENT_LAYOUT = Layout(
    prefix="event",
    fields=("at", "type", "participants", *Event.body_fields),
    sections={"quotes": Style.QUOTES},
)
_DIGEST_LAYOUT = Layout(
    prefix="digest",
    fields=("at", "participants", "links"),
    sections={str(part): Style.LIST for part in Part},
)
# A name holds no mark of the form around it; the turn stands at the end of the line, and behind it
# the day of a session that went on for days.
_LINE = re.compile(
    r"(?:\*\*(?P<who>[^*\n]{1,80})\*\*[:：] ?)?(?P<text>.*?)"
    r"(?<!\S)#(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?"
    r"(?: \((?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})\))?\s*",
    re.DOTALL,
)
_DAY = Layout(prefix="day", sections=dict.fromkeys(("sessions", "events", "knowledge"), Style.LIST))
_PROPOSAL = Layout(
    prefix="proposal",
    fields=("target", "section", "reason", "links"),
    sections={"text": Style.TEXT},
)


def _event_values(event: Event) -> dict[str, Value]:
    first: dict[str, Value] = {"type": str(event.type), "key": event.key}
    rest: dict[str, Value] = {
        "at": stamp(event.at),
        "participants": list(event.participants),
        "project": event.project,
        "scope": event.scope,
        "importance": float(event.importance),
    }
    return codec.values(event, first, rest)


def _event_body(event: Event) -> Body:
    comma = "、" if event.lang is Lang.ZH else ", "
    fields = {
        # Twice: in UTC for programs in the head, on the clocks of then for people in the body.
        "at": shown(event.at),
        "type": label(str(event.type), event.lang),
        "participants": comma.join(event.participants),
    }
    # From the list of the class, so that a text which is added there is written without a change
    # here.
    fields |= zip(event.body_fields, event.body_texts, strict=True)
    return Body(event.title, fields, {"quotes": codec.quote_blocks(event.quotes)})


def _build_event(keys: Keys, body: Body) -> Event:
    shared = codec.common(keys)
    return Event(
        **shared,
        title=body.title,
        type=keys.choice("type", EventType),
        at=on_clocks(keys.moment("at") or shared["created"], body.fields.get("at", "")),
        participants=keys.texts("participants"),
        **codec.read_fields(body, Event.body_fields),
        quotes=codec.quotes_of(body),
        key=keys.text("key"),
        importance=keys.number("importance", 0.5),
        project=keys.text("project"),
        scope=keys.text("scope"),
    )


def _clean_event(event: Event) -> Event:
    return codec.with_fields(
        event,
        tags=codec.lines(event.tags),
        **codec.clean_lines(event, "title", "key", "project", "scope"),
        **codec.clean_texts(event, Event.body_fields),
        participants=codec.lines(event.participants),
        quotes=codec.clean_quotes(event.quotes),
    )


def _dated_path(note: Event | Digest) -> str:
    name = codec.own_name(note.title, note.scope)
    # The day first: a folder that is sorted by name is a diary.
    return f"episodic/{note.at:%Y%m%d}_{name}.md"


EVENT = codec.Shape(
    _EVENT_LAYOUT, _event_values, _event_body, _build_event, _clean_event, _dated_path
)


def line_text(line: DigestLine) -> str:
    """Return the text form of a line, without its bullet."""
    who = f"**{line.who}**: " if line.who else ""
    if not line.first:
        return f"{who}{line.text}"
    run = "" if line.last == line.first else f"-{line.last}"
    day = f" ({line.day})" if line.day else ""
    return f"{who}{line.text} #{line.first}{run}{day}"


def parse_line(part: Part, text: str) -> DigestLine:
    """Return the line of a text; one that names no turn is a remark of a person."""
    found = _LINE.fullmatch(text)
    if found is None or not found["text"].strip():
        return DigestLine(part, text.strip())
    first = int(found["first"])
    last = max(first, int(found["last"] or first))
    who, day = (found["who"] or "").strip(), found["day"] or ""
    return DigestLine(part, found["text"].strip(), first, last, who, day)


def _digest_values(digest: Digest) -> dict[str, Value]:
    rest: dict[str, Value] = {
        "at": stamp(digest.at),
        "participants": list(digest.participants),
        "project": digest.project,
        "scope": digest.scope,
    }
    return codec.values(digest, {"session": digest.session}, rest)


def _digest_body(digest: Digest) -> Body:
    comma = "、" if digest.lang is Lang.ZH else ", "
    fields = {
        "at": shown(digest.at),
        "participants": comma.join(digest.participants),
        "links": related_links([digest.session], (), (), digest.lang),
    }
    sections = {str(part): tuple(map(line_text, digest.part(part))) for part in Part}
    return Body(digest.title, fields, sections)


def _build_digest(keys: Keys, body: Body) -> Digest:
    shared = codec.common(keys)
    return Digest(
        **shared,
        title=body.title,
        session=keys.needed("session"),
        at=on_clocks(keys.moment("at") or shared["created"], body.fields.get("at", "")),
        participants=keys.texts("participants"),
        lines=tuple(
            parse_line(part, text) for part in Part for text in body.sections.get(str(part), ())
        ),
        project=keys.text("project"),
        scope=keys.text("scope"),
    )


def _clean_line(line: DigestLine) -> DigestLine:
    # As long as the pattern above reads; longer, the name would become part of the text.
    who = one_line(line.who).replace("*", "")[:80].strip()
    plain = replace(line, text=one_line(line.text), who=who if line.first else "")
    # Words that look like the form around them become part of it.
    return parse_line(plain.part, one_line(line_text(plain)))


def _clean_digest(digest: Digest) -> Digest:
    order = list(Part)
    lines = [line for line in map(_clean_line, digest.lines) if line.text]
    return replace(
        digest,
        tags=codec.lines(digest.tags),
        **codec.clean_lines(digest, "title", "session", "project", "scope"),
        participants=codec.lines(digest.participants),
        lines=tuple(sorted(lines, key=lambda line: order.index(line.part))),
    )


DIGEST = codec.Shape(
    _DIGEST_LAYOUT, _digest_values, _digest_body, _build_digest, _clean_digest, _dated_path
)


def _day_values(day: Day) -> dict[str, Value]:
    return codec.values(day, {"date": day.date.isoformat()}, {})


def _day_body(day: Day) -> Body:
    return Body(day.date.isoformat(), {}, codec.section_blocks(day, _DAY.sections))


def _build_day(keys: Keys, body: Body) -> Day:
    return Day(
        **codec.common(keys), date=keys.date("date"), **codec.read_sections(body, _DAY.sections)
    )


def _clean_day(day: Day) -> Day:
    sections = codec.clean_texts(day, _DAY.sections)
    return replace(day, tags=codec.lines(day.tags), **sections)


def _day_place(day: Day) -> str:
    return f"episodic/daily/{day.date.isoformat()}.md"


def _proposal_values(proposal: Proposal) -> dict[str, Value]:
    return codec.values(proposal, {}, {"target": proposal.target, "section": proposal.section})


def _proposal_body(proposal: Proposal) -> Body:
    cited = dict.fromkeys(source.session for source in proposal.sources)
    fields = {
        "target": link_to(proposal.target, proposal.target) or proposal.target,
        "section": proposal.section,
        "reason": proposal.reason,
        "links": related_links(cited, (), (), proposal.lang),
    }
    return Body(proposal.title, fields, {"text": (proposal.text,) if proposal.text else ()})


def _build_proposal(keys: Keys, body: Body) -> Proposal:
    return Proposal(
        **codec.common(keys),
        title=body.title,
        target=keys.needed("target"),
        section=keys.text("section"),
        text="".join(body.sections.get("text", ())),
        reason=body.fields.get("reason", ""),
    )


def _clean_proposal(proposal: Proposal) -> Proposal:
    return replace(
        proposal,
        tags=codec.lines(proposal.tags),
        **codec.clean_lines(proposal, "title", "target", "section"),
        **codec.clean_texts(proposal, ("text", "reason")),
    )


def _proposal_place(proposal: Proposal) -> str:
    # By id: of two proposals with one title neither may hide the other.
    return f"review/{proposal.id}.md"


DAY = codec.Shape(_DAY, _day_values, _day_body, _build_day, _clean_day, _day_place)
PROPOSAL = codec.Shape(
    _PROPOSAL, _proposal_values, _proposal_body, _build_proposal, _clean_proposal, _proposal_place
)
