"""The text forms of daily pages and proposals."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.domain.pages import Day, Proposal
from kimi_memory.formats import note_format
from kimi_memory.formats.body_layout import Body, Layout, Style
from kimi_memory.formats.sanitize import clean, one_line
from kimi_memory.formats.scalar import Value
from kimi_memory.formats.typed_keys import Keys

_DAY = Layout(
    prefix="day",
    sections=dict.fromkeys(("sessions", "events", "knowledge"), Style.LIST),
)
_PROPOSAL = Layout(
    prefix="proposal",
    fields=("target", "section", "reason"),
    sections={"text": Style.TEXT},
)


def _day_values(day: Day) -> dict[str, Value]:
    return note_format.values(day, {"date": day.date.isoformat()}, {})


def _day_body(day: Day) -> Body:
    sections = {"sessions": day.sessions, "events": day.events, "knowledge": day.knowledge}
    return Body(day.date.isoformat(), {}, sections)


def _build_day(keys: Keys, body: Body) -> Day:
    return Day(
        **note_format.common(keys),
        date=keys.date("date"),
        sessions=body.sections.get("sessions", ()),
        events=body.sections.get("events", ()),
        knowledge=body.sections.get("knowledge", ()),
    )


def _clean_day(day: Day) -> Day:
    return replace(
        day,
        **note_format.clean_common(day),
        sessions=note_format.texts(day.sessions),
        events=note_format.texts(day.events),
        knowledge=note_format.texts(day.knowledge),
    )


def _day_place(day: Day) -> str:
    return f"episodic/daily/{day.date.isoformat()}.md"


def _proposal_values(proposal: Proposal) -> dict[str, Value]:
    return note_format.values(
        proposal, {}, {"target": proposal.target, "section": proposal.section}
    )


def _proposal_body(proposal: Proposal) -> Body:
    fields = {
        "target": proposal.target,
        "section": proposal.section,
        "reason": proposal.reason,
    }
    return Body(proposal.title, fields, {"text": (proposal.text,) if proposal.text else ()})


def _build_proposal(keys: Keys, body: Body) -> Proposal:
    return Proposal(
        **note_format.common(keys),
        title=body.title,
        target=keys.needed("target"),
        section=keys.text("section"),
        text="".join(body.sections.get("text", ())),
        reason=body.fields.get("reason", ""),
    )


def _clean_proposal(proposal: Proposal) -> Proposal:
    return replace(
        proposal,
        **note_format.clean_common(proposal),
        title=one_line(proposal.title),
        target=one_line(proposal.target),
        section=one_line(proposal.section),
        text=clean(proposal.text),
        reason=clean(proposal.reason),
    )


def _proposal_place(proposal: Proposal) -> str:
    return f"review/{proposal.id}.md"


DAY = note_format.Shape(_DAY, _day_values, _day_body, _build_day, _clean_day, _day_place)
PROPOSAL = note_format.Shape(
    _PROPOSAL,
    _proposal_values,
    _proposal_body,
    _build_proposal,
    _clean_proposal,
    _proposal_place,
)
