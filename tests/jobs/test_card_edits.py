"""Cards edited in their own files: a person's word, with a place, or something to review."""

from __future__ import annotations

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.note import Card, Origin, Rel, Status
from kimi_memory.operations.doctor import verify
from kimi_memory.operations.inbox import asking
from kimi_memory.operations.review_queue import Answer, answer, review
from tests.jobs.test_import_edits import TEXTS, card, edit, fill, page
from tests.jobs.test_runner import tree

EDITS = [("editor.theme", "暗色", "亮色"), ("health.dentist", "Abernathy in Oslo", "Berg in Turku")]


def rewrite(memory: Memory, key: str, old: str, new: str) -> str:
    """Change the value of a card in its own file, and return the path."""
    path, value = memory.get(card(memory, key).id).path, TEXTS[key]
    head, rule, body = page(memory, path).rpartition("\n---\n")
    # The value stands above the words it rests on, which stay as they are.
    text = head + rule + body.replace(value, value.replace(old, new), 1)
    assert text != page(memory, path)
    (memory.root / path).write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def paged(memory: Memory) -> Memory:
    """A memory of cards that quote what was said."""
    fill(memory, TEXTS)
    return memory


@pytest.mark.parametrize(("key", "old", "new"), EDITS)
def test_it_is_a_persons_word_with_path_and_line(
    paged: Memory, clock, key: str, old: str, new: str
) -> None:
    clock.move(hours=2)
    path = rewrite(paged, key, old, new)
    paged.store.reconcile()
    assert [f.path for f in verify(paged) if f.check == "cards"] == [path]
    assert asking(paged)["review pages"] == 1
    left = tree(paged.root)

    report = paged.take_edits()
    now = card(paged, key)
    assert (now.confidence, now.trust, now.verified) == (1.0, Origin.HUMAN, clock())
    assert [source.rel for source in now.sources] == [Rel.CONTRADICTS, Rel.UPDATES]
    proof = [one for one in paged.trace(now.id).evidence if one.source.by_hand]
    assert [one.verified for one in proof] == [True]
    place, _, line = proof[0].turns[0].ref.rpartition(":")
    assert place == path
    assert new in (paged.root / path).read_text(encoding="utf-8")
    assert int(line) > 1
    assert new in page(paged)
    assert not [f for f in verify(paged) if f.check in ("cards", "quotes", "sessions")]
    assert not paged.take_edits().id

    paged.undo(report.id)
    assert tree(paged.root) == left
    assert asking(paged)["review pages"] == 1


@pytest.mark.parametrize(("key", "old", "new"), EDITS)
def test_one_made_while_an_agent_was_at_work_waits(
    paged: Memory, opening: Opening, key: str, old: str, new: str
) -> None:
    with (paged.root / "memory.toml").open("a", encoding="utf-8") as file:
        file.write('\n[consolidation]\nexternal_edits = "review"\n')
    with Memory.open(paged.root, opening) as memory:
        path = rewrite(memory, key, old, new)
        memory.take_edits()
        assert new in (memory.root / path).read_text(encoding="utf-8")
        assert card(memory, key).value == TEXTS[key]
        [waits] = [one for one in review(memory) if one.path == path]
        assert new in waits.text
        answer(memory, waits.id, Answer(accept=True))
        memory.take_edits()
        now = card(memory, key)
        assert now.value == TEXTS[key].replace(old, new)
        assert now.sources[-1].by_hand
        assert not memory.take_edits().id


def test_what_its_words_say_needs_no_other_proof(paged: Memory) -> None:
    path = rewrite(
        paged, "health.dentist", "My dentist is Doctor Abernathy in Oslo.", "Doctor Abernathy"
    )
    assert path
    assert not paged.take_edits().id
    assert not [f for f in verify(paged) if f.check == "cards"]


def test_without_history_it_is_named(paged: Memory, opening: Opening) -> None:
    with (paged.root / "memory.toml").open("a", encoding="utf-8") as file:
        file.write("\n[history]\ngit = false\n")
    with Memory.open(paged.root, opening) as memory:
        rewrite(memory, "health.dentist", "Oslo", "Turku")
        assert not memory.take_edits().id
        [found] = [f for f in verify(memory) if f.check == "cards"]
        assert "not known" in found.remedy


@pytest.mark.parametrize(("key", "old", "new"), EDITS)
def test_an_edited_line_has_a_source_of_its_own(
    paged: Memory, clock, key: str, old: str, new: str
) -> None:
    clock.move(hours=2)
    edit(paged, old, new)
    number = next(n for n, line in enumerate(page(paged).splitlines(), 1) if new in line)
    paged.take_edits()
    now = card(paged, key)
    assert [source.rel for source in now.sources] == [Rel.CONTRADICTS, Rel.UPDATES]
    own = list(paged.trace(now.id).evidence)[-1]
    assert (own.verified, own.turns[0].ref, own.turns[0].at) == (
        True,
        f"MEMORY.md:{number}",
        clock(),
    )
    assert own.quote == now.value


def test_a_new_line_has_one_too_and_still_waits(paged: Memory) -> None:
    with (paged.root / "MEMORY.md").open("a", encoding="utf-8") as file:
        file.write("- db.pool: twenty connections\n")
    paged.take_edits()
    now = card(paged, "db.pool")
    assert now.status is Status.CANDIDATE
    assert [(s.by_hand, s.rel) for s in now.sources] == [(True, Rel.SUPPORTS)]
    assert "twenty connections" in page(paged)
    [waits] = review(paged)
    assert [said.text for said in waits.evidence] == ["twenty connections"]
    answer(paged, waits.id, Answer(accept=True, text="thirty connections"))
    now = card(paged, "db.pool")
    assert (now.value, now.status) == ("thirty connections", Status.ACTIVE)
    assert [(s.rel, s.by_hand) for s in now.sources] == [
        (Rel.CONTRADICTS, True),
        (Rel.UPDATES, True),
    ]
    assert isinstance(now, Card)
    assert not [f for f in verify(paged) if f.check == "quotes"]
    assert paged.waiting() == []
