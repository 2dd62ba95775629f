"""Areas: what is said in private is read by its own, whatever the jobs make of it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from kimi_memory.plugins.skills import propose, skills

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.capture.ingest import open_file
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.search_types import Query
from kimi_memory.domain.session import scope_of
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.formats.json_values import plain
from kimi_memory.frameworks.talk import Talk as Conversation
from kimi_memory.hooks.host import Host
from kimi_memory.jobs.resolve_conflict import conflicts
from kimi_memory.operations.forget import forget
from kimi_memory.operations.introspect import introspect
from kimi_memory.operations.links import Wanted as Link
from kimi_memory.operations.links import link, related
from kimi_memory.server.principal import Caller, Namespace
from kimi_memory.server.routes import ROUTES
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock

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
    memory.index.refresh()


def seen(within: tuple[str, ...] | None) -> set[str]:
    """Return the sessions of which something may be seen."""
    return {name for name, scope in SCOPE.items() if within is None or scope in ("", *within)}


def told(text: str) -> set[str]:
    """Return the sessions of which a text tells."""
    return {name for name, mark in MARK.items() if mark.casefold() in text.casefold()}


def opened(folder: Path) -> Memory:
    """Return a new memory of a module."""
    home = Home(folder / "config", folder / "state")
    clock, host = Clock(datetime(2026, 2, 27, 9, tzinfo=UTC)), Host(entry_points=False)
    opening = Opening(home=home, clock=clock, host=host, background=False)
    return Memory.create(folder / "memory", opening=opening)


@pytest.fixture(scope="module")
def told_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory in which all was said and nothing was made of it."""
    with opened(tmp_path_factory.mktemp("said")) as memory:
        say(memory)
        yield memory


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory in which all was said and every job has run."""
    with opened(tmp_path_factory.mktemp("done")) as memory:
        say(memory)
        finish(memory)
        yield memory


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
    told_all: Memory, done: Memory, within: tuple[str, ...] | None, purpose: str
) -> None:
    for memory in (told_all, done):
        for mark in MARK.values():
            text = memory.context(purpose, f"{mark} shop", within=within, budget=4000).text
            assert told(text) <= seen(within)


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
    page = memory.store.read("MEMORY.md").decode()
    assert "port is 82" in page and "port is 81" not in page


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


AGENTS, USERS = ("reviewer", "builder"), ("alice", "bob")
NAMES = ("Redis", "Memcached", "Hazelcast", "Ignite", "Kafka", "RabbitMQ", "Pulsar", "NATS")
CALLERS = (
    Namespace(),
    Namespace("shop"),
    *(Namespace(agent=agent, shared=shared) for agent in AGENTS for shared in (False, True)),
    *(Namespace(user=user, shared=shared) for user in USERS for shared in (False, True)),
    Namespace("shop", "reviewer", "bob"),
    Namespace("shop", "reviewer", "bob", shared=True),
    Namespace(session="s0"),
    Namespace(session="s3"),
)


@dataclass(frozen=True, slots=True)
class Talk:
    """One session of a random history, and the name that is said in it alone."""

    id: str
    agent: str
    user: str
    area: str
    name: str
    about: str

    @property
    def scope(self) -> str:
        """Whose it is."""
        whose = {"agent": self.agent, "user": self.user, "session": self.id}
        return f"{self.area}:{whose[self.area]}" if self.area else ""

    def is_open_to(self, space: Namespace) -> bool:
        """Whether a caller may be told of it."""
        bound = (("agent", space.agent), ("user", space.user), ("session", space.session))
        own = {f"{area}:{name}" for area, name in bound if name}
        if self.scope or not space:
            return not space or self.scope in own
        mine = space.shared or (space.agent in ("", self.agent) and space.user in ("", self.user))
        return mine and space.session in ("", self.id)


def history(seed: int) -> list[Talk]:
    """Return some sessions of two agents and two users, in areas of every kind."""
    pick = random.Random(seed)
    areas = ["", "", "agent", "agent", "user", "user", "session", pick.choice(("", "agent"))]
    pick.shuffle(areas)
    return [
        Talk(f"s{n}", pick.choice(AGENTS), pick.choice(USERS), area, name, pick.choice("ab"))
        for n, (area, name) in enumerate(zip(areas, NAMES, strict=True))
    ]


def held(memory: Memory, talks: Sequence[Talk]) -> None:
    """Hold the sessions; several decide the same thing otherwise, or say a rule."""
    things = {"a": "cache", "b": "queue"}
    for talk in talks:
        handle = memory.session(
            talk.id, agent=talk.agent, user=talk.user, area=talk.area, project="shop"
        )
        thing = things[talk.about]
        handle.turn("user", f"We decided to use {talk.name} as the {thing} of the shop.")
        handle.turn("user", f"I prefer {talk.name} whenever there is a choice.")
        handle.turn("assistant", f"The {thing} is {talk.name} from now on.")


def ask(memory: Memory, space: Namespace, name: str, **sent: Any) -> str:
    """Return what a route tells a caller, nothing where it refuses."""
    [route] = [one for one in ROUTES if one.name == name]
    try:
        found = route.deed(memory, Caller("one", space=space), route.given(sent))
    except KimiMemoryError:
        return ""
    return json.dumps(plain(found), ensure_ascii=False)


def everything(memory: Memory, space: Namespace) -> Iterator[str]:
    """Yield all that can be told to a caller."""
    for name in NAMES:
        yield ask(memory, space, "search", query=f"{name} shop", limit=100)
        yield ask(memory, space, "recall", text=f"{name} cache queue shop", limit=100, hops=2)
        yield ask(memory, space, "context", purpose="task", query=f"{name} shop", budget=9000)
        yield ask(memory, space, "context", purpose="live", query=f"{name} shop", budget=9000)
    yield ask(memory, space, "recall", query="status:superseded shop", limit=100)
    yield ask(memory, space, "recall", query="path:semantic kind:card", limit=100)
    yield ask(memory, space, "context", purpose="start", budget=9000)
    yield ask(memory, space, "sessions")
    for path in memory.store.files(""):
        yield ask(memory, space, "get", what=path)
    for filed in (one for kind in ("card", "event") for one in Shelf(memory.store).notes(kind)):
        yield ask(memory, space, "get", what=filed.note.id)
        yield ask(memory, space, "trace", id=filed.note.id)


@pytest.mark.parametrize("seed", [1])
def test_no_caller_is_told_what_is_private_to_another(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    talks = history(seed)
    with opened(tmp_path_factory.mktemp("history")) as memory:
        held(memory, talks)
        for round in range(2):
            for space in CALLERS:
                text = "\n".join(everything(memory, space))
                found = {name for name in NAMES if name in text}
                may = {talk.name for talk in talks if talk.is_open_to(space)}
                assert found <= may, (round, space)
                if not space or space.shared:
                    assert found == may, (round, space)
            finish(memory)
            introspect(memory)
        for path, text in everybodys(memory).items():
            private = {talk.name for talk in talks if talk.scope and talk.name in text}
            assert not private, path


def test_a_transcript_that_is_taken_in_keeps_its_area(
    done: Memory, memory: Memory, tmp_path: Path
) -> None:
    place = sessions.find(done.store, "reviewer")
    file = tmp_path / "session_reviewer.jsonl"
    file.write_bytes(done.store.read(place.path))
    for _ in memory.ingest([open_file(file)]):
        memory.end("reviewer")
    assert {filed.note.scope for filed in Shelf(memory.store).notes("card")} == {"agent:reviewer"}
    assert told(memory.store.read("MEMORY.md").decode()) == set()


def test_a_framework_shows_an_agent_what_is_shared_and_its_own(done: Memory) -> None:
    talk = Conversation(done, "reviewer", "test")
    blocks = [talk.block("one", f"{mark} shop") for mark in MARK.values()]
    assert told(" ".join(blocks)) == {"reviewer", "shared"}


def test_a_person_links_nothing_across_scopes(memory: Memory) -> None:
    memory.remember("The port is 80.", key="web.port", agent="a", area="agent")
    memory.remember("The proxy runs on metal.", key="web.proxy")
    own, shared = sorted(Shelf(memory.store).notes("card"), key=lambda filed: not filed.note.scope)
    with pytest.raises(UsageError, match="not of one scope"):
        link(memory, Link(source=own.note.id, target=shared.note.id))


def test_a_card_that_names_one_of_another_scope_does_not_lead_there(memory: Memory) -> None:
    memory.remember("The port is 80, see [[web.proxy]].", key="web.port")
    memory.remember("The proxy runs on metal.", key="web.proxy", agent="a", area="agent")
    for within in (None, (), ("agent:a",)):
        hits = memory.recall(Query(text="port", within=within, hops=2)).hits
        assert not [hit for hit in hits if hit.related]
    port = next(f.note.id for f in Shelf(memory.store).notes("card") if not f.note.scope)
    assert {one.rel for one in related(memory, port, 2)} <= {"EXTRACTED_FROM"}


def test_a_file_that_became_private_since_it_was_indexed_is_not_shown(memory: Memory) -> None:
    memory.remember("The port is 80.", key="web.port")
    query = Query(text="port", within=(), kind=("card",))
    [hit] = memory.recall(query).hits
    path = memory.root / hit.unit.path
    path.write_text(path.read_text().replace("\nconfidence:", "\nscope: user:bob\nconfidence:"))
    assert not memory.recall(query).hits
    assert memory.recall(Query(text="port", within=("user:bob",), kind=("card",))).hits


def test_jobs_care_for_what_is_private_as_for_what_is_shared(memory: Memory, clock: Clock) -> None:
    say(memory)
    finish(memory)
    clock.move(days=60)
    memory.session("late", project="shop").turn("user", "We decided to use Nix for the builds.")
    finish(memory)
    cards = [filed.note for filed in Shelf(memory.store).notes("card")]
    old = [card for card in cards if told(card.value)]
    assert {card.scope for card in old} == set(SCOPE.values())
    assert {str(card.status) for card in old} == {"active"}  # Decisions do not go stale.
    for path, text in everybodys(memory).items():
        assert told(text) <= {"shared"}, path


@pytest.mark.parametrize(
    "head",
    ["", "id: project-x\nkind: project\ncreated: 2026-02-27T09:00:00\n"],
    ids=["page", "note"],
)
def test_a_page_may_say_whose_it_is(memory: Memory, head: str) -> None:
    page = memory.root / "mid-term" / "projects" / "own.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f"---\n{head}scope: user:lin\n---\n\n# Project: own\n\nThe anchor is blue.\n")
    found = {scope: len(memory.recall(Query(text="anchor blue", within=(scope,))).hits)
             for scope in ("user:lin", "user:bo")}  # fmt: skip
    assert found == {"user:lin": 1, "user:bo": 0}


@pytest.mark.parametrize(("area", "made"), [("", 1), ("agent", 0)])
def test_no_skill_is_made_of_private_sessions(memory: Memory, area: str, made: int) -> None:
    for n in range(3):
        with memory.session(f"w{n}", agent="a", area=area) as session:
            session.turn("user", "Please deploy the shop")
            session.turn("assistant", f"```sh\nmake test\ngit tag v{n}\nmake upload\n```")
    propose(memory)
    assert len(skills(memory)) == made
