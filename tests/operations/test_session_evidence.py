"""Session files that git joined are split, and evidence follows its words."""

from kimi_memory import Memory
from kimi_memory.domain.job import Update, digest
from kimi_memory.operations.session_evidence import split_sessions
from kimi_memory.store.notes.sessions import parts_of


def test_evidence_follows_its_words(memory: Memory) -> None:
    for name, text in (("s", "Ann likes tea."), ("t", "Bob likes coffee.")):
        memory.remember(text, key=f"{name}.drink", session=name)
    path, other = (f"short-term/session_{name}.jsonl" for name in ("s", "t"))
    joined = memory.store.read(path) + memory.store.read(other)
    card = next(h.unit for h in memory.recall("Bob coffee").hits if h.unit.kind != "turn")
    before = memory.store.read(card.path)
    moved = before.replace(b"session:t#1", b"session:s#1").replace(b"session_t", b"session_s")
    memory.store.apply(
        [
            Update(path, digest(memory.store.read(path)), joined),
            Update(card.path, digest(before), moved),
        ],
        memory.actor,
    )
    [_, part] = parts_of(joined.splitlines(keepends=True))
    assert split_sessions(memory) == [path]
    evidence = memory.trace(card.id).evidence
    assert part.session is not None
    assert {(e.source.session, e.verified) for e in evidence} == {(part.session.id, True)}
    ann = next(h.unit for h in memory.recall("Ann tea").hits if h.unit.kind != "turn")
    assert {e.source.session for e in memory.trace(ann.id).evidence} == {"s"}
    assert split_sessions(memory) == []
