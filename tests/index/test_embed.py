"""The vector lane over time: what is embedded, kept, paused and made anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening, hookimpl
from kimi_memory.domain.engine import Embedding, Purpose
from kimi_memory.domain.note import Role
from kimi_memory.domain.search_types import Query


@dataclass
class Model:
    """An embedding model of letter counts that can be away, change, or break halfway."""

    name: str = "letters-1"
    away: bool = False
    dimensions: int = 8
    fails_on: str = ""
    notes: list[str] = field(default_factory=list)
    """Texts it was sent to embed as notes."""

    @hookimpl
    def embed_texts(self, texts: Sequence[str], purpose: Purpose) -> Embedding | None:
        """Answer with counts of letters."""
        if self.away or purpose == "similarity" or (self.fails_on and self.fails_on in str(texts)):
            return None
        if purpose == "note":
            self.notes += [text for text in texts if text != "memory"]
        return Embedding(self.name, [self._row(text) for text in texts])

    def _row(self, text: str) -> list[float]:
        counts = [0.1] * self.dimensions
        for letter in text:
            counts[ord(letter) % self.dimensions] += 1.0
        norm = sum(count * count for count in counts) ** 0.5
        return [count / norm for count in counts]


@pytest.fixture
def model(opening: Opening) -> Model:
    """A model among the plugins the tests open memories with."""
    assert opening.host is not None
    made = Model()
    opening.host.register(made, "letters")
    return made


def tell(memory: Memory, *texts: str) -> None:
    session = memory.session("s1")
    for text in texts:
        session.turn(Role.USER, text, speaker="王芳")


def notes_of(memory: Memory) -> str:
    return " ".join(memory.recall(Query(text="端口")).notes)


def test_day_speaker_and_words_are_what_a_model_sees(memory: Memory, model: Model) -> None:
    tell(memory, "数据库端口是 5432。")
    memory.index.refresh()
    assert "2026-02-27 王芳\n数据库端口是 5432。" in model.notes


def test_the_lane_is_stamped_with_model_and_reach(memory: Memory, model: Model) -> None:
    tell(memory, "数据库端口是 5432。", "We deploy on Fridays.")
    report = memory.index.refresh()
    assert memory.index.status().model == "letters-1"
    assert report.embedded >= report.units
    answer = memory.recall(Query(text="端口"))
    assert "vector" in answer.lanes
    assert not answer.notes


def test_another_model_pauses_the_lane_until_the_index_has_its_vectors(
    memory: Memory, model: Model
) -> None:
    tell(memory, "数据库端口是 5432。")
    memory.index.refresh()
    model.name, model.dimensions = "letters-2", 5
    answer = memory.recall(Query(text="端口"))
    assert answer.lanes == ("keyword",)
    assert "made by letters-1, the model is now letters-2" in " ".join(answer.notes)
    assert answer.hits
    memory.index.refresh()
    assert memory.index.status().model == "letters-2"
    after = memory.recall(Query(text="端口"))
    assert "vector" in after.lanes
    assert not after.notes


def test_a_model_that_is_away_leaves_the_lane_as_it_is_and_says_so(
    memory: Memory, model: Model
) -> None:
    tell(memory, "数据库端口是 5432。")
    memory.index.refresh()
    model.away = True
    tell(memory, "We deploy on Fridays.")
    memory.index.refresh()
    assert memory.index.status().model == "letters-1"
    assert "No embedding model answers" in notes_of(memory)
    model.away = False
    assert notes_of(memory) == ""


def test_vectors_made_once_are_not_asked_for_again(
    memory: Memory, model: Model, opening: Opening
) -> None:
    tell(memory, "数据库端口是 5432。", "We deploy on Fridays.")
    memory.index.refresh()
    first = memory.recall(Query(text="端口 deploy")).hits
    asked = len(model.notes)
    assert asked
    memory.index.refresh(full=True)
    assert len(model.notes) == asked
    again = memory.recall(Query(text="端口 deploy")).hits
    assert [(hit.unit.id, hit.score) for hit in again] == [
        (hit.unit.id, pytest.approx(hit.score)) for hit in first
    ]
    tell(memory, "新的一句。")
    memory.index.refresh(full=True)
    assert len(model.notes) == asked + 1


def test_a_damaged_cache_is_asked_for_again(memory: Memory, model: Model) -> None:
    tell(memory, "数据库端口是 5432。")
    memory.index.refresh()
    asked = len(model.notes)
    (path,) = (memory.root / ".kimi" / "cache" / "embeddings").glob("*.vec")
    path.write_bytes(b"\0" * path.stat().st_size)
    memory.index.refresh(full=True)
    assert len(model.notes) == 2 * asked
    assert "vector" in memory.recall(Query(text="端口")).lanes


def test_a_model_that_breaks_halfway_is_asked_for_the_rest_later(
    memory: Memory, model: Model
) -> None:
    model.fails_on = "坏"
    tell(memory, *(f"第{n}句" for n in range(300)), "坏的一句")
    memory.index.refresh()
    assert memory.recall(Query(text="第1句")).hits
    model.fails_on = ""
    before = len(model.notes)
    memory.index.refresh()
    assert 0 < len(model.notes) - before < 300
    assert "vector" in memory.recall(Query(text="第1句")).lanes


def test_dropping_the_index_drops_the_vectors_kept(memory: Memory, model: Model) -> None:
    tell(memory, "数据库端口是 5432。")
    memory.index.refresh()
    folder: Path = memory.root / ".kimi" / "cache" / "embeddings"
    assert folder.exists()
    memory.index.drop()
    assert not folder.exists()


@pytest.mark.parametrize("method", ["score", "70/30", "rrf"])
def test_the_way_lanes_are_joined_is_chosen_in_memory_toml(
    memory: Memory, model: Model, opening: Opening, method: str
) -> None:
    tell(memory, "数据库端口是 5432。", "We deploy on Fridays.", "今天天气好。")
    memory.index.refresh()
    memory.close()
    with (memory.root / "memory.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[recall]\nfusion = "{method}"\n')
    with Memory.open(memory.root, opening) as again:
        hits = again.recall(Query(text="数据库端口")).hits
    assert hits[0].unit.text == "数据库端口是 5432。"
    assert any("vector" in hit.parts for hit in hits)
