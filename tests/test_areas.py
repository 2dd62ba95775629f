"""Areas: what is said in private is read by its own, whatever the jobs make of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kimi_memory import Memory
from kimi_memory.care.conflicts import conflicts
from kimi_memory.care.forgetting import Wanted, forget
from kimi_memory.care.introspection import introspect
from kimi_memory.errors import UsageError
from kimi_memory.model.scope import scope_of
from kimi_memory.model.unit import Query
from kimi_memory.store import sessions
from kimi_memory.store.shelf import Shelf

SAID = {
    "reviewer": ("agent", "reviewer", "bob", "We decided to use Redis as the cache for the shop."),
    "builder": (
        "agent",
        "builder",
        "bob",
        "We decided to use Memcached as the cache for the shop.",
    ),
    "alice": ("user", "reviewer", "alice", "I prefer oolong tea in the morning."),
    "bob": ("user", "builder", "bob", "I prefer espresso coffee in the morning."),
    "once": ("session", "reviewer", "alice", "We decided to use Kafka as the queue of the shop."),
    "shared": (
        "",
        "reviewer",
        "alice",
        "We decided to use PostgreSQL as the database of the shop.",
    ),
}
"""What is said in one session each: area, agent, user, words."""
SCOPE = {
    "reviewer": "agent:reviewer",
    "builder": "agent:builder",
    "alice": "user:alice",
    "bob": "user:bob",
    "once": "session:once",
    "shared": "",
}
MARK = {
    "reviewer": "Redis",
    "builder": "Memcached",
    "alice": "oolong",
    "bob": "espresso",
    "once": "Kafka",
    "shared": "PostgreSQL",
}
"""A word that is said in that session and nowhere else."""
WITHIN = (
    None,
    (),
    ("agent:reviewer",),
    ("agent:builder", "user:bob"),
    ("user:alice",),
    ("session:once",),
)


def say(memory: Memory, names: Sequence[str] = tuple(SAID), *, project: str = "shop") -> None:
    """Hold the sessions, and leave them open."""
    for name in names:
        area, agent, user, words = SAID[name]
        handle = memory.session(name, agent=agent, user=user, project=project, area=area)
        handle.turn("user", words)
        handle.turn("assistant", f"Noted: {words}")


def finish(memory: Memory) -> None:
    """Run every job there is."""
    for place in list(sessions.places(memory.store)):
        if place.open:
            memory.end(place.id)
    memory.consolidate("daily")
    memory.consolidate("weekly")


def seen(within: tuple[str, ...] | None) -> set[str]:
    """Return the sessions of which something may be seen."""
    return {name for name, scope in SCOPE.items() if within is None or scope in ("", *within)}


def told(text: str) -> set[str]:
    """Return the sessions of which a text tells."""
    return {name for name, mark in MARK.items() if mark.casefold() in text.casefold()}


@pytest.fixture
def done(memory: Memory) -> Memory:
    """A memory in which all was said and every job has run."""
    say(memory)
    finish(memory)
    return memory


@pytest.mark.parametrize("within", WITHIN)
def test_recall_finds_what_is_shared_and_ones_own(
    done: Memory, within: tuple[str, ...] | None
) -> None:
    for name, mark in MARK.items():
        for hops in (0, 2):
            query = Query(text=f"{mark} shop", within=within, hops=hops, limit=50)
            hits = done.recall(query).hits
            found = set().union(*(told(f"{hit.unit.text} {hit.snippet}") for hit in hits))
            found |= told(" ".join(one.title for hit in hits for one in hit.related))
            assert found <= seen(within)
            assert (name in found) == (name in seen(within))


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("purpose", ["start", "task", "live"])
def test_a_context_shows_what_is_shared_and_ones_own(
    memory: Memory, within: tuple[str, ...] | None, purpose: str
) -> None:
    say(memory)
    for _ in range(2):
        for mark in MARK.values():
            text = memory.context(purpose, f"{mark} shop", within=within, budget=4000).text
            assert told(text) <= seen(within)
        finish(memory)


def everybodys(memory: Memory) -> dict[str, str]:
    """Return the files that everybody reads, as what stands in one scope may not be in them."""
    found = {}
    for path in memory.store.files(""):
        own = any(f".{mark}-" in path for mark in ("agent", "user", "session"))
        if path.endswith(".md") and not own and not path.startswith("episodic/sessions/"):
            found[path] = memory.store.read(path).decode()
    return found


def test_pages_that_everybody_reads_tell_nothing_private(done: Memory) -> None:
    pages = everybodys(done)
    assert {"MEMORY.md", "semantic/shop.md", "episodic/daily/2026-02-27.md"} <= pages.keys()
    assert "mid-term/projects/shop.md" in pages
    for path, text in pages.items():
        assert told(text) <= {"shared"}, path
    assert told(pages["MEMORY.md"]) == {"shared"}
    assert "session_reviewer" not in pages["episodic/daily/2026-02-27.md"]


def test_notes_have_the_scope_of_their_session(done: Memory) -> None:
    notes = [filed for kind in ("card", "event") for filed in Shelf(done.store).notes(kind)]
    seen_scopes = set()
    for filed in notes:
        told_of = {SCOPE[name] for name in told(filed.text)}
        assert told_of == {filed.note.scope}, filed.path
        assert (f"scope: {filed.note.scope}" in filed.text) == bool(filed.note.scope)
        seen_scopes |= told_of
    assert seen_scopes == set(SCOPE.values())


def test_one_key_in_two_scopes_is_two_cards_side_by_side(memory: Memory) -> None:
    for agent in ("a", "b"):
        memory.remember(f"Port {agent} is 80", key="web.port", agent=agent, area="agent")
    memory.remember("Port c is 80", key="web.port")
    cards = {filed.path: filed.note for filed in Shelf(memory.store).notes("card")}
    folder = "semantic/general"
    assert set(cards) == {
        f"{folder}/web.port.agent-a.md",
        f"{folder}/web.port.agent-b.md",
        f"{folder}/web.port.md",
    }
    assert {str(card.status) for card in cards.values()} == {"active"}
    assert not list(memory.store.files("conflicts"))


def test_a_word_in_one_scope_changes_nothing_in_another(memory: Memory) -> None:
    memory.remember("The port is 80.", key="web.port")
    before = files(memory)
    memory.remember("Actually the port is 81 now.", key="web.port", agent="a", area="agent")
    memory.remember("Actually the port is 82 now.", key="web.port", agent="b", area="agent")
    memory.remember("The port is 80.", key="web.port", user="u", area="user")
    after = files(memory)
    changed = {path for path in before if after[path] != before[path]}
    assert not {path for path in changed if not path.startswith(".kimi/")}
    assert len(list(Shelf(memory.store).notes("card"))) == 4
    assert not introspect(memory).job.operations


def test_a_contradiction_within_a_scope_stays_in_it(memory: Memory) -> None:
    for port in (80, 81):
        memory.remember(f"The port is {port}.", key="web.port", agent="a", area="agent")
    memory.remember("The port is 82.", key="web.port")
    [dispute] = conflicts(memory)
    assert {card.scope for card in dispute.sides} == {"agent:a"}
    assert dispute.path == "conflicts/web.port.agent-a.md"
    assert memory.store.exists(dispute.path)
    assert "81" not in memory.store.read("MEMORY.md").decode()


def test_what_is_forgotten_in_one_scope_is_barred_there_alone(memory: Memory) -> None:
    said = "The deploy key lies in the blue drawer."
    for agent in ("a", "b"):
        memory.remember(said, key="deploy.key", agent=agent, area="agent")
    own = {filed.note.scope: filed.note.id for filed in Shelf(memory.store).notes("card")}
    forget(memory, Wanted(note=own["agent:a"]))
    again = memory.remember(f"{said} ", key="deploy.key", agent="a", area="agent")
    assert not again.operations
    assert memory.remember(said, key="deploy.key").operations
    assert memory.recall(Query(text="deploy key drawer", within=("agent:b",), kind=("card",))).hits


def test_jobs_over_private_sessions_dry_run_and_undo(memory: Memory) -> None:
    say(memory)
    for name in SAID:
        memory.mark_ended(name)
    for name in SAID:
        before = files(memory)
        memory.distil(name, dry_run=True)
        assert files(memory) == before
        report = memory.distil(name)
        assert report.id
        memory.undo(report.id)
        assert {p: c for p, c in files(memory).items() if p in before} == before
        memory.distil(name)
    before = files(memory)
    memory.consolidate("daily", dry_run=True)
    assert files(memory) == before


def test_an_area_is_kept_by_continuations_and_refused_where_it_does_not_fit(
    memory: Memory,
) -> None:
    memory.session("s", agent="a", area="agent").turn("user", "We use Redis for the cache.")
    assert memory.session("s").header.area == "agent"
    with pytest.raises(UsageError, match="not agent:b"):
        memory.session("s", agent="b", area="agent")
    memory.end("s")
    heir = memory.session("s").header
    assert (heir.id, scope_of(heir)) == ("s.2", "agent:a")
    with pytest.raises(UsageError, match="needs its name"):
        memory.session("t", area="user")
    with pytest.raises(UsageError, match="no area"):
        memory.session("t", area="team")
    with pytest.raises(UsageError, match="no session of its own"):
        memory.remember("Tea at nine.", area="session")


def test_a_person_who_edits_a_private_card_tells_nobody_else(memory: Memory) -> None:
    memory.remember("The port is 80.", key="web.port", agent="a", area="agent")
    path = "semantic/general/web.port.agent-a.md"
    file = memory.root / path
    file.write_text(
        file.read_text().replace("Definition: The port is 80.", "Definition: Now 8443.")
    )
    memory.take_edits()
    hits = memory.recall(Query(text="8443", within=())).hits
    assert not hits
    assert memory.recall(Query(text="8443", within=("agent:a",))).hits
    filed = Shelf(memory.store).file(path)
    assert filed.note.scope == "agent:a"


def files(memory: Memory) -> dict[str, bytes]:
    """Return every file of the memory but what is derived."""
    return {path: memory.store.read(path) for path in memory.store.files("")}
