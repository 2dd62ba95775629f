"""Pages of agents: what each did last, what it learned, with whom it works."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from kimi_memory.plugins.agents import consolidate_day

from kimi_memory import Memory
from kimi_memory.domain.job import DayView
from kimi_memory.domain.note import Card, CardType, Lang, Role, Source, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.pages import Agent, Digest, DigestLine, Part
from kimi_memory.domain.session import Session
from kimi_memory.formats import codec
from kimi_memory.hooks.host import Host
from kimi_memory.operations.forget import forget

DAY = date(2026, 2, 27)
NOON = datetime(2026, 2, 27, 12, tzinfo=UTC)
OLD = NOON - timedelta(days=3)


def session(id: str = "s", at: datetime = NOON, **more: str) -> Session:
    return Session(id, at, **{"agent": "kimi", "user": "Nora", "project": "shop", **more})


def lesson(id: str = "a", **more: object) -> Card:
    base = Card(
        id=f"card-{id}", created=NOON, updated=NOON, title="", type=CardType.GOTCHA, key="k",
        value="Back up\nfirst.", verified=NOON, sources=(Source("s", 1, 1),),
    )  # fmt: skip
    return replace(base, **more)


def digest(*left: str, id: str = "s") -> Digest:
    lines = tuple(DigestLine(Part.OPEN, text, 1, 1) for text in left)
    return Digest(
        id=f"digest-{id}", created=NOON, updated=NOON, title="Fix the login", session=id, at=NOON,
        lines=lines,
    )  # fmt: skip


def view(*past: Session, **parts: object) -> DayView:
    base = DayView(
        date=DAY, now=NOON, lang=Lang.EN, events=(), cards=(), projects=(), past=past
    )  # fmt: skip
    return replace(base, **parts)


def made(*past: Session, **parts: object) -> Agent:
    [step] = consolidate_day(view(*past, **parts))
    assert isinstance(step.note, Agent)
    return step.note


def test_a_page_tells_the_last_work_what_was_learned_and_with_whom() -> None:
    page = made(session(), digests=(digest("Write the SMS module."),), cards=(lesson(),))
    assert page.state == (
        "2026-02-27 [shop] Fix the login ^digest-s",
        "Write the SMS module. ^digest-s",
    )
    assert page.skills == ("Back up first. ^card-a",)
    assert page.relationships == ("**Nora**: 1 session, last 2026-02-27 (shop)",)


def test_a_page_in_chinese_says_so_in_chinese() -> None:
    page = made(session("r", OLD, project=""), session(user="林夏", project=""), lang=Lang.ZH)
    assert page.relationships == (
        "**Nora**：1 次会话，最近 2026-02-24",
        "**林夏**：1 次会话，最近 2026-02-27",
    )


def test_sessions_are_counted_once_however_often_the_day_is_read() -> None:
    past = (session("r", OLD), session())
    page = made(*past, digests=(digest(),))
    assert page.relationships == ("**Nora**: 2 sessions, last 2026-02-27 (shop)",)
    assert consolidate_day(view(*past, digests=(digest(),), agents=(page,))) == []


def test_a_later_day_is_not_overwritten_by_an_earlier_one() -> None:
    later = session("t", NOON + timedelta(days=2))
    page = made(session(), digests=(digest("Open."),))
    again = consolidate_day(view(session(), later, digests=(digest("Open."),), agents=(page,)))
    assert [step.note.state for step in again if isinstance(step.note, Agent)] == [page.state]


def test_what_a_person_wrote_stays_and_what_is_gone_goes() -> None:
    mine = Agent(
        id="agent-1", created=NOON, updated=NOON, name="kimi", persona="Patient.",
        state=("Mine.", "Old. ^digest-r"), skills=("Writes SQL.", "Gone. ^card-z"),
        relationships=("Reports to Ann.", "**Tom**: 4 sessions, last 2026-01-01"),
    )  # fmt: skip
    page = made(session(), agents=(mine,), digests=(digest(),), cards=(lesson(),))
    assert page.persona == "Patient."
    assert page.state == ("2026-02-27 [shop] Fix the login ^digest-s", "Mine.")
    assert page.skills == ("Writes SQL.", "Back up first. ^card-a")
    assert page.relationships[0] == "Reports to Ann."
    assert [line[:8] for line in page.relationships[1:]] == ["**Nora**"]


def test_others_lessons_are_none_of_its_skills() -> None:
    cards = (
        lesson("b", sources=(Source("other", 1, 1),)),
        lesson("c", type=CardType.FACT),
        lesson("d", status=Status.SUPERSEDED),
        lesson("e", verified=OLD),
        lesson("f", scope="user:ann"),
    )
    assert made(session(), cards=cards).skills == ()


def test_a_day_without_an_agent_makes_no_page() -> None:
    assert consolidate_day(view(session(agent=""), session("r", OLD))) == []


def test_hook_consolidate_day_is_asked_of_it() -> None:
    gathered = Host(entry_points=False).gather("consolidate_day", day=view(session()))
    assert [type(s.note) for steps in gathered for s in steps if isinstance(s.note, Agent)]


def test_the_page_is_written_by_the_daily_job_and_forgets_with_its_cards(memory: Memory) -> None:
    words = "Yesterday's release failed because nobody had made a backup before the migration."
    with memory.session("s", agent="kimi", user="Nora", project="shop") as one:
        one.turn(Role.USER, f"{words} Lesson learned: a backup on another disk saves the evening.")
        one.turn(Role.ASSISTANT, "I will remember to back up first.")
    memory.consolidate("daily")
    path = memory.root / "mid-term/agents/kimi.md"
    page = codec.parse(path.read_text("utf-8"), "mid-term/agents/kimi.md")
    assert isinstance(page, Agent)
    assert words in page.skills[0] and "**Nora**: 1 session" in page.relationships[0]
    forget(memory, Wanted(query="made a backup before"))
    assert "backup before" not in path.read_text("utf-8")
