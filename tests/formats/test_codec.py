"""Laws and examples of the text form of notes."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.domain.note import (
    Card,
    CardType,
    EventType,
    Lang,
    Quote,
    Source,
    Status,
)
from kimi_memory.domain.pages import Event, Todo
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.card_form import links_text
from tests.formats.strategies import KINDS, examples, links, notes

AT = datetime(2026, 2, 27, 9, 10, tzinfo=UTC)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_rendered_parses_back(kind):
    @examples(30)
    @given(KINDS[kind])
    def law(note):
        text = codec.render(note)
        assert codec.parse(text, "x.md") == note
        assert codec.render(codec.parse(text, "x.md")) == text

    law()


@pytest.mark.parametrize("kind", KINDS)
def test_a_patched_file_says_what_it_should(kind):
    @examples(20)
    @given(KINDS[kind], KINDS[kind])
    def law(old, new):
        new = replace(new, id=old.id)
        text = codec.render(old)
        assert codec.parse(codec.patch(text, old, new, "x.md"), "x.md") == new

    law()


@examples(20)
@given(KINDS["card"], st.lists(links(), max_size=3))
def test_a_new_card_shows_its_links_as_a_patched_one_does(card, others):
    card = replace(card, links=tuple(others))
    shown = links_text(card, lambda id: f"semantic/{id}.md")
    plain = codec.render(card)
    # Without any, no label stands there with nothing behind it.
    assert codec.render(card, shown) == (codec.with_links(plain, card, shown) if shown else plain)


@examples(20)
@given(notes())
def test_patching_with_the_same_note_changes_no_byte(note):
    text = codec.render(note)
    assert codec.patch(text, note, note, "x.md") == text


def test_the_documents_event_is_read(doc):
    """
    ---
    id: event-1
    kind: event
    type: decision
    created: 2026-02-27T17:10:00+08:00
    at: 2026-02-27T09:10
    tags: "#数据库, 选型"
    participants: 小李
    sources: session:01j#3-4
    ---
    # 事件：选用 PostgreSQL

    - 时间：今天上午
    - 类型：决策
    - **教训**：先做基准测试
    - 内容：比较了两种数据库，
      写了报告
    继续的一行
    * Outcome: settled
    """
    event = codec.parse(doc, "x.md")
    assert event == Event(
        id="event-1",
        created=AT,
        updated=AT,
        lang=Lang.ZH,
        tags=("数据库", "选型"),
        sources=(Source("01j", 3, 4),),
        title="选用 PostgreSQL",
        type=EventType.DECISION,
        at=AT,
        participants=("小李",),
        content="比较了两种数据库，\n写了报告\n继续的一行",
        outcome="settled",
        lesson="先做基准测试",
    )


def test_of_two_quotes_that_are_the_same_one_may_be_changed():
    quotes = (Quote("01a", 1, "we use tabs"), Quote("01a", 1, "we use tabs"))
    old = Event(
        id="event-1", title="tabs", created=AT, updated=AT, lang=Lang.EN,
        type=EventType.DECISION, at=AT, quotes=quotes,
    )  # fmt: skip
    new = replace(old, quotes=(Quote("01c", 1, "we use tabs"), quotes[1]))
    assert codec.parse(codec.patch(codec.render(old), old, new, "x.md"), "x.md") == new


def test_a_persons_words_survive_a_patch(doc):
    """
    ---
    # keep me
    id: project-1
    kind: project
    created: 2026-02-27T09:10:00   # by hand
    my_key: [1, 2]
    ---
    # 项目: 雅典娜

    我的随笔。

    ## 进度

    * 第一步
      很长
    * 第二步

    旁注：这也是一条

    ## 我的笔记

    - 不是进度

    ## 待办
    - [ ] 写测试
    - [x] 写代码
    """
    project = codec.parse(doc, "x.md")
    assert project.progress == ("第一步\n很长", "第二步", "旁注：这也是一条")
    new = replace(
        project,
        status=Status.ARCHIVED,
        finished=True,
        progress=(*project.progress[:2], "第三步", project.progress[2]),
        todos=(Todo("写测试", done=True), Todo("写代码", done=True), Todo("发布")),
        decisions=("用 Python",),
    )
    result = codec.patch(doc, project, new, "x.md")
    assert codec.parse(result, "x.md") == new
    expected = doc.replace("my_key: [1, 2]\n", "my_key: [1, 2]\nstatus: archived\nfinished: true\n")
    expected = expected.replace("* 第二步\n", "* 第二步\n* 第三步\n")
    expected = expected.replace("- [ ] 写测试", "- [x] 写测试") + "- [ ] 发布\n"
    assert result == expected + "\n## 决策\n\n- 用 Python\n"


def test_a_field_is_changed_added_and_taken_away_in_place(doc):
    """
    ---
    id: card-1
    kind: card
    type: fact
    key: db.choice
    created: 2026-02-27T09:10:00
    ---
    # Database

    My remark stays.

    - **Definition**: We use MySQL
      for now.
    - Caveats： none
    - Mine: a field of my own

    ```sh
    # a comment in code
    ```
    """
    card = codec.parse(doc, "x.md")
    new = replace(card, value="We use PostgreSQL", applies="always", caveats="", title="The store")
    result = codec.patch(doc, card, new, "x.md")
    expected = doc.replace("# Database", "# The store").replace("- Caveats： none\n", "")
    expected = expected.replace(
        "We use MySQL\n  for now.\n", "We use PostgreSQL\n- When to use: always\n"
    )
    assert result == expected
    assert codec.parse(codec.patch(result, new, card, "x.md"), "x.md") == card


def test_newlines_and_a_missing_last_one_are_kept():
    card = Card(
        id="card-1", created=AT, updated=AT, title="T", type=CardType.FACT, key="k", value="v"
    )
    text = "\ufeff" + codec.render(card).removesuffix("\n").replace("\n", "\r\n")
    new = replace(card, value="w", quotes=(Quote("01j", 3, "a\n\nb"),))
    result = codec.patch(text, card, new, "x.md")
    assert codec.parse(result, "x.md") == new
    assert result.count("\n") == result.count("\r\n")
    assert codec.patch(result, new, replace(new, quotes=()), "x.md") == (
        text.replace("Definition: v", "Definition: w") + "\r\n"
    )


def test_the_example_of_the_contract_is_what_we_write():
    page = Path(__file__).parents[2] / "docs" / "file-format.md"
    start = "```markdown\n---\n"
    text = "---\n" + page.read_text(encoding="utf-8").split(start)[1].split("```")[0]
    event = codec.parse(text, "x.md")
    assert isinstance(event, Event)
    assert event.content == "比较了两种数据库，\n选了 PostgreSQL。"
    assert codec.render(event) == text


def test_every_key_of_a_card_stands_in_the_contract() -> None:
    page = (Path(__file__).parents[2] / "docs/file-format.md").read_text(encoding="utf-8")
    keys = {field.name for field in fields(Card)} - {"title", "quotes", *Card.body_fields}
    assert not {key for key in keys if f"`{key}`" not in page}


def test_a_text_that_was_read_is_known_and_a_broken_one_is_told_again() -> None:
    card = Card(
        id="card-a", created=AT, updated=AT, title="Tea", type=CardType.FACT,
        key="tea", value="Tea is green.",
    )  # fmt: skip
    text = codec.render(card)
    assert codec.parse(text, "semantic/tea.md") is codec.parse(text, "semantic/tea.md")
    assert codec.parse(text.replace("green", "black"), "semantic/tea.md") != card
    for _ in range(2):
        with pytest.raises(FormatError, match=r"other\.md"):
            codec.parse(text.replace("kind: card", "kind: cart"), "other.md")


_KEYS = {one.name for one in fields(Card) if one.type == "str"} - {"id", *Card.body_fields}


@pytest.mark.parametrize("name", sorted(_KEYS))
def test_a_key_of_a_card_is_cleaned_to_one_line(name: str) -> None:
    card = Card(
        id="card-1", created=AT, updated=AT, title="T", type=CardType.FACT, key="k", value="v"
    )
    assert "\n" not in getattr(codec.clean_note(replace(card, **{name: "one\n two"})), name)
