"""The gist: sections in both languages, weights, carried points, and a model's paragraph."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from kimi_memory.plugins.compaction.summarize import (
    Point,
    allowed,
    choose,
    lines_of,
    paragraph,
    points_in,
    points_of,
    tongue,
)

from kimi_memory import hookimpl
from kimi_memory.domain.note import Lang, Role
from kimi_memory.domain.prompt import Prompt, Reply
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.hooks.host import Host
from kimi_memory.llm.usage import metered

NOON = datetime(2026, 2, 27, 12, tzinfo=UTC)


def chat(*texts: str) -> Transcript:
    turns = [
        Turn(n, NOON, Role.USER if n % 2 else Role.ASSISTANT, text)
        for n, text in enumerate(texts, 1)
    ]
    return Transcript(Session("s", NOON), tuple(turns))


CHINESE = chat(
    "我们决定用 PostgreSQL，因为 JSON 支持好。",
    "好的，构建花了 42 秒。",
    "- [ ] 写部署文档",
    "好的。",
)
ENGLISH = chat(
    "We decided to use Redis because it is fast.", "Okay.", "- [ ] write the docs", "Okay."
)


@pytest.mark.parametrize(
    ("talk", "words"),
    [
        (CHINESE, ("决定:", "待办:", "PostgreSQL")),
        (ENGLISH, ("Decisions:", "Open tasks:", "Redis")),
    ],
    ids=["zh", "en"],
)
def test_decisions_and_tasks_are_told_in_their_language(
    talk: Transcript, words: tuple[str, ...]
) -> None:
    points = list(points_of(Host(entry_points=False), [talk]))
    lang = tongue([turn.text for turn in talk.turns])
    text = "\n".join(lines_of(choose(points, 500), "head", lang))
    assert all(word in text for word in words)
    carried = {(p.section, p.text) for p in points_in(text)}
    assert carried == {(p.section, p.text) for p in choose(points, 500)}


@pytest.mark.parametrize(
    ("told", "open_task"),
    [
        ("To-do: send the quote to Alice next Monday.", "send the quote to Alice"),
        ("待办：下周一给张伟发报价单。", "下周一给张伟发报价单"),
        ("We still need to move the invoice archive.", "move the invoice archive"),
        ("迁移脚本还没写。", "迁移脚本还没写"),
    ],
)
def test_spoken_tasks_are_open_until_they_are_done(told: str, open_task: str) -> None:
    host = Host(entry_points=False)
    points = [p for p in points_of(host, [chat("Hi.", "Hi.", told)]) if p.section == "tasks"]
    assert [open_task in point.text for point in points] == [True]


def test_a_task_that_was_done_since_is_no_longer_open() -> None:
    host = Host(entry_points=False)
    done = chat("Done with the invoice archive.", "Good.")
    tasks = [Point("tasks", "move the invoice archive", 4.0), Point("tasks", "call Bob", 4.0)]
    assert [p.text for p in points_of(host, [done], tasks) if p.section == "tasks"] == ["call Bob"]
    both = [*tasks, Point("tasks", "back the invoice archive up", 4.0)]
    assert len([p for p in points_of(host, [done], both) if p.section == "tasks"]) == 3


def test_the_weightiest_fit_first_and_no_sort_crowds_out_the_rest() -> None:
    tasks = [Point("tasks", f"task {n}", 4.6, n) for n in range(50)]
    points = [*tasks, Point("findings", "we found it", 1.5, 60), Point("decisions", "yes", 3.5, 1)]
    texts = [p.text for p in choose(points, 250)]
    assert {"yes", "we found it"} <= set(texts)
    assert len(texts) < 40
    assert choose(points, 0) == []
    assert [p.text for p in choose([tasks[0], tasks[0]], 100)] == ["task 0"]


def test_what_a_gate_refuses_is_left_out() -> None:
    points = [Point("said", "user: secret", 1.0), Point("said", "user: tea", 1.0)]
    kept = allowed(points, lambda draft: "no" if "secret" in draft.value else "")
    assert [p.text for p in kept] == ["user: tea"]


class Scripted:
    """A model that always says the same."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[str] = []

    @hookimpl
    def generate_text(self, prompt: Prompt) -> Reply:
        self.asked.append(prompt.text)
        return Reply(text=self.answer, model="scripted")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (json.dumps({"summary": "选了 PostgreSQL，构建花了 42 秒。"}), True),
        (json.dumps({"summary": "选了 PostgreSQL，构建花了 43 秒。"}), False),
        (json.dumps({"summary": "They chose a database and built it for a while."}), False),
        ("no JSON at all", False),
        ("", False),
        (json.dumps({"summary": 3}), False),
    ],
    ids=["sound", "invented figure", "wrong language", "prose", "empty", "wrong shape"],
)
def test_a_model_adds_a_paragraph_only_if_it_is_sound(said: str, kept: bool) -> None:
    host, model = Host(entry_points=False), Scripted(said)
    host.register(model, "scripted")
    with metered():
        found = list(paragraph(host, [CHINESE], Lang.ZH))
    assert [p.section for p in found] == (["overview"] if kept else [])
    assert "| user: 我们决定用 PostgreSQL" in model.asked[0]


def test_without_a_model_there_is_no_paragraph() -> None:
    assert list(paragraph(Host(entry_points=False), [ENGLISH], Lang.EN)) == []
