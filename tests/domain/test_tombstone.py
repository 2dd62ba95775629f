"""Tombstones: what they bar, and what they silence."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kimi_memory.domain.tombstone import Tombstone, Tombstones, hash_of
from kimi_memory.nlp.basic.patterns import bare, normalise

NOW = datetime(2026, 2, 27, 9, tzinfo=UTC)
ZH, EN = "我的牙医是奥斯陆的陈医生。", "My dentist is Doctor Abernathy in Oslo."


def stone(value: str, key: str = "", scope: str = "memory", *, hashed: bool = False) -> Tombstone:
    words = hash_of(bare(value)) if hashed else normalise(value)
    return Tombstone(scope, key, words, NOW, "me", hashed=hashed)


@pytest.mark.parametrize("hashed", [False, True], ids=["plain", "hashed"])
@pytest.mark.parametrize(
    "text", [ZH, "我的牙醫是奧斯陸的陳醫生", EN, "ＭＹ DENTIST is Doctor Abernathy, in Oslo"]
)
def test_a_value_is_barred_however_it_is_typed(text: str, hashed: bool) -> None:
    stones = Tombstones([stone(ZH, "health.dentist", hashed=hashed), stone(EN, hashed=hashed)])
    assert stones.bars({"memory"}, "health.dentist", [text])
    assert stones.bars({"memory"}, "another.key", [text])
    assert not stones.bars({"project:p"}, "health.dentist", [text])


def test_a_hash_of_an_older_form_still_bars() -> None:
    old = Tombstone("memory", "", hash_of(normalise(EN)), NOW, "me", hashed=True)
    assert Tombstones([old]).bars({"memory"}, "", [EN.upper()])


def test_a_short_value_is_barred_under_its_own_key_only() -> None:
    stones = Tombstones([stone("blue", "colour")])
    assert stones.bars({"memory"}, "colour", ["Blue."])
    assert not stones.bars({"memory"}, "mood", ["Blue."])


@pytest.mark.parametrize("hashed", [False, True], ids=["plain", "hashed"])
@pytest.mark.parametrize(
    ("value", "longer"),
    [
        ("My cat is Momo.", "pet.cat.my-cat-is-momo."),
        ("我的猫叫毛毛。", "pet.cat.我的猫叫毛毛。"),
        ("My cat is Momo.", "pet.cat.momo"),
    ],
)
def test_a_short_value_is_barred_where_its_key_only_goes_on_with_its_words(
    value: str, longer: str, hashed: bool
) -> None:
    for key, other in (("pet.cat", longer), (longer, "pet.cat")):
        stones = Tombstones([stone(value, key, hashed=hashed)])
        assert stones.bars({"memory"}, other, [value])
        assert not stones.bars({"memory"}, f"{key}.neighbour", [value])
        assert not stones.bars({"memory"}, other, [f"{value} 2"])


def test_a_stone_without_a_value_bars_its_key() -> None:
    stones = Tombstones([Tombstone("memory", "health.dentist", "", NOW, "me")])
    assert stones.bars({"memory"}, "health.dentist", ["anything"])
    assert not stones.bars({"memory"}, "health.doctor", ["anything"])


@pytest.mark.parametrize("hashed", [False, True], ids=["plain", "hashed"])
def test_a_sentence_that_was_forgotten_is_silenced_and_its_neighbours_are_not(
    hashed: bool,
) -> None:
    stones = Tombstones([stone(EN, hashed=hashed), stone(ZH, hashed=hashed)])
    said = f"Hello there. {EN} It rains.\n今天下雨。{ZH}再见。"
    left = stones.redact(said, {"memory"})
    assert "Abernathy" not in left and "陈医生" not in left
    assert "It rains." in left and "今天下雨" in left and "再见" in left
    assert stones.redact(said, {"project:p"}) == said
    assert stones.redact(EN, {"memory"}) == ""


def test_what_runs_over_sentences_is_silenced_whole() -> None:
    stones = Tombstones([stone("I met Bo. He lives in Turku.")])
    assert stones.redact("I met Bo. He lives in Turku.", {"memory"}) == ""


def test_small_talk_is_never_silenced() -> None:
    stones = Tombstones([stone("好的。"), stone("ok")])
    assert stones.redact("好的，我们开始。ok", {"memory"}) == "好的，我们开始。ok"


def test_a_forgotten_session_says_nothing() -> None:
    stones = Tombstones([Tombstone("session:s", "", "", NOW, "me")])
    assert stones.redact("anything", {"memory", "session:s"}) == ""
    assert stones.redact("anything", {"memory", "session:t"}) == "anything"
