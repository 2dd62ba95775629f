"""Compaction: within the budget, nothing lost, what matters remembered, in both languages."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kimi_memory.plugins.compaction.chat import cost_of, is_gist, text_of
from kimi_memory.plugins.compaction.compact_chat import compact, flush, window

from kimi_memory import Memory
from kimi_memory.domain.compaction import Limits, Message
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.pages import Event
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.nlp.basic.sentences import estimate
from kimi_memory.operations.forget import forget
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf

CHINESE = (
    "我们决定用 PostgreSQL 当数据库，因为 JSON 支持好。",
    "记住：部署只在周二。",
    "看看第 {n} 行日志。",
)
ENGLISH = (
    "We decided to use Redis for the cache because it is fast.",
    "Remember that deploys happen on Tuesdays only.",
    "Please look at line {n} of the log.",
)


def chat(texts: Sequence[str], count: int) -> list[Message]:
    made: list[Message] = []
    for n in range(count // 2):
        made.append({"role": "user", "content": texts[n % len(texts)].format(n=n)})
        made.append({"role": "assistant", "content": f"OK {n}: {texts[-1].format(n=n + 1000)}"})
    return made


def turns(memory: Memory, session: str) -> list[str]:
    parts = sessions.parts(memory.store, session)
    return [t.text for p in parts for t in sessions.read(memory.store, p.path).turns]


def events(memory: Memory) -> list[Event]:
    notes = [filed.note for filed in Shelf(memory.store).notes("event")]
    return [note for note in notes if isinstance(note, Event) and "compaction" in note.tags]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (CHINESE, ("此前 495 条", "决定:", "PostgreSQL")),
        (ENGLISH, ("495 earlier", "Decisions:", "Redis")),
    ],
    ids=["zh", "en"],
)
def test_five_hundred_messages_become_a_summary_and_the_last_five(
    memory: Memory, texts: Sequence[str], words: Sequence[str]
) -> None:
    messages = chat(texts, 500)
    done = compact(memory, messages, Limits(4000))
    assert done.before > 2400 >= done.after == cost_of(done.messages)
    assert list(done.messages[1:]) == messages[-5:]
    assert all(word in text_of(done.messages[0]) for word in words)
    assert (done.dropped, done.stored) == (495, 500)
    assert turns(memory, done.session) == [text_of(m) for m in messages]
    assert done.remembered[0].operations
    keys = {e.key for e in Shelf(memory.store).entries().values() if e.kind == "card"}
    assert keys & {"decision.database", "decision.cache"}
    [event] = events(memory)
    assert event.content == done.summary
    assert event.quotes
    assert all(e.verified for e in memory.trace(event.id).evidence if e.quote)
    assert event.sources[0].place == f"session:{done.session}#1-495"


def test_a_chat_that_fits_comes_back_as_it_is(memory: Memory) -> None:
    messages = chat(ENGLISH, 10)
    done = compact(memory, messages, Limits(100_000))
    assert list(done.messages) == messages
    assert (done.dropped, done.summary) == (0, "")
    assert list(sessions.places(memory.store)) == []


def test_compacting_twice_changes_nothing(memory: Memory) -> None:
    done = compact(memory, chat(CHINESE, 200), Limits(3000))
    for force in (False, True):
        again = compact(memory, done.messages, Limits(3000), force=force)
        assert again.messages == done.messages
    assert len(events(memory)) == 1


def test_a_later_compaction_carries_the_earlier_summary(memory: Memory) -> None:
    first = compact(memory, chat(ENGLISH, 100), Limits(3000), session="c", force=True)
    later = [{"role": "user", "content": f"我们看了第 {n} 份报告。"} for n in range(60)]
    second = compact(memory, [*first.messages, *later], Limits(3000), session="c", force=True)
    assert "Redis" in text_of(second.messages[0])
    assert sum(map(is_gist, second.messages)) == 1
    assert len(events(memory)) == 2
    assert len(turns(memory, "c")) == 160
    assert not any("kimi-memory" in text for text in turns(memory, "c"))


@pytest.mark.parametrize(
    ("yes", "asked"), [("ok", "Shall I do part {n}?"), ("好的", "做第 {n} 部分吗？")]
)
def test_words_said_again_after_a_summary_are_stored_again(
    memory: Memory, yes: str, asked: str
) -> None:
    def talk(first: int, last: int) -> list[Message]:
        said = [(asked.format(n=n), yes) for n in range(first, last)]
        return [
            {"role": role, "content": text}
            for pair in said
            for role, text in zip(("assistant", "user"), pair, strict=True)
        ]

    limits = Limits(600)
    first = compact(memory, talk(0, 40), limits, force=True)
    # The summary names the session, so the chat goes on in it.
    second = compact(memory, [*first.messages, *talk(40, 44)], limits, force=True)
    assert (second.session, second.stored) == (first.session, 8)
    assert turns(memory, first.session) == [text_of(m) for m in talk(0, 44)]
    assert window(memory, first.session, 2000)[-8:] == talk(40, 44)
    assert f"session:{first.session}#76-83" in text_of(second.messages[0])


def test_the_summary_of_a_large_window_is_no_larger_than_a_page(memory: Memory) -> None:
    text = "这个函数在处理大文件的时候会把整个文件读进内存，所以我们要改成按块读取。" * 3
    messages = chat([f"第 {{n}} 步 {text}"], 160)
    done = compact(memory, messages, Limits(), force=True)
    assert 1000 < estimate(done.summary) <= 4000
    [event] = events(memory)
    assert event.content == done.summary


def test_on_demand_a_chat_that_fits_is_compacted(memory: Memory) -> None:
    done = compact(memory, chat(ENGLISH, 20), Limits(100_000), force=True)
    assert (len(done.messages), done.dropped) == (6, 15)


def test_turns_that_a_host_stored_already_are_not_stored_again(memory: Memory) -> None:
    messages = chat(ENGLISH, 40)
    handle = memory.session("c")
    for message in messages[:30]:
        handle.turn(str(message["role"]), text_of(message))
    assert flush(memory, messages, "c").stored == 10
    assert flush(memory, messages, "c").stored == 0
    assert turns(memory, "c") == [text_of(m) for m in messages]


@pytest.mark.parametrize(
    ("texts", "word"),
    [(CHINESE, "偏好和规则"), (ENGLISH, "preferences and rules")],
    ids=["zh", "en"],
)
def test_the_model_of_a_chat_is_asked_in_its_language(
    memory: Memory, texts: Sequence[str], word: str
) -> None:
    prompt = flush(memory, chat(texts, 10)).prompt
    assert word in prompt
    assert "memory_remember" in prompt
    assert flush(memory, []).prompt == ""


def test_what_was_forgotten_is_not_summarised(memory: Memory) -> None:
    memory.remember(ENGLISH[0], key="decision.cache", type="decision")
    forget(memory, Wanted(key="decision.cache"))
    done = compact(memory, chat(ENGLISH, 100), Limits(3000), force=True)
    assert "Redis" not in done.summary


def test_secrets_reach_neither_disk_nor_summary(memory: Memory) -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    leak: Message = {"role": "user", "content": f"We decided to use the token {secret} for now."}
    done = compact(memory, [leak, *chat(ENGLISH, 40)], Limits(2000), force=True)
    assert secret not in json.dumps([dict(m) for m in done.messages])
    assert all(secret.encode() not in memory.store.read(path) for path in memory.store.files())


def test_tool_messages_are_kept_too(memory: Memory) -> None:
    call: Message = {"role": "assistant", "content": [{"type": "tool_use", "input": {"a": 1}}]}
    result: Message = {"role": "tool", "content": "the answer is 42", "name": "calc"}
    done = compact(memory, [call, result, *chat(ENGLISH, 20)], Limits(900), force=True)
    assert "the answer is 42" in turns(memory, done.session)


def test_an_unknown_role_is_refused(memory: Memory) -> None:
    with pytest.raises(UsageError, match="role 'wizard'"):
        compact(memory, [{"role": "wizard", "content": "x"}] * 9, Limits(10))


def test_the_window_of_a_resumed_session_holds_a_summary_and_the_latest(memory: Memory) -> None:
    messages = chat(CHINESE, 200)
    flush(memory, messages, "c")
    whole = window(memory, "c", 100_000)
    assert [text_of(m) for m in whole] == [text_of(m) for m in messages]
    short = window(memory, "c", 800)
    assert cost_of(short) <= 800
    assert is_gist(short[0])
    assert short[1:] == whole[-len(short) + 1 :]
    assert len(short) > 6
    assert "PostgreSQL" in text_of(short[0])
    tiny = window(memory, "c", 40)
    assert cost_of(tiny) <= 40
    with pytest.raises(NotFoundError):
        window(memory, "none", 100)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["user", "assistant", "tool", "system"]),
            st.sampled_from(["好的。", "We decided to use Redis.", "- [ ] 写文档", "x " * 60, ""]),
        ),
        min_size=1,
        max_size=30,
    ),
    st.integers(20, 600),
    st.booleans(),
)
def test_the_result_is_within_the_budget_whenever_the_last_five_fit(
    memory: Memory, told: list[tuple[str, str]], tokens: int, force: bool
) -> None:
    messages: list[Message] = [{"role": role, "content": text} for role, text in told]
    limits = Limits(tokens)
    done = compact(memory, messages, limits, session="law", force=force)
    assert list(done.messages[-min(5, len(messages)) :]) == messages[-5:]
    if cost_of(messages[-5:]) <= limits.budget:
        assert cost_of(done.messages) <= limits.budget
    again = compact(memory, done.messages, limits, session="law", force=force)
    assert cost_of(again.messages) <= cost_of(done.messages)


def test_a_bare_secret_in_a_chat_is_masked_and_known_again(memory: Memory) -> None:
    value = "hunter2-" + "Zx9!kk"
    messages: list[Message] = [
        {"role": "user", "content": "Log in to the router."},
        {"role": "assistant", "content": "What is the password?"},
        {"role": "user", "content": value},
    ]
    assert flush(memory, messages, "c").stored == 3
    assert not any(value in text for text in turns(memory, "c"))
    assert flush(memory, messages, "c").stored == 0
