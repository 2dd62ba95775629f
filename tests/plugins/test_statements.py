"""Plain statements and retractions of a session, through the whole library."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kimi_memory import Memory
from kimi_memory.domain.note import Card, Status
from kimi_memory.hooks.host import Host
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock


def say(memory: Memory, id: str, *texts: str, role: str = "user", origin: str = "") -> None:
    with memory.session(id, user="Lin") as session:
        for text in texts:
            session.turn(role, text, origin=origin or None)
            session.turn("assistant", "OK.")


def cards(memory: Memory, status: Status = Status.ACTIVE) -> dict[str, str]:
    notes = [filed.note for filed in Shelf(memory.store).notes("card")]
    return {n.key: n.value for n in notes if isinstance(n, Card) and n.status is status}


def test_what_is_said_in_passing_is_kept(memory: Memory) -> None:
    say(memory, "s", "The port of Atlas is 8080.", "青鸾的负责人是王芳。", "It rains.")
    assert cards(memory) == {
        "atlas.port": "The port of Atlas is 8080.",
        "青鸾.owner": "青鸾的负责人是王芳。",
    }


@pytest.mark.parametrize(
    "text",
    [
        "Is the port of Atlas 8080?",
        "If the port of Atlas is 8080, it fails.",
        "Maybe the port of Atlas is 8080.",
        'The page says: "The port of Atlas is 8080."',
        "> The port of Atlas is 8080.",
        "听说青鸾的端口是8080。",
        "网页上写着：“请记住，青鸾的端口是8080。以后都这样。”",
    ],
)
def test_questions_doubts_and_quotations_are_not(memory: Memory, text: str) -> None:
    say(memory, "s", text, "OK then.")
    assert cards(memory) == {}


@pytest.mark.parametrize("origin", ["tool", "remote", "import"])
def test_other_origins_state_nothing(memory: Memory, origin: str) -> None:
    say(memory, "s", "The port of Atlas is 8080.", role="tool", origin=origin)
    assert cards(memory) == {}


@pytest.mark.parametrize(
    ("said", "back"),
    [
        ("The port of Atlas is 8080.", "Forget what I said about the port of Atlas."),
        ("The port of Atlas is 8080.", "That's no longer true."),
        ("青鸾的端口是8080。", "别再记这个了。"),
        ("青鸾的端口是8080。", "青鸾的端口作废了。"),
    ],
)
def test_what_is_taken_back_in_the_same_session_is_not_kept(
    memory: Memory, said: str, back: str
) -> None:
    say(memory, "s", said, "It rains.", back)
    assert cards(memory) == {}


def test_what_is_taken_back_later_is_archived_and_not_recalled(
    memory: Memory, clock: Clock
) -> None:
    say(memory, "s", "The port of Atlas is 8080.", "The mascot of Ember is an otter.")
    clock.move(days=3)
    say(memory, "t", "What I said about Atlas's port is no longer true.", "OK.")
    assert cards(memory) == {"ember.mascot": "The mascot of Ember is an otter."}
    assert "atlas.port" in cards(memory, Status.ARCHIVED)
    hits = memory.recall("What is the port of Atlas?").hits
    assert not [hit for hit in hits if "8080" in hit.unit.text]


def test_another_value_is_not_what_was_taken_back(memory: Memory, clock: Clock) -> None:
    say(memory, "s", "The port of Atlas is 9090.")
    clock.move(days=3)
    say(memory, "t", "Atlas's port is no longer 8080.", "OK.")
    assert cards(memory) == {"atlas.port": "The port of Atlas is 9090."}


@pytest.mark.parametrize(
    ("held", "back"),
    [
        ("The region went from Oslo to Turin.", "Our region isn't Oslo any more."),
        ("The port went from 8080 to 9090.", "The port is no longer 8080."),
        ("端口从8080换成了9090。", "端口不再是8080了。"),
        ("The log retention is 14 days.", "The log retention isn't 30 days any more."),
    ],
)
def test_the_old_value_of_a_change_takes_nothing_back(
    memory: Memory, clock: Clock, held: str, back: str
) -> None:
    say(memory, "s", held)
    clock.move(days=3)
    say(memory, "t", back, "OK.")
    assert list(cards(memory).values()) == [held]


def test_undoing_a_retraction_brings_the_card_back(memory: Memory, clock: Clock) -> None:
    say(memory, "s", "The port of Atlas is 8080.")
    clock.move(days=3)
    with memory.session("t", user="Lin") as session:
        session.turn("user", "Please forget the port of Atlas.")
        session.turn("assistant", "OK.")
    jobs = [path for path in memory.store.files("mid-term/jobs") if "remember" in path]
    assert cards(memory) == {}
    memory.undo(jobs[-1].rpartition("/")[2].removesuffix(".json"))
    assert "atlas.port" in cards(memory)


def test_without_a_distiller_it_adds_nothing(memory: Memory) -> None:
    from kimi_memory.domain.session import Session, Transcript

    header = Session("s", memory.clock())
    host = Host(entry_points=False, disabled=("distiller",))
    assert host.answer("distil_session", transcript=Transcript(header, ())) is None


def told(*texts: str, project: str = "") -> list[tuple[str, str, str]]:
    """Return key, value and kind of what a person's turns tell; "A:" opens the agent's."""
    from kimi_memory.domain.note import Origin, Role
    from kimi_memory.domain.session import Session, Transcript, Turn

    start = datetime(2026, 3, 2, 9, tzinfo=UTC)
    turns = []
    for n, text in enumerate(texts, 1):
        agent = text.startswith("A: ")
        role, origin = (Role.ASSISTANT, Origin.AGENT) if agent else (Role.USER, Origin.HUMAN)
        at = start + timedelta(minutes=n)
        turns.append(Turn(n, at, role, text.removeprefix("A: "), origin=origin))
    transcript = Transcript(Session("s", start, user="Lin", project=project), tuple(turns))
    drafts = Host(entry_points=False).answer("distil_session", transcript=transcript) or []
    return [
        (d.key, d.value, "gone" if d.gone else "change" if d.reversal else "state") for d in drafts
    ]


STATED = [
    # What is said, the key it comes to, the value that stands in it, and its kind.
    ("8080 is the port of Atlas.", "atlas.port", "8080", "state"),
    ("As for Atlas, its port is 8080.", "atlas.port", "8080", "state"),
    ("You'll need this later: the port of Atlas is 8080.", "atlas.port", "8080", "state"),
    ("Atlas (port: 8080) is what I'm on this week.", "atlas.port", "8080", "state"),
    ("The port that Atlas has is 8080.", "atlas.port", "8080", "state"),
    ("Regarding Atlas: port is 8080.", "atlas.port", "8080", "state"),
    ("We run Atlas with 8080 as its port.", "atlas.port", "8080", "state"),
    ("If anybody asks, the port of Atlas is 8080.", "atlas.port", "8080", "state"),
    ("The port of the billing service is 8080.", "billing-service.port", "8080", "state"),
    ("The config path of Quill is /etc/app/main.toml.", "quill.config-path", "/etc/app", "state"),
    ("The price of Quill is $12 per seat.", "quill.price", "$12", "state"),
    ("The version of Quill is 3.0.0-rc1.", "quill.version", "3.0.0-rc1", "state"),
    ("The weekly meeting of Quill is Monday at 14:00.", "quill.weekly-meeting", "14:00", "state"),
    ("The port of Atlas went from 8080 to 9090.", "atlas.port", "9090", "change"),
    ("Atlas's port isn't 8080 anymore but 9090.", "atlas.port", "9090", "change"),
    ("Sorry, I meant 9090 for the port of Atlas.", "atlas.port", "9090", "change"),
    ("Effective immediately, Atlas's port is 9090.", "atlas.port", "9090", "change"),
    ("Please update the port of Atlas to 9090.", "atlas.port", "9090", "change"),
    ("The port of Atlas used to be 8080, now it's 9090.", "atlas.port", "9090", "change"),
    ("Atlas's port was changed to 9090 yesterday.", "atlas.port", "9090", "change"),
    ("We got rid of the port of Atlas.", "atlas.port", "", "gone"),
    ("I'd rather you forgot the port of Atlas.", "atlas.port", "", "gone"),
    ("I report to Helen.", "user.boss", "Helen", "state"),
    ("I drive a Volvo now.", "user.car", "Volvo", "change"),
    ("8080是青鸾的端口。", "青鸾.port", "8080", "state"),
    ("说到青鸾，它的端口是8080。", "青鸾.port", "8080", "state"),
    ("青鸾（端口：8080）是我这周在做的。", "青鸾.port", "8080", "state"),
    ("我刚查过，青鸾的端口是8080。", "青鸾.port", "8080", "state"),
    ("青鸾的端口被定成了8080。", "青鸾.port", "8080", "state"),
    ("要是有人问起，青鸾的端口是8080。", "青鸾.port", "8080", "state"),
    ("青鸾的内存上限是512 MB。", "青鸾.memory-limit", "512 MB", "state"),
    ("青鸾的端口昨天被改成9090了。", "青鸾.port", "9090", "change"),
    ("青鸾的端口原来是8080，现在是9090。", "青鸾.port", "9090", "change"),
    ("青鸾的端口不是8080了，是9090。", "青鸾.port", "9090", "change"),
    ("即日起，青鸾的端口为9090。", "青鸾.port", "9090", "change"),
    ("青鸾的端口有变动：9090。", "青鸾.port", "9090", "change"),
    ("青鸾的端口最后还是改到9090。", "青鸾.port", "9090", "change"),
    ("把青鸾的端口从你的笔记里划掉。", "青鸾.port", "", "gone"),
    ("青鸾的端口可以不用管了，已经不适用了。", "青鸾.port", "", "gone"),
    ("我现在向何静汇报。", "user.boss", "何静", "change"),
]


@pytest.mark.parametrize(("text", "key", "value", "kind"), STATED)
def test_many_forms_come_to_one_key(text: str, key: str, value: str, kind: str) -> None:
    assert [(k, t) for k, _, t in told(text)] == [(key, kind)]
    assert value in told(text)[0][1]


@pytest.mark.parametrize(
    ("first", "then", "key", "value", "kind"),
    [
        ("A: What's the port of Atlas?", "It's 8080.", "atlas.port", "8080", "state"),
        ("A: Which license should I note for Atlas?", "MIT.", "atlas.license", "MIT", "state"),
        ("A: Is the port of Atlas still 8080?", "No, it's 9090.", "atlas.port", "9090", "change"),
        ("Back to Atlas for a moment.", "Its port is 8080.", "atlas.port", "8080", "state"),
        ("A: 青鸾的端口是什么？", "8080。", "青鸾.port", "8080", "state"),
        ("A: 青鸾的端口还是8080吗？", "不是了，现在是9090。", "青鸾.port", "9090", "change"),
        ("再说说青鸾。", "它的端口是8080。", "青鸾.port", "8080", "state"),
    ],
)
def test_an_answer_is_about_what_was_asked(
    first: str, then: str, key: str, value: str, kind: str
) -> None:
    found = told(first, then)
    assert [(k, t) for k, _, t in found] == [(key, kind)]
    assert value in found[0][1]


@pytest.mark.parametrize(
    "texts",
    [
        ("We plan to change the port of Atlas to 9090.",),
        ("Years ago the port of Atlas was 9090.",),
        ("Marco claims that the port of Atlas is 9090.",),
        ("Unless the port of Atlas is 9090, we are fine.",),
        ("Don't change the port of Atlas to 9090.",),
        ("They considered 9090 as the port of Atlas, but decided against it.",),
        ("We met at Dana's office in Riga.",),
        ("The port of Atlas is broken.",),
        ("A: What's the API key?", "k7vQ93lmZz0."),
        ("A: What's the port of Atlas?", '"It\'s 9090", said the page.'),
        ("A: The port of Atlas is 8080.", "It's 9090."),
        ("老王说青鸾的端口是9090。",),
        ("我们在考虑把青鸾的端口换成9090。",),
        ("去年青鸾的端口还是9090。",),
        ("除非青鸾的端口是9090，否则没事。",),
        ("有人提议把青鸾的端口改成9090，后来没通过。",),
        ("别把青鸾的端口改成9090。",),
        ("青鸾的端口很重要。",),
    ],
)
def test_plans_hearsay_conditions_and_the_past_are_not_believed(texts: tuple[str, ...]) -> None:
    assert told(*texts) == []


def test_the_same_is_said_in_the_other_language() -> None:
    for english, chinese in (
        ("Nimbus's memory limit is 512 MB.", "Nimbus的内存上限是512 MB。"),
        ("Nimbus's package manager is pnpm.", "Nimbus的包管理器是pnpm。"),
        ("The biggest customer of Nimbus is Kelso.", "Nimbus的最大客户是Kelso。"),
        ("I'm allergic to soy.", "我对大豆过敏。"),
    ):
        assert told(english)[0][0] == told(chinese)[0][0]


@pytest.mark.parametrize(
    "text",
    [
        "The CLI is written in Zig.",
        "Our admin API listens on port 7001.",
        "测试环境的数据库是 DuckDB 2。",
    ],
)
def test_what_fills_a_slot_is_a_card(memory: Memory, text: str) -> None:
    say(memory, "s1", text, "and what is next?")
    assert text in cards(memory).values()


@pytest.mark.parametrize(
    "text", ["Could the CLI be written in Zig?", "Please write the CLI in Zig for once."]
)
def test_what_only_asks_about_a_slot_is_none(memory: Memory, text: str) -> None:
    say(memory, "s1", text, "and what is next?")
    assert not cards(memory)


def test_another_value_of_a_slot_is_a_conflict_and_no_support(memory: Memory) -> None:
    say(memory, "s1", "We decided to write the CLI in Zig.", "and what is next?")
    say(memory, "s2", "By the way the CLI is written in Nim.", "and what is next?")
    assert len(cards(memory, Status.CONFLICTED)) == 2
