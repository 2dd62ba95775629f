"""Overview pages: each line shows a card and may be edited; a sign tells whether it was."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.domain.note import Card, CardType, Lang
from kimi_memory.formats.page_lines import (
    is_generated,
    may_rewrite,
    read_page,
    shown,
    sign_of,
    signed,
    strangers,
    type_of,
    with_reason,
    written,
)

NOW = datetime(2026, 2, 27, 9, tzinfo=UTC)


def card(value: str, key: str = "db.choice", lang: Lang = Lang.EN, id: str = "card-01a") -> Card:
    return Card(
        id=id, created=NOW, updated=NOW, title="", type=CardType.FACT, key=key, value=value,
        lang=lang,
    )  # fmt: skip


@pytest.mark.parametrize(("lang", "value"), [(Lang.EN, "we use SQLite"), (Lang.ZH, "用 SQLite")])
def test_a_line_gives_back_value_confidence_and_id(lang: Lang, value: str) -> None:
    [line] = read_page(written(card(value, lang=lang))).lines.values()
    assert line.key_and_value("db.choice") == ("db.choice", value)
    assert line.key_and_value() == ("", value)
    assert (line.confidence, line.id) == ("0.50", "card-01a")


@given(st.text(max_size=80), st.text(max_size=20))
def test_any_card_shows_as_one_line_that_is_read_as_its_own(value: str, key: str) -> None:
    shows = card(value, f"k{key}")
    page = read_page(f"## Facts\n\n{written(shows)}\n")
    assert list(page.lines) == [shows.id]
    assert not page.fresh
    assert page.lines[shows.id].text == shown(shows).text


@pytest.mark.parametrize(
    "text",
    [
        "* [0.50] we use SQLite ^card-01a",
        "1. [0.50] we use SQLite ^card-01a",
        "- [0.50] we use\n  SQLite ^card-01a",
        "- [0.50] we use\nSQLite ^card-01a",
        "  - [0.50]   we  use SQLite ^card-01a  ",
        "- [0.50] we use SQLite ^card-01a\r\n\r\nmore",
    ],
    ids=["star", "number", "wrapped", "lazy", "spaces", "windows"],
)
def test_what_editors_do_to_a_line_changes_nothing(text: str) -> None:
    assert read_page(text).lines["card-01a"].text == shown(card("we use SQLite")).text


@pytest.mark.parametrize(
    ("text", "said", "number"),
    [
        ("- we use SQLite (2026-02-27, 0.80) ^card-01a", "we use SQLite", "0.80"),
        ("- 用 SQLite（2026-02-27，0.80，有争议） ^card-01a", "用 SQLite", "0.80"),
        ("- dinner (at 7) (2026-02-27, 1) ^card-01a", "dinner (at 7)", "1"),
        ("- [0.80] we use SQLite ^card-01a", "we use SQLite", "0.80"),
        ("- the wedding is on Monday (2026-05-12)", "the wedding is on Monday (2026-05-12)", ""),
    ],
    ids=["en", "zh", "brackets", "earlier", "own date"],
)
def test_what_stands_behind_a_line_is_not_what_it_says(text: str, said: str, number: str) -> None:
    page = read_page(text)
    [line] = [*page.lines.values(), *page.fresh]
    assert (line.text, line.confidence) == (said, number)


def test_lines_without_an_id_are_fresh_and_know_their_section() -> None:
    page = read_page("## Rules\n\n- never on Friday\n\n## 决策\n\n- db.pool：二十个连接\n")
    assert [(line.text, type_of(line.section)) for line in page.fresh] == [
        ("never on Friday", CardType.RULE),
        ("db.pool：二十个连接", CardType.DECISION),
    ]
    assert page.fresh[1].key_and_value() == ("db.pool", "二十个连接")
    assert page.fresh[0].key_and_value() == ("", "never on Friday")


def test_a_second_line_of_the_same_id_is_fresh() -> None:
    page = read_page("- a ^card-01a\n- b ^card-01a\n")
    assert page.lines["card-01a"].text == "a"
    assert [line.text for line in page.fresh] == ["b"]


def test_notes_at_the_end_are_the_readers_own_and_kept_as_they_are() -> None:
    page = read_page("intro\n\n- a ^card-01a\n\n## 备注\n\n# 我的\n\n- 一行\n\n    code\n")
    assert page.notes == "# 我的\n\n- 一行\n\n    code"
    assert not page.fresh
    moved = read_page("## Notes\n\n- a ^card-01a\nmine\n")
    assert list(moved.lines) == ["card-01a"]
    assert moved.notes == "mine"


def test_added_prose_is_told_from_what_the_page_had() -> None:
    base = read_page("# Memory\n\nintro\n\n## Facts\n\n- a ^card-01a\n")
    page = read_page("# Memory\n\nintro\n\nmy words\n\n## Facts\n\n## Mine\n\n- a ^card-01a\n")
    assert strangers(page, base, ["Facts"]) == ["my words", "## Mine"]


GENERATED = "---\nkind: overview\ngenerated: 000000000000\n---\n# Facts\n\n- One. ^card-1\n"


def test_a_signed_page_is_known_until_somebody_edits_it() -> None:
    page = signed(GENERATED)
    sign = sign_of(page)
    assert len(sign) == 12
    assert sign != "0" * 12
    assert is_generated(page)
    assert may_rewrite(page)
    edited = page.replace("One", "Two")
    assert not is_generated(edited)
    assert not may_rewrite(edited)
    assert sign_of(edited) == sign


def test_an_editor_that_only_changed_line_ends_keeps_the_sign() -> None:
    page = signed(GENERATED)
    assert sign_of("\ufeff" + page.replace("\n", "\r\n")) == sign_of(page)


def test_a_page_without_a_sign_is_a_persons_unless_it_is_empty() -> None:
    assert sign_of("# Mine\n") == ""
    assert not is_generated("# Mine\n")
    assert not may_rewrite("# Mine\n")
    assert may_rewrite("\ufeff \n")
    assert signed("# Mine\n") == "# Mine\n"


def test_an_item_knows_the_line_of_the_file_it_begins_on() -> None:
    body = "## Facts\n\n- first\n  goes on\n- second\n"
    assert [line.number for line in read_page(body).fresh] == [3, 5]
    assert [line.number for line in read_page(body, above=4).fresh] == [7, 9]


@pytest.mark.parametrize(
    ("reason", "lang", "shown"),
    [
        ("原因是线接反了。", Lang.ZH, "换线。（原因：线接反了。）"),
        ("因为线接反了。", Lang.ZH, "换线。（原因：线接反了。）"),
        ("线接反了。", Lang.ZH, "换线。（原因：线接反了。）"),
        ("because it was swapped.", Lang.EN, "换线。 (Reason: it was swapped.)"),
        ("because of the rain.", Lang.EN, "换线。 (Reason: because of the rain.)"),
        ("因为", Lang.ZH, "换线。"),
    ],
)
def test_a_reason_does_not_name_itself_twice(reason: str, lang: Lang, shown: str) -> None:
    assert with_reason("换线。", reason, lang) == shown
