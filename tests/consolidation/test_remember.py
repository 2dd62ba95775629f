"""Remembering at once: by hand and by triggers, never twice."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.errors import UsageError
from kimi_memory.model.card import Card, CardType
from kimi_memory.store.shelf import Shelf


def cards(memory: Memory) -> list[Card]:
    return [f.note for f in Shelf(memory.store).notes("card") if isinstance(f.note, Card)]


def test_a_remembered_statement_is_a_turn_and_a_card_that_quotes_it(memory: Memory) -> None:
    report = memory.remember("发布前要跑一遍检查脚本", key="rule.release", type="rule")
    [card] = cards(memory)
    assert (card.key, card.type, card.confidence) == ("rule.release", CardType.RULE, 0.9)
    [evidence] = memory.trace(card.id).evidence
    assert evidence.verified
    assert evidence.path.startswith("short-term/session_remembered-20260227")
    assert report.counts == {"ADD": 1}


def test_a_secret_is_not_remembered(memory: Memory) -> None:
    report = memory.remember("my password is hunter2-Zx9!")
    assert cards(memory) == []
    assert "secret" in report.left_out[0]
    assert "hunter2" not in "".join(
        p.read_text(encoding="utf-8") for p in memory.root.rglob("*.jsonl") if ".git" not in p.parts
    )


@pytest.mark.parametrize(
    ("text", "type", "why"),
    [("  ", "", "nothing to remember"), ("x is y", "opinion", "no card type")],
)
def test_bad_requests_name_the_remedy(memory: Memory, text: str, type: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        memory.remember(text, type=type)


def test_triggers_remember_while_the_session_runs(memory: Memory) -> None:
    session = memory.session("s")
    session.turn("user", "记住：周五不要发版。")
    assert [card.status for card in cards(memory)] == ["active"]
    session.turn("user", "今天中午吃了面，下午有点困。")
    assert len(cards(memory)) == 1


def test_nearly_the_same_words_are_known_already(memory: Memory) -> None:
    memory.remember("We always deploy on Wednesday evening", key="rule.deploy", type="rule")
    report = memory.remember(
        "We always deploy on Wednesday evening.", key="rule.release", type="rule"
    )
    assert "known already" in report.left_out[0]
    assert len(cards(memory)) == 1


def test_distilling_later_finds_the_same_words_known(memory: Memory) -> None:
    session = memory.session("s")
    session.turn("user", "记住：周五不要发版。")
    session.turn("assistant", "好的，记住了。")
    session.end()
    assert len(cards(memory)) == 1


def test_at_most_three_memories_an_exchange(memory: Memory) -> None:
    session = memory.session("s")
    session.turn(
        "user",
        "记住：周五不要发版。记住：端口用 8080。记住：日志保留三十天。"
        "记住：备份放在北京机房。记住：预算是两千元。",
    )
    assert len(cards(memory)) <= 3
