"""Whole memories, merged: every kind of file in every pair of changes, and the laws."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields, replace
from datetime import timedelta
from itertools import permutations
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kimi_memory.domain.job import Job
from kimi_memory.domain.note import Card, EventType, Note, Origin, Status
from kimi_memory.domain.pages import Agent, Day, Event, Identity, Project, Proposal, Todo
from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.formats import codec
from kimi_memory.formats.job_file import job_json
from kimi_memory.formats.jsonl import (
    has_marks,
    read_transcript_lines,
    seal,
    tombstone_line,
    view_json,
)
from kimi_memory.formats.page_lines import signed
from kimi_memory.merge.trees import Joined, join
from tests.formats.strategies import examples
from tests.merge.sides import card_forks, forks
from tests.merge.talks import Talk, assert_chained
from tests.merge.values import NOW, card, said

LATER = NOW + timedelta(days=1)
Tree = dict[str, bytes]


def joined(base: Tree, ours: Tree, theirs: Tree) -> Joined:
    """Join, and hold the result against the laws that no input may break."""
    found = join(base, ours, theirs)
    assert found.files == join(base, theirs, ours).files, "swapped sides differ"
    assert join(base, ours, ours).files == ours, "a side is not itself"
    assert join(base, ours, base).files == ours, "an untouched side changes something"
    ids = Counter(note.id for note in notes_of(found.files))
    assert all(count == 1 for count in ids.values())
    assert not [path for path, content in found.files.items() if has_marks(path, content)]
    return found


def notes_of(tree: Tree) -> list[Note]:
    pages = ((p, c) for p, c in tree.items() if p.endswith(".md") and b"\nid: " in c)
    return [codec.parse(c.decode(), p) for p, c in pages if "/sessions/" not in p]


def file_of(note: Note, path: str = "") -> Tree:
    return {path or codec.place(note): codec.render(note).encode()}


def page(words: str) -> bytes:
    return signed(f"---\ngenerated: {'0' * 12}\n---\n\n# Page\n\n{words}\n").encode()


def stones(*found: Tombstone) -> Tree:
    return {"mid-term/tombstones.jsonl": b"".join(map(tombstone_line, found))}


def usage(*days: str) -> Tree:
    return {"mid-term/usage.jsonl": b"".join(seal({"day": day, "shown": {}}) for day in days)}


def job(**values: object) -> Tree:
    plain = Job("distil-1", "distil", NOW, "x")
    return {"mid-term/jobs/distil-1.json": job_json(replace(plain, **values))}  # type: ignore[arg-type]  # any field


def stone(value: str, why: str = "", at: timedelta = timedelta()) -> Tombstone:
    return Tombstone("memory", "deploy.port", value, NOW + at, "li", why)


def thread(*items: str) -> Tree:
    lines = (json.dumps({"item": item}) + "\n" for item in items)
    return {"mid-term/agents/kimi/threads/t.jsonl": "".join(lines).encode()}


def talk(*texts: str, who: int = 0, base: Talk | None = None) -> Talk:
    found = base.copy() if base else Talk()
    for text in texts:
        found.say(text, who)
    return found


def session(one: Talk) -> Tree:
    return {one.path: one.content}


PORT = card(sources=(said("s1", 1),), tags=("port",))
EVENT = Event(
    id="event-1", created=NOW, updated=NOW, title="Deployed", type=EventType.SUCCESS, at=NOW,
    content="It runs.", sources=(said("s1", 1),),
)  # fmt: skip
PROJECT = Project(
    id="p", created=NOW, updated=NOW, name="Athena", todos=(Todo("write"), Todo("test"))
)
AGENT = Agent(id="a", created=NOW, updated=NOW, name="kimi", skills=("sql",))
IDENTITY = Identity(id="identity", created=NOW, updated=NOW, name="Kimi", beliefs=("tests help",))
DAY = Day(id="d", created=NOW, updated=NOW, date=NOW.date(), events=("deployed ^event-1",))
ASKED = Proposal(
    id="proposal-1", created=NOW, updated=NOW, title="Belief", target="long-term/IDENTITY.md",
    section="beliefs", text="tests help", status=Status.CANDIDATE,
)  # fmt: skip
HELLO = talk("hello")


class Case(NamedTuple):
    """A cell of the table: three trees, and what the result must be or say."""

    base: Tree
    ours: Tree
    theirs: Tree
    says: tuple[str, ...] = ()
    """Words that stand in the result …"""
    silent: tuple[str, ...] = ()
    """… and words that do not."""
    paths: tuple[str, ...] | None = None
    """Its paths, where all are known."""


def edit(note: Note, **values: object) -> Tree:
    return file_of(replace(note, **values))  # type: ignore[arg-type]  # any field of a note


CARD, CONFLICT = "semantic/general/deploy.port.md", "conflicts/"
TEXT = {"USER.md": b"one\ntwo\nthree\n"}
TOML = {"memory.toml": b'[memory]\nid = "m"\nname = "A"\n\n[gates]\nmax_loss = 0.25\n'}
CASES = {
    # sessions
    "session add/add same": Case({}, session(HELLO), session(HELLO), paths=(HELLO.path,)),
    "session add/add": Case(
        {},
        session(talk("tea", who=1)),
        session(Talk(started=LATER).say("coffee")),
        ("tea", "coffee"),
    ),
    "session edit/edit longer": Case(
        session(HELLO),
        session(talk("tea", base=HELLO)),
        session(talk("tea", "milk", base=HELLO)),
        ("hello", "tea", "milk"),
        paths=(HELLO.path,),
    ),
    "session edit/edit fork": Case(
        session(HELLO),
        session(talk("tea", who=1, base=HELLO)),
        session(talk("coffee", who=2, base=HELLO)),
        ("hello", "tea", "coffee"),
    ),
    "session edit/delete archived there": Case(
        session(HELLO),
        session(talk(base=HELLO).end()),
        session(talk("more", base=HELLO)),
        ("hello", "more", '"continues":"s1"'),
    ),
    "session edit/delete": Case(
        session(HELLO), {}, session(talk("more", base=HELLO)), ("hello", "more")
    ),
    "session tombstone/edit": Case(
        session(HELLO),
        {**session(HELLO), **stones(replace(stone(""), scope="session:s1"))},
        session(talk("more", base=HELLO)),
        ("more", '"scope":"session:s1"'),
    ),
    # cards and events
    "card add/add same id": Case(
        {},
        edit(PORT, sources=(said("s1", 1),)),
        edit(PORT, sources=(said("s2", 1),)),
        ("session:s1#1", "session:s2#1"),
        paths=(CARD,),
    ),
    "card add/add another id of the key": Case(
        {}, file_of(PORT), file_of(replace(PORT, id="card-2", value="9999")), ("8080", "9999")
    ),
    "card edit/edit": Case(
        file_of(PORT),
        edit(PORT, tags=("port", "net")),
        edit(PORT, sources=(*PORT.sources, said("s2", 3))),
        ("net", "session:s2#3"),
        paths=(CARD,),
    ),
    "card edit/edit two values": Case(
        file_of(PORT),
        edit(PORT, value="8443"),
        edit(PORT, value="9999"),
        ("8443", "9999", "CONTRADICTS"),
    ),
    "card edit/delete proven since": Case(
        file_of(PORT),
        {},
        edit(PORT, sources=(*PORT.sources, said("s2", 1))),
        ("session:s2#1",),
        ("session:s1#1",),
    ),
    "card edit/delete nothing left": Case(file_of(PORT), {}, edit(PORT, temperature=0.1), paths=()),
    "card tombstone/edit": Case(
        file_of(PORT),
        {**edit(PORT, status=Status.ARCHIVED), **stones(stone("8080"))},
        edit(PORT, sources=(*PORT.sources, said("s2", 1))),
        ("status: archived", "session:s2#1", "tombstone"),
    ),
    "card purge/edit": Case(
        file_of(PORT),
        edit(PORT, value="⟦purged⟧"),
        edit(PORT, value="8080 and 8081"),
        ("⟦purged⟧",),
        ("8081",),
    ),
    "card rename/edit": Case(
        file_of(PORT),
        file_of(PORT, "semantic/net/port.md"),
        edit(PORT, tags=("net",)),
        ("net",),
        paths=("semantic/net/port.md",),
    ),
    "card rename/rename": Case(
        file_of(PORT),
        file_of(PORT, "semantic/b.md"),
        file_of(PORT, "semantic/a.md"),
        paths=("semantic/a.md",),
    ),
    "event edit/edit": Case(
        file_of(EVENT),
        edit(EVENT, lesson="Test it."),
        edit(EVENT, participants=("Li",)),
        ("Test it.", "Li"),
        paths=(codec.place(EVENT),),
    ),
    "event edit/edit two texts": Case(
        file_of(EVENT),
        edit(EVENT, content="It ran."),
        edit(EVENT, content="It fell."),
        ("It ran.", "It fell."),
    ),
    "event add/add same id": Case(
        {},
        edit(EVENT, sources=(said("s1", 1),)),
        edit(EVENT, sources=(said("s2", 1),)),
        ("session:s1#1", "session:s2#1"),
        paths=(codec.place(EVENT),),
    ),
    "event edit/delete nothing left": Case(file_of(EVENT), {}, edit(EVENT, tags=("x",)), paths=()),
    "event tombstone/edit": Case(
        file_of(EVENT),
        {**edit(EVENT, status=Status.ARCHIVED), **stones(stone("It runs."))},
        edit(EVENT, sources=(*EVENT.sources, said("s2", 1))),
        ("status: archived", "session:s2#1", "tombstone"),
    ),
    # lists
    "project edit/edit": Case(
        file_of(PROJECT),
        edit(PROJECT, todos=(Todo("write", done=True), Todo("test"))),
        edit(PROJECT, todos=(*PROJECT.todos, Todo("sign"))),
        ("[x] write", "[ ] test", "[ ] sign"),
    ),
    "agent edit/edit": Case(
        file_of(AGENT),
        edit(AGENT, skills=("sql", "git")),
        edit(AGENT, skills=("sql", "css")),
        ("sql", "git", "css"),
        paths=(codec.place(AGENT),),
    ),
    "identity edit/edit": Case(
        file_of(IDENTITY),
        edit(IDENTITY, growth=("learned git",)),
        edit(IDENTITY, beliefs=()),
        ("learned git",),
        ("tests help",),
    ),
    "day add/add": Case(
        {}, edit(DAY, knowledge=("tea",)), edit(DAY, knowledge=("milk",)), ("tea", "milk")
    ),
    "project edit/delete": Case(file_of(PROJECT), {}, edit(PROJECT, risks=("time",)), ("time",)),
    "agent edit/delete": Case(file_of(AGENT), {}, edit(AGENT, skills=("sql", "git")), ("git",)),
    "identity edit/delete": Case(
        file_of(IDENTITY), {}, edit(IDENTITY, growth=("learned git",)), ("learned git",)
    ),
    "day edit/delete": Case(file_of(DAY), {}, edit(DAY, knowledge=("tea",)), ("tea",)),
    # generated pages
    "page add/add": Case({}, {"MEMORY.md": page("a")}, {"MEMORY.md": page("b")}, paths=()),
    "page edit/edit by hand": Case(
        {"MEMORY.md": page("a")},
        {"MEMORY.md": page("b")},
        {"MEMORY.md": page("a") + b"\n- mine\n"},
        ("- mine",),
        paths=("MEMORY.md",),
    ),
    "page edit/edit by two hands": Case(
        {"MEMORY.md": page("a\nb\nc")},
        {"MEMORY.md": page("a\nb\nc").replace(b"a\n", b"A\n")},
        {"MEMORY.md": page("a\nb\nc").replace(b"\nc", b"\nC")},
        ("A\nb\nC",),
        paths=("MEMORY.md",),
    ),
    "page edit/delete": Case({"MEMORY.md": page("a")}, {}, {"MEMORY.md": page("b")}, paths=()),
    "page edit by hand/delete": Case(
        {"MEMORY.md": page("a")}, {}, {"MEMORY.md": page("a") + b"- mine\n"}, ("- mine",)
    ),
    # records
    "tombstones add/add": Case(
        {},
        stones(stone("a", at=timedelta(1)), stone("b")),
        stones(stone("a")),
        ('"a"', '"b"'),
        ("2026-02-28",),
    ),
    "tombstones edit/delete": Case(
        stones(stone("a"), stone("p", "purged")),
        stones(stone("b"), stone("p", "purged")),
        stones(stone("a"), stone("p", "purged"), stone("c")),
        ('"b"', '"c"', '"p"'),
        ('"value":"a"',),
    ),
    "tombstones made again": Case(
        stones(stone("a")), stones(stone("b")), stones(stone("a", at=timedelta(1))), ('"a"', '"b"')
    ),
    "usage edit/edit": Case(
        usage("2026-02-01"),
        usage("2026-02-01", "2026-02-02"),
        usage("2026-02-01", "2026-02-03"),
        ("02-01", "02-02", "02-03"),
    ),
    "job add/add": Case({}, job(at=LATER), job(), ("2026-02-27",), ("2026-02-28",)),
    "job edit/delete": Case(job(), {}, job(at=LATER), paths=()),
    # proposals
    "proposal edit/edit": Case(
        file_of(ASKED), edit(ASKED, reason="seen"), edit(ASKED, tags=("x",)), ("seen", "x")
    ),
    "proposal answered/edit": Case(file_of(ASKED), {}, edit(ASKED, reason="seen"), paths=()),
    # free text
    "text add/add": Case(
        {}, {"USER.md": b"Li\n"}, {"USER.md": b"Wang\n"}, ("Li", "Wang", CONFLICT)
    ),
    "text edit/edit": Case(
        TEXT,
        {"USER.md": b"ONE\ntwo\nthree\n"},
        {"USER.md": b"one\ntwo\nTHREE\n"},
        ("ONE\ntwo\nTHREE",),
        paths=("USER.md",),
    ),
    "text edit/edit clash": Case(
        TEXT,
        {"USER.md": b"one\nours\nthree\n"},
        {"USER.md": b"one\ntheirs\nthree\n"},
        ("ours", "theirs", CONFLICT),
    ),
    "text edit/delete": Case(TEXT, {}, {"USER.md": b"one\n"}, ("one",)),
    # threads
    "thread edit/edit longer": Case(thread("a"), thread("a", "b"), thread("a", "b", "c"), ('"c"',)),
    "thread edit/edit fork": Case(thread("a"), thread("a", "b"), thread("a", "c"), ('"b"', '"c"')),
    "thread edit/delete": Case(thread("a"), {}, thread("a", "b"), ('"b"',)),
    # settings
    "settings edit/delete": Case(
        TOML, {}, {"memory.toml": TOML["memory.toml"].replace(b'"A"', b'"B"')}, ('name = "B"',)
    ),
    "settings edit/edit": Case(
        TOML,
        {"memory.toml": TOML["memory.toml"].replace(b"0.25", b"0.2")},
        {"memory.toml": TOML["memory.toml"].replace(b"0.25", b"0.4").replace(b'"A"', b'"B"')},
        ("max_loss = 0.2\n", 'name = "B"', 'id = "m"'),
        paths=("memory.toml",),
    ),
    "settings edit/edit new table": Case(
        TOML,
        {"memory.toml": TOML["memory.toml"] + b"\n[recall]\nlimit = 9\n"},
        {"memory.toml": TOML["memory.toml"] + b"\n[chunks]\nheadings = false\n"},
        ("limit = 9", "headings = false"),
        paths=("memory.toml",),
    ),
    "settings in a form of their own": Case(
        TOML,
        {"memory.toml": b'[memory]\nid = "m"\nx = [\n1]\n'},
        {"memory.toml": b'[memory]\nid = "m"\nx = [\n2]\n'},
        (CONFLICT,),
    ),
    # anything else
    "binary add/add": Case({}, {"a.bin": b"\0one"}, {"a.bin": b"\0two"}, ("one", "two", "a-")),
    "binary edit/edit": Case(
        {"a.bin": b"\0"}, {"a.bin": b"\0one"}, {"a.bin": b"\0two"}, ("one", "two", CONFLICT)
    ),
    "binary edit/delete": Case({"a.bin": b"\0"}, {}, {"a.bin": b"\0two"}, ("two",)),
    "note that became text": Case(
        file_of(PORT),
        {CARD: b"no head any more\n"},
        edit(PORT, sources=(*PORT.sources, said("s2", 1))),
        ("no head", "8080"),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_kind_in_every_pair_of_changes(case: Case) -> None:
    found = joined(case.base, case.ours, case.theirs).files
    everything = "\n".join(f"{path}\n{found[path].decode()}" for path in sorted(found))
    for words in case.says:
        assert words in everything
    for words in case.silent:
        assert words not in everything
    if case.paths is not None:
        assert tuple(found) == case.paths


PATHS = st.sampled_from(["USER.md", "notes/a.md", "a.bin", "mid-term/usage.jsonl", "MEMORY.md"])
BYTES = st.sampled_from([b"one\ntwo\n", b"two\n", b"\0", b'{"day":"1"}\n', page("a"), page("b")])
FILES = st.dictionaries(PATHS, BYTES, max_size=4)
SAYS = st.lists(st.sampled_from(["say", "note", "end"]), max_size=3)


def go_on(shared: Talk, acts: list[str], who: int) -> Talk:
    """Go on with a session in a copy."""
    own = shared.copy()
    for act in acts:
        if own.archived:
            break
        match act:
            case "say":
                own.say(f"by {who}", who)
            case "note":
                own.note(n=who)
            case _:
                own.end(100 + who)
    return own


@st.composite
def memories(draw: st.DrawFn, copies: int = 2) -> list[Tree]:
    """A memory and what so many copies made of it: notes, sessions, tombstones, other files."""
    versions = [draw(forks("card", "event", "project", copies=copies)) for _ in range(2)]
    shared = talk("hello", "and")
    trees: list[Tree] = []
    for who in range(copies + 1):
        tree = dict(draw(FILES))
        for notes in versions:
            note = replace(notes[who], sources=(*notes[who].sources, said("s1", 1)))
            if draw(st.integers(0, 5)):
                tree |= file_of(note, f"semantic/x/{note.id}.md")
        if who == 0 or draw(st.booleans()):
            own = go_on(shared, draw(SAYS) if who else [], who)
            tree |= session(own)
            if who and own.n > shared.n:
                late = card(id=f"card-{who}", key=f"k.{who}", sources=(said("s1", shared.n + 1),))
                tree |= file_of(late)
        tree |= stones(*(stone(f"v{n}") for n in draw(st.sets(st.integers(0, 4)))))
        trees.append(tree)
    return trees


def turns_of(tree: Tree) -> Counter[str]:
    found: Counter[str] = Counter()
    for path, content in tree.items():
        if path.endswith(".jsonl") and "session_" in path:
            lines = tuple(content.splitlines(keepends=True))
            found.update(f"{turn.at} {turn.text}" for turn in assert_chained(lines))
    return found


@given(memories())
@examples(60)
def test_the_laws_hold_for_whole_memories(trees: list[Tree]) -> None:
    base, ours, theirs = trees
    found = joined(base, ours, theirs).files
    before = [turns_of(tree) for tree in trees]
    assert all(count == 1 for count in turns_of(found).values())
    added = (before[1].keys() | before[2].keys()) - before[0].keys()
    assert added <= turns_of(found).keys() <= before[1].keys() | before[2].keys()
    transcripts = {
        part.session.id: part
        for path, content in found.items()
        if path.endswith(".jsonl") and "session_" in path
        for part in [read_transcript_lines(content.splitlines(keepends=True), path)]
    }
    for who in (1, 2):
        note = next((n for n in notes_of(found) if n.id == f"card-{who}"), None)
        if note is not None:
            [source] = note.sources
            turn = transcripts[source.session].turn(source.first)
            assert turn is not None
            assert turn.text == f"by {who}", "evidence names another turn"
    held = [note.body_texts for note in notes_of(found) if isinstance(note, Card | Event)]
    old = {note.id: note for note in notes_of(base)}
    for side in (ours, theirs):
        for note in notes_of(side):
            known = old.get(note.id)
            if isinstance(note, Card | Event) and (
                not isinstance(known, Card | Event) or known.body_texts != note.body_texts
            ):
                assert note.body_texts in held, "a statement is lost"


def three_values(*said: tuple[str, int]) -> list[Tree]:
    """A card, and what three copies say: a value, and since which day."""
    later = (edit(PORT, value=value, valid_from=NOW + timedelta(day)) for value, day in said)
    return [file_of(PORT), *later]


@given(memories(copies=3))
@example(three_values(("1", 2), ("2", 1), ("2", 3)))  # what loses to one wins with the other
@example(three_values(("1", 3), ("2", 1), ("2", 2)))  # the same words lose twice
@example(three_values(("1", 2), ("2", 1), ("1", 3)))
@examples(60)
def test_three_copies_say_the_same_in_any_order(trees: list[Tree]) -> None:
    """Notes and tombstones; clashes of free text depend on what was merged first."""
    base, a, b, c = (
        {p: t[p] for p in t if p.startswith(("semantic/", "mid-term/tomb"))} for t in trees
    )
    left = join(base, join(base, a, b).files, c).files
    right = join(base, a, join(base, b, c).files).files
    assert statements(left) == statements(right)
    name = "mid-term/tombstones.jsonl"
    assert sorted(left.get(name, b"").splitlines()) == sorted(right.get(name, b"").splitlines())


WEIGHTS = {"confidence", "temperature", "tags", "links", "supersedes"}
"""What jobs keep up by themselves: of a card that a copy deleted, they are as the last has them."""
OLD = replace(PORT, status=Status.STALE)
TESTED = replace(OLD, status=Status.CANDIDATE)


@given(card_forks(3))
@example((OLD, [TESTED, None, replace(OLD, value="9999")]))  # what a deletion hides counts later
@example((OLD, [replace(OLD, key="port"), None, replace(OLD, valid_to=LATER)]))
@example((PORT, [replace(PORT, trust=Origin.HUMAN), replace(PORT, valid_from=NOW), None]))
@example(
    (PORT, [replace(PORT, value="1"), replace(PORT, category="net"), replace(PORT, value="2")])
)
@examples(150)
def test_a_card_of_three_copies_is_the_same_in_any_order(
    forks: tuple[Card, list[Card | None]],
) -> None:
    base, sides = file_of(forks[0]), [{} if one is None else file_of(one) for one in forks[1]]
    left_out = WEIGHTS if None in forks[1] else set()
    ends = [
        values(join(base, join(base, one, other).files, last).files, left_out)
        for one, other, last in permutations(sides)
    ]
    assert all(end == ends[0] for end in ends)


@given(card_forks(4))
@examples(40)
def test_a_card_of_four_copies_is_the_same_in_any_order(
    forks: tuple[Card, list[Card | None]],
) -> None:
    base, sides = file_of(forks[0]), [{} if one is None else file_of(one) for one in forks[1]]
    left_out = WEIGHTS if None in forks[1] else set()

    def meet(one: Tree, other: Tree) -> Tree:
        return join(base, one, other).files

    a, b, c, d = sides
    in_a_row = values(meet(meet(meet(a, b), c), d), left_out)
    assert values(meet(meet(a, b), meet(c, d)), left_out) == in_a_row
    assert values(meet(meet(d, b), meet(a, c)), left_out) == in_a_row


def values(tree: Tree, left_out: set[str]) -> dict[str, dict[str, object]]:
    """What the cards of a tree hold, by their ids; lists in any order."""
    found: dict[str, dict[str, object]] = {}
    for note in notes_of({p: c for p, c in tree.items() if not p.startswith(CONFLICT)}):
        plain = {f.name: getattr(note, f.name) for f in fields(note) if f.name not in left_out}
        found[note.id] = {
            name: frozenset(map(str, value)) if isinstance(value, tuple) else value
            for name, value in plain.items()
        }
    return found


def statements(tree: Tree) -> set[tuple[str, object, object]]:
    notes = (note for note in notes_of(tree) if isinstance(note, Card | Event))
    return {(note.id, note.body_texts, note.status) for note in notes}


@given(memories(), st.integers(0, 3))
@examples(80)
def test_a_part_first_and_the_rest_later_is_no_loss(trees: list[Tree], which: int) -> None:
    base, ours, theirs = trees
    ids = sorted({note.id for tree in trees for note in notes_of(tree)}) or [""]
    part = ids[which % len(ids)]

    def taken(tree: Tree) -> Tree:
        notes = ((path, notes_of({path: tree[path]})) for path in tree)
        lies = {path for path, found in notes if part in [note.id for note in found]}
        return {path: tree[path] for path in tree if path in lies or "session_" in path}

    first = join(taken(base), ours, taken(theirs)).files
    assert statements(ours) - statements(first) <= statements(taken(ours))
    whole, straight = join(base, first, theirs).files, join(base, ours, theirs).files
    assert turns_of(whole) == turns_of(straight)
    assert statements(whole) == statements(straight)


@given(st.permutations([f"card-01m828{n}-z7peq2d8g" for n in ("aa9e", "a95s", "b7tq")]))
@examples(6)
def test_cards_that_want_one_name_have_a_file_each_in_any_order(ids: list[str]) -> None:
    """Ids that are made of one session, turn, key and type end alike."""
    one, other, last = (file_of(replace(PORT, id=id, value=id), CARD) for id in ids)
    found = joined({}, joined({}, one, other).files, last).files
    assert len(found) == 3
    assert {note.id: f"{note.id}" in found[CARD].decode() for note in notes_of(found)} == {
        id: id == min(ids) for id in ids
    }
    again = joined({}, one, joined({}, other, last).files).files
    assert found == again


def test_of_a_deleted_card_the_weights_are_as_the_last_merge_has_them() -> None:
    """The bound of the law: which weight stays depends on the order, whether it stays does not."""
    proven = edit(PORT, sources=(*PORT.sources, said("s2", 1)))
    weighed = edit(PORT, temperature=0.25)
    base = file_of(PORT)

    def meet(*trees: Tree) -> Card:
        first, *more = trees
        for other in more:
            first = join(base, first, other).files
        [note] = notes_of(first)
        assert isinstance(note, Card)
        return note

    ends = [meet(*sides) for sides in permutations([proven, {}, weighed])]
    assert {end.temperature for end in ends} == {PORT.temperature, 0.25}
    assert len({replace(end, temperature=1.0) for end in ends}) == 1


def test_views_and_pages_of_joined_sessions_are_made_of_their_records() -> None:
    one, other = talk("tea", who=1, base=HELLO), talk("coffee", who=2, base=HELLO)
    trees = []
    for made in (HELLO, one, other):
        view = view_json(read_transcript_lines(made.lines, made.path))
        trees.append({**session(made), made.path.removesuffix("l"): view})
    found = joined(*trees).files
    assert len([path for path in found if path.endswith(".json")]) == 2
    for path in [path for path in found if path.endswith(".jsonl")]:
        lines = found[path].splitlines(keepends=True)
        assert found[path.removesuffix("l")] == view_json(read_transcript_lines(lines, path))
    page = "episodic/sessions/2026-02/session_s1.md"
    found = joined(trees[0], {**session(talk(base=HELLO).end()), page: b"# s1\n"}, trees[2]).files
    assert found[page] == b"# s1\n"
    assert "short-term/session_s1.json" not in found
    assert [path for path in found if path.startswith("short-term/") and path.endswith(".json")]


def test_a_variant_lies_beside_its_card() -> None:
    found = joined(file_of(PORT), edit(PORT, value="1"), edit(PORT, value="2"))
    [(card_id, variant)] = found.notes.variants
    assert card_id == PORT.id
    paths = [path for path, content in found.files.items() if variant.encode() in content]
    assert len(paths) == 1
    assert found.files.keys() == {CARD, *paths}


def test_a_person_is_believed_before_an_agent() -> None:
    ours, theirs = edit(PORT, value="1", trust=Origin.HUMAN), edit(PORT, value="2")
    found = joined(file_of(PORT), ours, theirs)
    assert b"- Definition: 1\n" in found.files[CARD]
    assert found.notes.joined == [PORT.id]


def test_files_that_cannot_be_read_are_kept_as_they_are() -> None:
    sides = (b"{}\n", b"[\n")
    found = joined({}, *({HELLO.path: side} for side in sides))
    assert set(found.files.values()) == set(sides)
    broken = {"semantic/b.md": b"---\nkey: [\n---\n"}
    assert joined({}, broken, file_of(PORT)).files == {**broken, **file_of(PORT)}
    twice = {**file_of(PORT), "semantic/c.md": codec.render(PORT).encode()}
    assert join({}, twice, file_of(PORT)).files == twice


def test_two_kinds_of_notes_with_one_id_are_both_kept() -> None:
    found = joined({}, file_of(PORT, "a.md"), file_of(replace(EVENT, id=PORT.id), "a.md"))
    assert len(found.files) == 2
    assert len(found.kept) == 1
