"""An index built anew says what the one in use says, or the difference is named."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace

from kimi_memory import Memory, Opening, hookimpl
from kimi_memory.hooks.host import Host
from kimi_memory.operations.verify_index import rank_answers, rebuild, sample_questions
from tests.jobs.test_runner import talk


def test_a_copy_that_ranks_otherwise_is_found_by_its_answers(
    memory: Memory, opening: Opening
) -> None:
    memory.remember("The harbour taxi costs nine euros.", key="taxi.fare")
    memory.remember("The harbour office opens at eight.", key="office.hours")
    memory.batch.flush()
    copy = memory.root.with_name("copy")
    shutil.copytree(memory.root, copy)
    with Memory.open(copy, opening) as other:
        questions, now = sample_questions(memory), memory.clock()
        answers = rank_answers(memory, questions, now)
        assert len(answers) == len(questions) > 1
        assert rank_answers(other, questions, now) == answers
        other.remember("The harbour office and its taxi open at ten.", key="taxi.opens")
        assert rank_answers(other, questions, now) != answers


class Forgetful:
    """Splits like the plugin of words, but passes over one word of some notes."""

    def __init__(self) -> None:
        from kimi_memory.plugins import words

        self._split = words.split_words

    @hookimpl(tryfirst=True)
    def split_words(self, text: str) -> Sequence[str]:
        found = self._split(text)
        return [word for word in found if word != "taxi"] if "harbour" in text else found


def test_an_index_kept_up_to_date_by_pieces_is_the_one_built_at_once(memory: Memory) -> None:
    talk(memory)
    memory.index.refresh(full=True)
    for n in range(4):
        memory.remember(
            f"The harbour taxi number {n} costs {n} euros. 第{n}辆车。", key=f"taxi.n{n}"
        )
        memory.index.refresh()
    (memory.root / "NOTES.md").write_text("# Harbour\n\nNo taxi at night.\n", encoding="utf-8")
    found = rebuild(memory)
    assert found.same, found.differences
    assert found.live.digest == found.rebuilt.digest
    assert found.live.units == memory.index.status().units > 8
    assert found.live.words > 30
    assert found.questions > 5
    assert found.live.generation == memory.index.status().generation != ""
    assert found.notes == ()


def test_lines_of_one_score_stand_alike_however_the_index_came_to_be(memory: Memory) -> None:
    for n in (6, 2, 5, 1, 4, 3):  # By pieces, in another order than the files lie in.
        memory.session(f"s{n}").turn("user", "The egret stood in the pond.")
        memory.index.refresh()
    by_pieces = [(hit.unit.id, hit.score) for hit in memory.recall("egret", limit=4).hits]
    assert len({score for _, score in by_pieces}) == 1
    assert [id for id, _ in by_pieces] == [f"session:s{n}#1" for n in (1, 2, 3, 4)]
    found = rebuild(memory)
    assert found.same, found.differences
    memory.index.refresh(full=True)
    assert [(hit.unit.id, hit.score) for hit in memory.recall("egret", limit=4).hits] == by_pieces


def test_a_file_that_was_touched_is_no_difference(memory: Memory) -> None:
    talk(memory)
    for n in range(4):
        memory.remember(f"The harbour taxi number {n} costs {n} euros.", key=f"taxi.n{n}")
    memory.index.refresh(full=True)
    for path in memory.store.files():
        (memory.root / path).touch()
        found = rebuild(memory)
        assert found.same, (path, found.differences)
        assert found.live.digest == found.rebuilt.digest


def test_without_an_index_the_files_are_compared(memory: Memory) -> None:
    talk(memory)
    found = rebuild(memory)
    assert found.same
    assert found.live.generation == ""
    assert "no index on disk" in found.notes[0]


def test_an_empty_memory_compares(memory: Memory) -> None:
    assert rebuild(memory).same


def test_the_index_in_use_stands_and_nothing_is_left(memory: Memory) -> None:
    talk(memory)
    memory.index.refresh()
    private = memory.root / ".kimi"
    before = sorted(path for path in private.rglob("*") if path.is_file() and "index" in path.parts)
    rebuild(memory)
    after = sorted(path for path in private.rglob("*") if path.is_file() and "index" in path.parts)
    assert before == after
    assert not (private / "index-check").exists()


def test_a_damaged_index_is_told_and_answers_stay_right(memory: Memory) -> None:
    talk(memory)
    memory.index.refresh()
    name = memory.index.status().generation
    memory.index.close()
    table = next((memory.root / ".kimi/index" / name / "table").iterdir())
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 0xFF
    table.write_bytes(content)
    found = rebuild(memory)
    assert not found.same
    assert "is not used" in found.differences[0]
    assert table.name in found.differences[0]
    assert found.live.digest == found.rebuilt.digest
    memory.index.refresh(full=True)
    assert rebuild(memory).same


def test_an_index_that_lacks_a_word_is_told_by_the_word(memory: Memory, opening: Opening) -> None:
    memory.remember("The harbour taxi costs nine euros.", key="taxi.fare")
    host = Host(entry_points=False)
    host.register(Forgetful(), "forgetful")
    with Memory.open(memory.root, replace(opening, host=host)) as other:
        other.index.refresh(full=True)
        assert rebuild(other).same
    found = rebuild(memory)
    assert not found.same
    assert found.live.digest != found.rebuilt.digest
    assert found.live.units == found.rebuilt.units
    assert "the index is wrong about the word 'taxi'" in found.differences
    assert any(line.startswith("ranked otherwise") for line in found.differences)
    memory.index.refresh(full=True)
    assert rebuild(memory).same
