"""Sessions: turns are durable, numbered, chained, and stored once."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.capture.log import Said, SessionLog, Views, fits_window
from kimi_memory.config import MARKER, CaptureTable
from kimi_memory.domain.note import Origin, Role
from kimi_memory.errors import UsageError
from kimi_memory.store.notes import sessions
from kimi_memory.store.store import Store

VIEW = "short-term/session_s.json"
LONG = "I prefer tabs over spaces. " + "The weather was fine, and we talked about it. " * 20


def test_a_turn_whose_view_cannot_be_written_is_answered_as_stored(memory: Memory) -> None:
    (memory.root / VIEW).mkdir(parents=True)
    turn = memory.session("s").turn(Role.USER, "We decided to use SQLite as the database.")
    assert turn is not None
    [stored] = sessions.read(memory.store, "short-term/session_s.jsonl").turns
    assert stored.text == turn.text


def test_a_view_that_cannot_be_written_later_holds_up_no_other(memory: Memory) -> None:
    (memory.root / VIEW).mkdir(parents=True)
    views = Views(memory.store, pause_seconds=60)
    views.show(VIEW, lambda: b"{}")
    views.show("short-term/session_t.json", lambda: b"{}")
    views.close()
    assert memory.store.read("short-term/session_t.json") == b"{}"


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("", False),
        ("short", False),
        ("ten chars.", True),
        ("四个汉字", False),
        ("五个汉字呢", True),
        ("x" * 500, True),
        ("x" * 501, False),
        ("字" * 250, True),
        ("字" * 251, False),
    ],
)
def test_chinese_counts_double(text: str, fits: bool) -> None:
    assert fits_window(text, CaptureTable()) is fits


def captured(root, opening, table: str, text: str) -> int:
    """Return how many cards one turn makes under some settings."""
    with (root / MARKER).open("a", encoding="utf-8") as file:
        file.write(f"\n[capture]\n{table}\n")
    with Memory.open(root, opening) as memory:
        memory.session("s").turn("user", text)
        return len([path for path in memory.store.files("semantic") if path.endswith(".md")])


@pytest.mark.parametrize(
    ("table", "text", "cards"),
    [
        ("", LONG, 0),
        ("max_chars = 2000", LONG, 1),
        ("", "我讨厌弹窗。", 1),
        ("min_chars = 20", "我讨厌弹窗。", 0),
        ("max_chars = 8", "我讨厌弹窗。", 0),
    ],
    ids=["long", "long, wider", "short", "short, narrower", "below the smallest"],
)
def test_what_the_settings_say_holds(
    memory: Memory, opening, table: str, text: str, cards: int
) -> None:
    root = memory.root
    memory.close()
    assert captured(root, opening, table, text) == cards


def lines(memory: Memory, id: str) -> list[dict[str, object]]:
    text = (memory.root / f"short-term/session_{id}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_a_turn_stands_in_the_file_when_the_call_returns(memory: Memory) -> None:
    turn = memory.session("s", project="p").turn("user", "今天天气不错", speaker="小明")
    assert turn is not None
    header, stored = lines(memory, "s")
    assert header["kind"] == "session"
    assert header["project"] == "p"
    assert (stored["n"], stored["text"], stored["speaker"]) == (1, "今天天气不错", "小明")


def test_roles_decide_whose_words_they_are(memory: Memory) -> None:
    session = memory.session("s")
    origins = [session.turn(role, "hello there") for role in Role]
    assert [turn.origin for turn in origins if turn] == [
        Origin.HUMAN,
        Origin.AGENT,
        Origin.TOOL,
        Origin.TOOL,
    ]


def test_turns_chain_and_an_edit_shows(memory: Memory) -> None:
    session = memory.session("s")
    for text in ("one", "two", "three"):
        session.turn("user", text)
    path = "short-term/session_s.jsonl"
    assert sessions.chain_problems(memory.store, path) == []
    file = memory.root / path
    file.write_text(file.read_text(encoding="utf-8").replace("two", "2wo"), encoding="utf-8")
    problems = sessions.chain_problems(memory.store, path)
    assert "line 3 was changed after it was written" in problems


def test_a_removed_turn_shows(memory: Memory) -> None:
    session = memory.session("s")
    for text in ("one", "two", "three"):
        session.turn("user", text)
    file = memory.root / "short-term/session_s.jsonl"
    kept = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*kept[:2], *kept[3:]]))
    problems = sessions.chain_problems(memory.store, "short-term/session_s.jsonl")
    assert problems == ["turn 3 (line 3) does not follow from those before it"]


def test_the_same_ref_is_stored_once(memory: Memory) -> None:
    session = memory.session("s")
    assert session.turn("user", "hello", ref="m1") is not None
    assert session.turn("user", "hello", ref="m1") is None
    assert session.turn("user", "hello", ref="m2") is not None
    assert len(lines(memory, "s")) == 3


def test_an_injected_block_alone_is_no_turn(memory: Memory) -> None:
    block = "<relevant-memories>\nold\n</relevant-memories>"
    assert memory.session("s").turn("user", block) is None
    assert len(lines(memory, "s")) == 1


@pytest.mark.parametrize("far", [False, True], ids=["one memory", "two processes"])
def test_two_handles_share_one_numbering(memory: Memory, opening: Opening, far: bool) -> None:
    with Memory.open(memory.root, opening) as other:
        first, second = memory.session("s"), (other if far else memory).session("s")
        for _ in range(3):
            first.turn("user", "from the first")
            second.turn("assistant", "from the second")
    assert [line.get("n") for line in lines(memory, "s")[1:]] == [1, 2, 3, 4, 5, 6]
    assert sessions.chain_problems(memory.store, "short-term/session_s.jsonl") == []


def test_the_view_shows_the_last_ten_turns_and_the_state(memory: Memory) -> None:
    session = memory.session("s")
    for n in range(12):
        session.turn("user", f"turn {n}")
    session.state(task={"title": "写报告"}, variables={"a": 1})
    session.state(variables={"b": 2})
    view = json.loads((memory.root / "short-term/session_s.json").read_text(encoding="utf-8"))
    assert view["session_id"] == "s"
    assert len(view["context"]) == 10
    assert (
        view["context"][-1]["content" if "content" in view["context"][-1] else "text"] == "turn 11"
    )
    assert view["current_task"] == {"title": "写报告"}
    assert view["temp_vars"] == {"a": 1, "b": 2}


def test_an_ended_session_takes_no_turns(memory: Memory) -> None:
    session = memory.session("s")
    session.turn("user", "hello")
    memory.mark_ended("s")
    with pytest.raises(UsageError, match="has ended"):
        session.turn("user", "more")


def test_a_continuation_goes_on_numbering_and_knows_earlier_refs(memory: Memory) -> None:
    session = memory.session("s")
    session.turn("user", "first part", ref="a")
    session.turn("assistant", "answer", ref="b")
    memory.end("s")
    more = memory.session("s")
    assert more.id == "s.2"
    assert more.header.continues == "s"
    assert more.turn("user", "first part", ref="a") is None
    third = more.turn("user", "second part", ref="c")
    assert third is not None
    assert third.n == 3
    assert memory.session("s").id == "s.2"


def test_a_session_that_waits_to_be_distilled_is_continued_too(memory: Memory) -> None:
    memory.session("s").turn("user", "first part", ref="a")
    memory.mark_ended("s")
    more = memory.session("s")
    assert more.id == "s.2"
    assert more.turn("user", "first part", ref="a") is None
    second = more.turn("user", "second part", ref="b")
    assert second is not None
    assert second.n == 2


def test_a_hostile_id_becomes_a_safe_file(memory: Memory) -> None:
    session = memory.session("../../etc/passwd")
    session.turn("user", "hello")
    assert "/" not in session.id
    assert (memory.root / f"short-term/session_{session.id}.jsonl").is_file()


def test_what_failed_is_read_again_from_the_file(memory: Memory, clock, opening: Opening) -> None:
    actor = opening.actor._replace(session="s")
    log = SessionLog(memory.store, memory.host, memory.screen, actor)
    memory.session("s")
    log.start(memory.session("s").header)
    log.add([Said(Role.USER, "one", clock(), ref="a")])
    with pytest.raises(AttributeError):
        log.add([Said(Role.USER, "two", clock(), ref="b"), "not a turn"])
    assert [c.turn.n for c in log.add([Said(Role.USER, "two", clock(), ref="b")])] == [2]


def test_a_view_is_no_truth_and_may_vanish(memory: Memory) -> None:
    session = memory.session("s")
    session.turn("user", "hello")
    view = Path(memory.root / "short-term/session_s.json")
    view.unlink()
    session.turn("user", "again")
    assert view.is_file()
    assert "short-term/session_s.json" not in memory.store.files()


@pytest.mark.parametrize(
    "asked", ["What is the password of the router?", "密码是多少？", "Please paste the API key."]
)
def test_a_bare_secret_after_a_question_for_it_is_masked(memory: Memory, asked: str) -> None:
    value = "hunter2-" + "Zx9!kk"
    session = memory.session("s")
    session.turn("assistant", asked)
    turn = session.turn("user", value)
    assert turn is not None
    assert value not in turn.text and turn.masked == 1
    held = [path.read_bytes() for path in memory.root.rglob("*") if path.is_file()]
    assert not any(value.encode() in content for content in held)


def test_a_bare_secret_is_masked_across_processes_and_parts(
    memory: Memory, opening: Opening
) -> None:
    value = "hunter2-" + "Zx9!kk"
    with Memory.open(memory.root, opening) as other:
        other.session("s").turn("user", "下面是我的密码")
    [said] = [memory.session("s").turn("user", value)]
    assert said is not None and value not in said.text
    memory.session("s").turn("assistant", "What is the password?")
    memory.mark_ended("s")
    later = memory.session("s").turn("user", value)
    assert later is not None and later.n == 4 and value not in later.text


def test_a_bare_answer_to_another_question_stays(memory: Memory) -> None:
    session = memory.session("s")
    session.turn("assistant", "Which version do you use?")
    turn = session.turn("user", "hunter2-" + "Zx9kk")
    assert turn is not None and turn.masked == 0


def test_another_file_of_the_same_size_is_read_again(tmp_path: Path, opening: Opening) -> None:
    """As where a purge leaves a session as long as it was."""
    fixed = replace(opening, clock=lambda: datetime(2026, 2, 27, 9, tzinfo=UTC))
    first, other = (Memory.create(tmp_path / name, opening=fixed) for name in ("a", "b"))
    with first, other:
        paths = [one.root / "short-term/session_s.jsonl" for one in (first, other)]
        for memory, ref in ((first, "m1"), (other, "m2")):
            memory.session("s").turn("user", "hello", ref=ref)
        assert paths[0].stat().st_size == paths[1].stat().st_size
        paths[1].replace(paths[0])
        assert first.session("s").turn("user", "hello", ref="m2") is None
        assert first.session("s").turn("user", "hello", ref="m1") is not None
        assert sessions.chain_problems(first.store, "short-term/session_s.jsonl") == []


def test_threads_that_speak_in_one_session_number_their_turns_alike(memory: Memory) -> None:
    """As the calls of a server do, each with a handle of its own."""

    def say_six(number: int) -> None:
        for n in range(6):
            memory.session("s").turn("user", f"thread {number} says {n}", ref=f"{number}-{n}")

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(say_six, range(6)))
    assert [line.get("n") for line in lines(memory, "s")[1:]] == list(range(1, 37))
    assert sessions.chain_problems(memory.store, "short-term/session_s.jsonl") == []


def act_after_a_look(
    store: Store, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]
) -> None:
    """Let something happen right after the next look into a folder."""
    look = store.files

    def files(under: str = "") -> list[str]:
        found = look(under)
        monkeypatch.undo()
        act()
        return found

    monkeypatch.setattr(store, "files", files)


def test_a_session_that_another_begins_meanwhile_is_not_continued_but_joined(
    memory: Memory, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(memory.root, opening) as other:
        act_after_a_look(memory.store, monkeypatch, lambda: speak(other, "first"))
        speak(memory, "second")
    assert [line.get("text") for line in lines(memory, "s")[1:]] == ["first", "second"]
    assert [place.id for place in sessions.parts(memory.store, "s")] == ["s"]


def test_a_session_that_another_ends_meanwhile_is_continued(
    memory: Memory, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    speak(memory, "first")
    with Memory.open(memory.root, opening) as other:
        act_after_a_look(memory.store, monkeypatch, lambda: other.end("s"))
        speak(memory, "second")
    assert lines(memory, "s.2")[1]["n"] == 2
    assert [place.id for place in sessions.places(memory.store)] == ["s", "s.2"]


def test_an_id_that_was_used_up_meanwhile_is_not_used_again(memory: Memory) -> None:
    speak(memory, "first")
    header = memory.session("s").header
    memory.end("s")
    actor = memory.actor._replace(session="s")
    late = SessionLog(memory.store, memory.host, memory.screen, actor)
    with pytest.raises(UsageError, match="has ended"):
        late.start(header)


def speak(memory: Memory, text: str) -> None:
    memory.session("s").turn("user", text)
