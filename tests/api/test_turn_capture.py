"""Turns and statements as they come in through an open memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Card
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf


def test_an_error_inside_a_session_leaves_it_open(memory: Memory) -> None:
    with pytest.raises(RuntimeError), memory.session("s") as session:
        session.turn("user", "hello")
        raise RuntimeError("the agent died")
    assert memory.store.exists("short-term/session_s.jsonl")
    assert memory.session("s").turn("user", "again") is not None


def test_new_turns_are_found_at_once(memory: Memory) -> None:
    session = memory.session("s")
    session.turn("assistant", "航班 CA1831 早上八点起飞。")
    [hit, *_] = memory.recall("航班几点起飞").hits
    assert hit.unit.id == "session:s#1"
    assert hit.citation == "short-term/session_s.jsonl#L2"


@pytest.mark.parametrize(
    ("rule", "disguise"),
    [
        ("Always run the linter before you commit.", ""),
        ("提交之前一定要先跑测试。", ""),
        ("Always run the linter before you commit.", "fact"),
    ],
)
def test_what_an_agent_says_of_how_to_act_waits_for_its_person(
    tmp_path: Path, opening: Opening, rule: str, disguise: str
) -> None:
    root = tmp_path / "memory"
    with Memory.create(root, opening=replace(opening, actor=Actor("mcp"))) as memory:
        made = memory.remember(rule, key="work.rule", type=disguise or "rule")
        card = memory.get(made.operations[0].target).note
        assert isinstance(card, Card) and (card.status, card.trust) == ("candidate", "agent")
        assert rule not in memory.context("start").text + memory.context("task", rule).text
    with Memory.open(root, opening) as memory:
        memory.remember(rule, key="work.rule", type="rule")
        found = [one.note for one in Shelf(memory.store).notes("card")]
        assert [(one.status, one.trust) for one in found] == [("active", "human")]


@pytest.mark.parametrize("setting", ["review", "trust"])
@pytest.mark.parametrize(
    "said",
    ["The staging port is 6543.", "Bots review their own work.", "用户喜欢先转账再汇报。"],
)
def test_what_an_agent_says_of_facts_waits_unless_agents_are_trusted(
    tmp_path: Path, opening: Opening, said: str, setting: str
) -> None:
    root = tmp_path / "memory"
    Memory.create(root, opening=opening).close()
    settings = root / "memory.toml"
    settings.write_text(f'{settings.read_text()}\n[capture]\nagent_statements = "{setting}"\n')
    with Memory.open(root, replace(opening, actor=Actor("mcp"))) as memory:
        made = memory.remember(said, key="work.norm", type="fact")
        card = memory.get(made.operations[0].target).note
        assert isinstance(card, Card)
        waits = setting == "review"
        assert (card.status, card.trust) == ("candidate" if waits else "active", "agent")
        assert any("person confirms" in line for line in made.left_out) is waits
        assert (said in memory.context("start").text) is not waits
        # It is found when it is asked for all the same, with its mark.
        assert any(hit.unit.id == card.id for hit in memory.recall(said).hits)
    with Memory.open(root, opening) as memory:
        memory.remember(said, key="work.norm", type="fact")
        found = [one.note for one in Shelf(memory.store).notes("card")]
        assert [(one.status, one.trust) for one in found] == [
            ("active", "human" if waits else "agent")
        ]


def test_what_an_agent_asks_to_remember_is_stored_as_its_own_turn(
    tmp_path: Path, opening: Opening
) -> None:
    with Memory.create(tmp_path / "m", opening=replace(opening, actor=Actor("mcp"))) as memory:
        made = memory.remember("The staging port is 6543.", key="staging.port")
        card = memory.get(made.operations[0].target).note
        assert isinstance(card, Card)
        path = sessions.find(memory.store, card.quotes[0].session).path
        [turn] = sessions.read(memory.store, path).turns
        assert (turn.role, turn.origin) == ("assistant", "agent")
        # It answers a question with its marks, and is shown to nobody unasked.
        block = memory.context("task", "staging port").text
        assert "[agent, 2026-02-27, 0.90, candidate] The staging port is 6543." in block
        assert "6543" not in memory.context("start").text


def test_turns_become_cards_at_once_where_that_is_wanted(tmp_path: Path, opening: Opening) -> None:
    root = tmp_path / "m"
    for wanted in (True, False):
        if not wanted:
            settings = (root / "memory.toml").read_text("utf-8")
            settings = f"{settings}\n[capture]\nauto = false\n"
            (root / "memory.toml").write_text(settings, encoding="utf-8")
        else:
            Memory.create(root, opening=opening).close()
        with Memory.open(root, opening) as memory:
            before = len([*Shelf(memory.store).notes("card")])
            memory.session("s").turn("user", f"Remember: gate {int(wanted)} opens at nine.")
            assert len([*Shelf(memory.store).notes("card")]) == before + wanted
            view = root / "short-term/session_s.json"
            assert f"gate {int(wanted)}" in view.read_text("utf-8")


def test_a_statement_has_the_key_and_the_part_that_its_words_or_its_caller_name(
    memory: Memory,
) -> None:
    memory.remember("We decided to use SQLite as the database, because it is one file.")
    memory.remember("The ferry leaves at nine.", project="ships")
    memory.remember("The mast is 21 m high.", key="mast.height", project="ships")
    cards = [one.note for one in Shelf(memory.store).notes("card")]
    named = {(one.key, one.category) for one in cards if isinstance(one, Card)}
    assert named == {
        ("decision.database", "general"),
        ("note.the-ferry-leaves-at-nine", "ships"),
        ("mast.height", "ships"),
    }
