"""Remembering at once: by hand and by triggers, never twice."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.graph import SUGGESTED
from kimi_memory.domain.note import Card, CardType, LinkRel, Rel, Status
from kimi_memory.errors import UsageError
from kimi_memory.jobs.suggestions import suggestions
from kimi_memory.store.notes.notes import Shelf


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


def test_the_same_words_under_another_key_confirm_what_is_known(memory: Memory) -> None:
    memory.remember("We always deploy on Wednesday evening", key="rule.deploy", type="rule")
    memory.remember("We always deploy on Wednesday evening.", key="rule.release", type="rule")
    (card,) = cards(memory)
    assert len(card.quotes) == 2


def test_another_value_of_a_slot_is_found_under_any_key(memory: Memory) -> None:
    memory.remember("I live in Leeds", key="note.first")
    memory.remember("My home is in Bristol", key="note.second")
    assert [card.status for card in cards(memory)] == [Status.CONFLICTED, Status.CONFLICTED]


def test_what_contradicts_is_linked_as_contradicting(memory: Memory) -> None:
    memory.remember("The backend is written in Go")
    memory.remember("The backend is written in Rust")
    for card in cards(memory):
        against = [source for source in card.sources if source.rel is Rel.CONTRADICTS]
        assert len(against) == 1
        assert {link.rel for link in card.links} == {LinkRel.CONTRADICTS}


def test_swapped_roles_stand_beside_with_a_suggested_link(memory: Memory) -> None:
    memory.remember("Service Alpha depends on service Beta")
    memory.remember("Service Beta depends on service Alpha")
    first, second = sorted(cards(memory), key=lambda card: len(card.links))
    assert not first.links
    assert second.links[0].reason.startswith(SUGGESTED)
    assert [one.other.id for one in suggestions(Shelf(memory.store), 0.85)] == [first.id]


def test_one_more_of_many_values_stands_beside(memory: Memory) -> None:
    memory.remember("我对花生过敏")
    memory.remember("我对猫毛过敏")
    assert [card.status for card in cards(memory)] == [Status.ACTIVE, Status.ACTIVE]


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
