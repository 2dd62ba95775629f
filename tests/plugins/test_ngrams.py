"""Near duplicates by letters, in both languages, and never in the lane of meaning."""

from __future__ import annotations

import subprocess
import sys

import pytest
from kimi_memory.plugins.ngrams import DIMENSIONS, embed_texts, vector


def cosine(a: str, b: str) -> float:
    return sum(x * y for x, y in zip(vector(a), vector(b), strict=True))


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("we deploy every Friday", "We deploy every  friday.", "the cat sleeps on the sofa"),
        ("我们每周五部署", "我们每周五都部署", "猫在沙发上睡觉"),
    ],
    ids=["en", "zh"],
)
def test_near_duplicates_are_nearer_than_others(text: str, near: str, far: str) -> None:
    assert cosine(text, near) > 0.7 > 0.3 > cosine(text, far)
    assert cosine(text, text) == pytest.approx(1.0)


def test_it_answers_for_similarity_alone() -> None:
    found = embed_texts(["a", "部署"], "similarity")
    assert found is not None
    assert [len(row) for row in found.vectors] == [DIMENSIONS] * 2
    assert embed_texts(["a"], "note") is None
    assert embed_texts(["a"], "query") is None


def test_an_empty_text_has_no_direction() -> None:
    assert set(vector("  ")) == {0.0}


def test_vectors_are_the_same_in_every_process() -> None:
    code = "from kimi_memory.plugins.ngrams import vector; print(vector('部署 deploy')[:40])"
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert runs == {f"{vector('部署 deploy')[:40]}\n"}
