"""Kinds of sentences, as the weights in the package judge sentences that they were not made of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory.nlp.learned.ngrams import MOST, places_of
from kimi_memory.nlp.learned.utterance_kinds import KINDS, Kind, kinds_of

SENTENCES = {
    Kind.STANDING: (
        "no exclamation marks with me, I'm not five",
        "im colourblind so name the colours when you plot things",
        "dont open with a compliment, just answer",
        "跟我说话别一口一个亲",
        "我色弱 图里的颜色写上名字",
    ),
    Kind.ONCE: (
        "make the second line a bit longer",
        "take the cat out of the picture",
        "把最后一段删掉 重新来",
        "标题换一个 再短一点",
    ),
    Kind.REMEMBER: (
        "write this down for me: the spare key is with Agnes at number 9",
        "帮我记一下，车位是地下二层 B217",
    ),
    Kind.DECISION: (
        "ok we're going with the oak floor, told the fitter this morning",
        "定了 就选朝南那套 定金都交了",
    ),
    Kind.FACT: (
        "my brother-in-law runs a bakery in Hull and has two girls",
        "我老婆对芒果过敏 家里从来不买",
    ),
    Kind.FLEETING: ("ugh what a morning", "哈哈哈你真逗", "thanks, you're a star"),
    Kind.QUESTION: ("how long does rhubarb keep in the freezer", "这个证要去哪里办啊"),
    Kind.OTHERS: (
        "my aunt says nobody should eat after seven",
        "我们房东非要大家每天倒垃圾 还贴了张纸",
    ),
}


def test_most_sentences_are_told_apart() -> None:
    said = [(kind, text) for kind, texts in SENTENCES.items() for text in texts]
    wrong = [text for kind, text in said if max(KINDS, key=kinds_of(text).__getitem__) is not kind]
    assert len(wrong) <= len(said) // 6, wrong


@pytest.mark.parametrize("text", ["", " ", "?", "🙂", "a" * 100_000, "\x00", "字" * 50_000])
def test_any_text_has_kinds_that_sum_to_one(text: str) -> None:
    assert sum(kinds_of(text).values()) == pytest.approx(1)
    assert len(places_of(text)) <= 8 * MOST


def test_case_apostrophes_and_script_change_nothing() -> None:
    assert kinds_of("Don’t flatter ME") == kinds_of("don't flatter me")
    assert kinds_of("別誇我") == kinds_of("别夸我")


def test_the_sentences_it_is_made_of_are_labelled_and_stand_once() -> None:
    folder = Path(__file__).parents[3] / "benchmarks" / "utterances"
    texts = [path.read_text(encoding="utf-8") for path in folder.iterdir()]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    assert {Kind(line["label"]) for line in lines} == set(Kind)
    assert len({line["text"] for line in lines}) == len(lines)
    mine = {text for texts in SENTENCES.values() for text in texts}
    assert not mine & {line["text"] for line in lines}
