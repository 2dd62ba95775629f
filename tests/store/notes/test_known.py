"""What is known: cards that hold, lines of the last digests, projects."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from kimi_memory import Memory
from kimi_memory.domain.brief import MOST, Section, choose
from kimi_memory.domain.job import Append, Create, Op, Step
from kimi_memory.domain.note import Card, CardType, Lang, Note, Origin, Quote, Source, Status
from kimi_memory.domain.pages import Digest, DigestLine, Part, Project, Todo
from kimi_memory.domain.tombstone import Tombstone
from kimi_memory.formats.card_form import Head
from kimi_memory.formats.codec import place, render
from kimi_memory.formats.jsonl import tombstone_line
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.known import RECENT, Known, Whose
from kimi_memory.store.notes.notes import SESSIONS, Shelf

AT = datetime(2026, 2, 20, 9, tzinfo=UTC)
WORKS = (
    "The export must write UTF-8, as readers need umlauts, and `export.py` now does so by default."
)
ATLAS = "Our app atlas is for bakeries and keeps their orders."
WANTS = "My aunt Ann wants the export in UTF-8, as readers need umlauts:"


def card(id: str, value: str = "", **more: object) -> Card:
    base = Card(
        id=f"card-{id}", created=AT, updated=AT, title=id, type=CardType.DECISION,
        key=f"k.{id}", value=value or f"it is {id}", trust=Origin.HUMAN,
    )  # fmt: skip
    return replace(base, **more)


def digest(id: str, *lines: DigestLine, at: datetime = AT, **more: object) -> Digest:
    base = Digest(
        id=f"digest-{id}", created=at, updated=at, title=f"of {id}", session=id, at=at,
        lines=lines,
    )  # fmt: skip
    return replace(base, **more)


def line(part: Part, text: str, n: int = 1, who: str = "") -> DigestLine:
    return DigestLine(part, text, n, n, who)


def keep(memory: Memory, *notes: Note) -> None:
    memory.store.apply([Create(place(n), render(n).encode()) for n in notes], memory.actor)


def known(memory: Memory, *steps: Note) -> Known:
    planned = [Step(Op.ADD, note, "") for note in steps]
    return Known.from_shelf(Shelf(memory.store), steps=planned)


def said(of: Known, **whose: object) -> dict[str, Section]:
    points = of.candidates(Lang.EN, UTC, Whose(**whose) if whose else None).points
    return {point.text: point.section for point in points}


def test_cards_that_hold_are_shown_and_others_are_not(memory: Memory) -> None:
    mine = {"status": Status.CANDIDATE, "trust": Origin.HUMAN}
    passing = {"status": Status.STALE, "type": CardType.TASK_STATE}
    keep(
        memory, card("a"), card("b", status=Status.CONFLICTED), card("c", status=Status.SUPERSEDED),
        card("d", status=Status.ARCHIVED), card("e", **mine), card("f", status=Status.STALE),
        card("g", **passing), card("h", **{**mine, "trust": Origin.AGENT}),
        card("i", **mine, sources=(Source.from_quote(Quote("s", 1, "it is i")),)),
        card("j", scope="user:x"),
    )  # fmt: skip
    shown = said(known(memory))
    assert set(shown) == {"it is a", "it is b", "it is e", "it is f"}
    assert shown["it is e"] is Section.UNSURE
    assert set(said(known(memory), scopes=("user:x",))) == {"it is j"}
    assert {"it is a", "it is j"} < set(said(known(memory), scopes=None))


def test_of_one_project_only_that_and_what_is_of_none_is_shown(memory: Memory) -> None:
    common = {"created": AT, "updated": AT}
    of = known(
        memory, card("a", project="atlas"), card("b", project="billing"), card("c"),
        Project(id="project-a", name="atlas", **common),
        Project(id="project-b", name="billing", **common),
        digest("s", line(Part.TOLD, ATLAS), project="atlas"),
        digest("t", line(Part.TOLD, ATLAS.replace("atlas", "billing")), project="billing"),
    )  # fmt: skip
    assert set(said(of, project="atlas")) == {
        "it is a",
        "it is c",
        "**atlas**",
        ATLAS,
    }


def test_what_has_ended_is_left_out_at_a_moment(memory: Memory) -> None:
    soon = AT + timedelta(days=1)
    of = known(memory, card("a", valid_to=soon), card("b", expires=soon), card("c"))
    assert set(said(of, now=AT)) == {"it is a", "it is b", "it is c"}
    assert set(said(of, now=soon)) == {"it is c"}
    assert any("until 2026-02-21" in point.shown for point in of.candidates(Lang.EN, UTC).points)


def test_words_that_were_forgotten_are_left_out(memory: Memory) -> None:
    keep(memory, digest("s", line(Part.TOLD, "My daughter is called Ida."),
                        line(Part.TOLD, "I live in Leeds.")))  # fmt: skip
    stone = Tombstone("memory", "", "my daughter is called ida.", AT, "me")
    memory.store.apply([Append(TOMBSTONES, (tombstone_line(stone),))], memory.actor)
    assert set(said(known(memory))) == {"I live in Leeds."}


def test_what_no_person_said_names_its_origin(memory: Memory) -> None:
    of = known(memory, card("a", trust=Origin.IMPORT), digest("s", line(Part.FOUND, WORKS)))
    plain = {point.plain for point in of.candidates(Lang.EN, UTC).points}
    assert plain == {"- it is a (import, 2026-02-20, 0.50)", f"- {WORKS} (agent, 2026-02-20)"}


def test_a_disputed_card_says_so(memory: Memory) -> None:
    of = known(memory, card("b", status=Status.CONFLICTED))
    [point] = of.candidates(Lang.EN, UTC).points
    assert point.shown == "- it is b (2026-02-20, 0.50, disputed) ^card-b"


def test_steps_count_as_done(memory: Memory) -> None:
    old = card("a", "We use Redis.")
    keep(memory, old, digest("s", line(Part.DECIDED, "We use Redis.")))
    assert set(said(known(memory))) == {"We use Redis."}
    new = replace(old, value="We use SQS.")
    assert "We use SQS." in said(known(memory, new))
    quoted = replace(
        old, status=Status.SUPERSEDED, quotes=(Quote("s", 1, "so we use redis"),),
        sources=(Source.from_quote(Quote("s", 1, "so we use redis")),),
    )  # fmt: skip
    assert not said(known(memory, quoted))
    gone = replace(digest("s"), status=Status.ARCHIVED)
    assert set(said(known(memory, gone, quoted))) == set()


def test_heads_may_be_given(memory: Memory) -> None:
    keep(memory, card("a"))
    given = Known.from_shelf(Shelf(memory.store), heads=[Head.of(card("z"))])
    assert set(said(given)) == {"it is z"}


def test_words_that_a_replaced_card_rests_on_are_left_out(memory: Memory) -> None:
    quotes = (Quote("s", 3, "We use Redis."),)
    sources = (Source.from_quote(quotes[0]),)
    keep(
        memory,
        card("a", status=Status.SUPERSEDED, quotes=quotes, sources=sources),
        card("b", status=Status.SUPERSEDED, sources=(Source.from_quote(Quote("other", 3, "no")),)),
        digest("s", line(Part.DECIDED, "We use Redis.", 3), line(Part.DECIDED, "We use Redis.", 4)),
    )  # fmt: skip
    [point] = known(memory).candidates(Lang.EN, UTC).points
    assert point.id.endswith("-1")


def test_lines_of_digests_have_their_sections(memory: Memory) -> None:
    parts = (part for part in Part if part not in (Part.OPEN, Part.FOUND))
    of = known(memory, digest("s", *(line(part, f"{WANTS} {part}.") for part in parts),
                             line(Part.FOUND, f"{WORKS} found."),
                             line(Part.OPEN, "The umlauts are still to do."),
                             line(Part.OPEN, "The export ran for an hour."),
                             line(Part.ASKED, "I'm a vet, help me.")))  # fmt: skip
    assert said(of) == {
        f"{WANTS} asked.": Section.LATELY,
        f"{WANTS} ordered.": Section.HOW,
        f"{WANTS} decided.": Section.DECISIONS,
        f"{WANTS} told.": Section.WHO,
        f"{WORKS} found.": Section.LATELY,
        "The umlauts are still to do.": Section.OPEN,
        "I'm a vet, help me.": Section.WHO,
    }  # fmt: skip


def test_what_is_told_stands_under_what_it_tells_of(memory: Memory) -> None:
    told = (
        "My sister Ruth teaches chess in Graz.",
        "Lesson learned: the crane must be locked before the tide turns at 6.",
        "We plan a website for our sailing club in Kiel with 40 boats.",
    )
    of = known(memory, digest("s", *(line(Part.TOLD, text, n) for n, text in enumerate(told))))
    points = {p.text: (p.section, p.heading) for p in of.candidates(Lang.EN, UTC).points}
    headings = (Section.WHO, Section.LESSONS, Section.LATELY)
    assert points == {
        text: (Section.WHO, heading) for text, heading in zip(told, headings, strict=True)
    }


def test_small_talk_is_left_to_its_digest(memory: Memory) -> None:
    lines = line(Part.TOLD, "that's so good to hear!"), line(Part.ASKED, "off to eat", 3)
    assert not said(known(memory, digest("s", *lines)))


def test_how_a_piece_of_work_stands_is_left_to_its_digest(memory: Memory) -> None:
    report = "the gallery page with the owls still doesn't load in Firefox, we get 3 errors"
    keep(memory, digest("s", line(Part.ASKED, report), line(Part.OPEN, report + " there", n=2)))
    assert said(known(memory)) == {report + " there": Section.OPEN}


def test_a_line_says_whose_it_is_and_when(memory: Memory) -> None:
    late = datetime(2026, 11, 22, 18, 36, tzinfo=UTC)
    of = known(
        memory,
        digest("s", line(Part.TOLD, "I run 3 marathons in Leeds.", who="Ann"), at=late),
    )
    [point] = of.candidates(Lang.EN, ZoneInfo("Asia/Shanghai")).points
    assert point.shown == "- Ann: I run 3 marathons in Leeds. (2026-11-23) ^turn-st-s-0"


def test_only_the_last_sessions_are_read(memory: Memory) -> None:
    keep(memory, *(
        digest(f"s{n:02d}", line(Part.ASKED, f"I have {n} flights to Oslo in May with my choir."),
               line(Part.TOLD, f"I told my aunt Mia {n} tales of Oslo"), at=AT + timedelta(days=n))
        for n in range(SESSIONS + 3)
    ))  # fmt: skip
    shown = said(known(memory))
    assert sum(text.startswith("I told") for text in shown) == SESSIONS
    assert sum(text.startswith("I have") for text in shown) == RECENT
    assert f"I told my aunt Mia {SESSIONS + 2} tales of Oslo" in shown
    assert "I told my aunt Mia 1 tales of Oslo" not in shown


def test_a_project_is_one_line(memory: Memory) -> None:
    todos = (Todo("write"), Todo("sleep", done=True), Todo("read"))
    full = Project(
        id="project-a", created=AT, updated=AT, name="Atlas", progress=("2026-02-20 began",),
        todos=todos,
    )  # fmt: skip
    bare = Project(id="project-b", created=AT, updated=AT, name="Bare")
    done = Project(id="project-c", created=AT, updated=AT, name="Done", finished=True)
    keep(memory, full, bare, done)
    assert set(said(known(memory))) == {
        "**Atlas**: state: 2026-02-20 began · next: write; read", "**Bare**",
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["digest", "card"])
def test_a_file_that_cannot_be_read_is_left_out(memory: Memory, kind: str) -> None:
    quotes = (Quote("s", 3, "We use Redis."),)
    gone = card(
        "a", status=Status.SUPERSEDED, quotes=quotes, sources=(Source.from_quote(quotes[0]),)
    )
    keep(memory, gone, digest("s", line(Part.DECIDED, "We use Redis.", 3)))
    broken = gone if kind == "card" else digest("s")
    path = next(e.path for e in Shelf(memory.store).entries().values() if e.id == broken.id)
    file = memory.root / path
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("created: ", "created: never, or "), encoding="utf-8")
    memory.store.reconcile()
    assert set(said(known(memory))) == ({"We use Redis."} if kind == "card" else set())


def test_of_a_digest_the_lines_that_name_most_come_first(memory: Memory) -> None:
    small = line(Part.TOLD, "We plan 3 nights in Ghent for our club", 1)
    great = line(Part.TOLD, "My sister Ada sold the bakery in Ghent in March", 3)
    keep(memory, digest("a", small, great))
    points = [p for p in known(memory).candidates(Lang.EN, UTC).points if p.section is Section.WHO]
    assert [p.text for p in sorted(points, key=lambda p: p.rank)] == [great.text, small.text]


@pytest.mark.parametrize(
    ("asked", "section"),
    [
        (DigestLine(Part.ASKED, "I work on boats in Kiel", 1, 1), Section.WHO),
        (
            DigestLine(Part.ASKED, "I have 7 flights to Oslo in May with my choir.", 1, 1),
            Section.LATELY,
        ),
        (DigestLine(Part.ASKED, f"{WANTS} all → `export.py` writes UTF-8", 1, 5), Section.WORK),
    ],
)
def test_what_was_asked_stands_where_it_tells_most(
    memory: Memory, asked: DigestLine, section: Section
) -> None:
    keep(memory, digest("a", asked))
    (point,) = known(memory).candidates(Lang.EN, UTC).points
    assert point.section is section


def test_who_the_user_is_begins_with_the_name(memory: Memory) -> None:
    name = card("a", "I am called Ida", type=CardType.ENTITY, key="user.name")
    home = card("b", "I live in Graz", type=CardType.FACT, key="user.home", confidence=1.0)
    points = list(known(memory, home, name).candidates(Lang.EN, UTC).points)
    assert {point.section for point in points} == {Section.WHO}
    assert min(points, key=lambda point: point.rank).text == "I am called Ida"


def test_to_rank_before_writing_lines_chooses_the_same() -> None:
    chance = random.Random(5)
    heads = tuple(
        Head.of(
            card(
                f"{number:04d}",
                f"Order {number} of {chance.randrange(400)}",
                type=chance.choice([CardType.RULE, CardType.FACT, CardType.PREFERENCE]),
                key=chance.choice(["user.home", "user.dates.d", "user.name", "topic.x"]),
                confidence=chance.choice([0.7, 0.9]),
            )
        )
        for number in range(1000)
    )
    chosen, beyond = Known(heads).candidates(Lang.EN, UTC)
    # Of so few cards at once none is left out.
    parts = [Known(heads[n : n + MOST]).candidates(Lang.EN, UTC) for n in range(0, 1000, MOST)]
    every = [point for part in parts for point in part.points]
    assert (len(every), len(chosen) + beyond) == (1000, 1000)
    assert beyond > 500
    for budget in (60, 600, 6000):
        assert choose(chosen, budget) == choose(every, budget)


def test_what_must_never_be_done_comes_before_newer_orders(memory: Memory) -> None:
    later = AT + timedelta(days=30)
    firm = card("a", "Never deploy on a Friday.", type=CardType.RULE, key="rule.deploy")
    styles = [
        card(f"s{n}", f"Show sum {n} in francs.", type=CardType.RULE, key=f"rule.s{n}",
             created=later, valid_from=later)
        for n in range(30)
    ]  # fmt: skip
    keep(memory, firm, *styles)
    points = known(memory).candidates(Lang.EN, UTC).points
    assert choose(points, 60)[0].text == firm.value


def test_a_later_line_leaves_out_only_what_it_says_otherwise(memory: Memory) -> None:
    kept = "we don't want each app to have a git repository, one for the whole project"
    moved = "The dentist moved to Tuesday, the appointment is at 9."
    later = AT + timedelta(days=1)
    of = known(
        memory,
        digest(
            "s",
            line(Part.DECIDED, kept),
            line(Part.TOLD, "My dentist appointment is on Monday.", 2),
        ),
        digest(
            "t",
            line(
                Part.ASKED,
                "The git page of each app is slow. We use Vite instead of webpack there.",
            ),
            line(Part.TOLD, moved, 2),
            at=later,
        ),
    )
    assert kept in said(of)
    assert moved in said(of)
    assert "My dentist appointment is on Monday." not in said(of)


def test_a_pick_whose_words_tell_nothing_is_left_to_its_digest(memory: Memory) -> None:
    pick = "Wiring options → B → Sure, here is what comes next"
    told = (
        "We keep the oil boiler of the barn until 2031 → The barn keeps its oil boiler until 2031"
    )
    plain = "We heat with oil."
    lines = (line(Part.DECIDED, text, n) for n, text in enumerate((pick, told, plain), 1))
    keep(memory, digest("s", *lines))
    assert said(known(memory)) == {told: Section.DECISIONS, plain: Section.DECISIONS}
