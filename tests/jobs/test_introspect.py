"""Introspection as a job: merged, linked, cooled down, forgotten, and taken back."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.note import Card, CardType, Link, LinkRel, Origin, Quote, Source, Status
from kimi_memory.domain.pages import Event
from kimi_memory.formats.jsonl import seal
from kimi_memory.jobs.introspect import Introspect
from kimi_memory.jobs.usage import USAGE
from tests.conftest import Clock
from tests.jobs.notes import NOW, card, event, put
from tests.nlp.rules.test_rewording import SAME as ONE_CLAIM


def introspect(memory: Memory, *, dry_run: bool = False) -> tuple[JobReport, Introspect]:
    work = Introspect(memory)
    return memory.run(work, dry_run=dry_run), work


def get(memory: Memory, id: str) -> Card:
    note = memory.get(id).note
    assert isinstance(note, Card)
    return note


def tree(root: Path) -> dict[str, str]:
    """Return the hash of every file but MEMORY.md, which is made anew of the others."""
    derived = {".git", ".kimi", "MEMORY.md"}
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file() and not derived & set(path.relative_to(root).parts)
    }


def shown(memory: Memory, **counts: int) -> None:
    """Note how often cards were shown today."""
    line = seal(
        {"day": NOW.date().isoformat(), "shown": {f"card-{n}": c for n, c in counts.items()}}
    )
    with (memory.root / USAGE).open("ab") as file:
        file.write(line)


SAME = "We use PostgreSQL for the orders database"
ALSO = "we use PostgreSQL for the orders database."


def twins(memory: Memory) -> None:
    one, two = Quote("s1", 1, "use PostgreSQL"), Quote("s2", 3, "PostgreSQL it is")
    put(
        memory,
        card("a", SAME, age=5, quotes=(one,), sources=(Source.from_quote(one),)),
        card(
            "b",
            ALSO,
            age=2,
            quotes=(two,),
            sources=(Source.from_quote(two),),
            links=(Link("card-c"),),
        ),
        card("c", "The shop runs in two regions", links=(Link("card-b", LinkRel.DEPENDS_ON, 0.8),)),
    )


def test_duplicates_become_one_with_their_evidence_and_links(memory: Memory) -> None:
    twins(memory)
    report, work = introspect(memory)
    keeper, gone, other = (get(memory, f"card-{name}") for name in "abc")
    assert work.summary.merged == 1
    assert {source.session for source in keeper.sources} == {"s1", "s2"}
    assert [quote.session for quote in keeper.quotes] == ["s1", "s2"]
    assert keeper.links == (Link("card-c"),)
    assert (gone.status, keeper.supersedes) == (Status.ARCHIVED, ("card-b",))
    assert other.links == (Link("card-a", LinkRel.DEPENDS_ON, 0.8),)
    assert all(operation.why for operation in report.operations)
    assert "card-b" not in [hit.unit.id for hit in memory.recall("PostgreSQL").hits]


def test_undo_brings_back_every_byte(memory: Memory) -> None:
    twins(memory)
    put(memory, card("old", "An old and idle remark", age=200), event("e", "Tried it", age=100))
    before = tree(memory.root)
    report, _ = introspect(memory)
    assert tree(memory.root) != before
    memory.undo(report.id)
    assert tree(memory.root) == before


def test_a_dry_run_writes_nothing_and_shows_the_same_operations(memory: Memory) -> None:
    twins(memory)
    before = tree(memory.root)
    dry, work = introspect(memory, dry_run=True)
    assert tree(memory.root) == before
    assert dry.diff and work.summary.merged == 1
    assert dry.operations == introspect(memory)[0].operations


def test_a_second_introspection_finds_nothing_to_do(memory: Memory) -> None:
    twins(memory)
    put(memory, card("old", "An old and idle remark", age=200))
    assert introspect(memory)[0].id
    assert introspect(memory)[0].id == ""


def test_links_that_both_cards_state_are_both_moved(memory: Memory) -> None:
    against = Link("card-b", LinkRel.RELATES_TO, 0.3)
    back = Link("card-x", LinkRel.RELATES_TO, 0.9)
    put(
        memory,
        card("a", SAME, age=3),
        card("b", ALSO, age=2, links=(back,)),
        card("c", SAME, age=1, links=(Link("card-b", LinkRel.DEPENDS_ON),)),
        card("x", "Quite another matter", links=(against,)),
    )
    introspect(memory)
    assert get(memory, "card-x").links == (Link("card-a", LinkRel.RELATES_TO, 0.3),)
    assert get(memory, "card-a").links == (back,)


def test_three_of_a_kind_become_one(memory: Memory) -> None:
    put(memory, card("a", SAME, age=3), card("b", ALSO, age=2), card("c", SAME, age=1))
    _, work = introspect(memory)
    assert work.summary.merged == 2
    assert [get(memory, f"card-{name}").status for name in "abc"] == [
        Status.ACTIVE,
        Status.ARCHIVED,
        Status.ARCHIVED,
    ]
    assert set(get(memory, "card-a").supersedes) == {"card-b", "card-c"}


NEAR = (
    (
        "The staging cluster runs Kafka 3.7 on three nodes",
        "The staging cluster runs Kafka on nodes",
    ),
    ("测试环境的消息队列用三个节点的集群部署", "测试环境的消息队列用两个节点的集群部署"),
)


@pytest.mark.parametrize(("one", "two"), NEAR, ids=["en", "zh"])
def test_what_is_only_alike_gets_a_suggested_link(memory: Memory, one: str, two: str) -> None:
    put(memory, card("a", one), card("b", two))
    _, work = introspect(memory)
    [link] = get(memory, "card-a").links
    assert (link.to, link.rel) == ("card-b", LinkRel.SIMILAR_TO)
    assert link.reason.startswith("suggested: 0.") and 0.7 <= link.weight <= 0.95
    assert work.summary.suggested == 1
    assert get(memory, "card-b").links == ()


def test_what_a_person_rejected_is_not_suggested_again(memory: Memory) -> None:
    no = Link("card-a", LinkRel.SIMILAR_TO, 0.0, "rejected")
    put(memory, card("a", NEAR[0][0]), card("b", NEAR[0][1], links=(no,)))
    assert introspect(memory)[1].summary.suggested == 0


def test_what_reads_almost_the_same_and_says_otherwise_is_suggested_as_contradiction(
    memory: Memory,
) -> None:
    long = (
        "The gateway of the staging cluster that all the teams share listens on port {} by default"
    )
    put(memory, card("a", long.format(8080)), card("b", long.format(8081)))
    _, work = introspect(memory)
    [link] = get(memory, "card-a").links
    assert (link.rel, work.summary.merged) == (LinkRel.CONTRADICTS, 0)


def test_cards_cool_down_and_warm_up_with_their_use(memory: Memory) -> None:
    put(
        memory,
        card("new", "Made yesterday", age=1),
        card("mid", "Made two weeks ago", age=14),
        card("old", "Made last year and important", age=300, importance=0.9),
        card("back", "Was cold, is read again", age=300, temperature=0.0, importance=0.9),
    )
    shown(memory, back=2)
    report, work = introspect(memory)
    found = {
        name: get(memory, f"card-{name}").temperature for name in ("new", "mid", "old", "back")
    }
    assert found["new"] == 1.0
    assert 0.3 <= found["mid"] < 0.7
    assert found["old"] < 0.3
    assert found["back"] >= 0.7
    assert (work.summary.cooled, work.summary.warmed) == (2, 1)
    assert work.summary.bands == {"hot": 2, "warm": 1, "cold": 1}
    whys = {o.target: o.why for o in report.operations}
    assert whys["card-old"] == "hot → cold: temperature 0.00"


def test_cold_unused_cards_that_nothing_needs_are_archived(memory: Memory) -> None:
    idle: dict[str, object] = {"age": 120}
    put(
        memory,
        card("gone", "我们当时试过一种旧的缓存办法", **idle),
        card("young", "Not so old yet", age=60),
        card("weighty", "Never deploy on a Friday", importance=0.9, **idle),
        card("needed", "The base image is alpine", **idle),
        card("needing", "The build", age=1, links=(Link("card-needed", LinkRel.DEPENDS_ON),)),
        card("mentioned", "Ports are listed elsewhere", title="Ports", **idle),
        event("e", "See [[Ports]]"),
        card("read", "Read three times", **idle),
        card("verified", "Verified last week", verified=NOW - timedelta(days=7), **idle),
        card(
            "alike",
            "Only suggested to be alike",
            links=(Link("card-new", LinkRel.SIMILAR_TO),),
            **idle,
        ),
        card("new", "Made yesterday and quite unlike the rest"),
    )
    shown(memory, read=3)
    _, work = introspect(memory)
    archived = [
        name
        for name in ("gone", "young", "weighty", "needed", "mentioned", "read", "verified", "alike")
        if get(memory, f"card-{name}").status is Status.ARCHIVED
    ]
    assert archived == ["gone", "alike"]
    assert work.summary.forgotten == 2


def test_what_people_want_and_are_is_kept_and_findings_are_not(memory: Memory) -> None:
    idle: dict[str, object] = {"age": 200, "importance": 0.65, "trust": Origin.HUMAN}
    kinds = {
        "order": {"type": CardType.RULE},
        "taste": {"type": CardType.PREFERENCE},
        "self": {"key": "user.home"},
        "finding": {"trust": Origin.AGENT},
        "pattern": {"type": CardType.PATTERN},
        "remote": {"type": CardType.PREFERENCE, "trust": Origin.REMOTE},
        "weighty": {"type": CardType.DECISION, "importance": 0.8},
    }
    texts = dict(zip(kinds, ("早上不开会", "Tea, green", "I live in Oslo", "Port 5432 is taken",
        "Dry runs help", "Blue is best", "We host in Falkenstein"), strict=True))  # fmt: skip
    put(memory, *(card(name, texts[name], **{**idle, **more}) for name, more in kinds.items()))
    introspect(memory)
    gone = [name for name in kinds if get(memory, f"card-{name}").status is Status.ARCHIVED]
    assert gone == ["finding", "pattern", "remote"]


def test_a_forgotten_card_leaves_no_tombstone_and_its_session_stays(memory: Memory) -> None:
    with_session = memory.session("talk")
    with_session.turn("user", "The cache once used an odd trick")
    quote = Quote("talk", 1, "odd trick")
    put(
        memory,
        card("a", "An odd trick", age=200, quotes=(quote,), sources=(Source.from_quote(quote),)),
    )
    raw = (memory.root / "short-term/session_talk.jsonl").read_bytes()
    introspect(memory)
    assert get(memory, "card-a").status is Status.ARCHIVED
    assert not (memory.root / "mid-term/tombstones.jsonl").exists()
    assert (memory.root / "short-term/session_talk.jsonl").read_bytes() == raw


def test_unimportant_events_are_archived_after_their_time(memory: Memory) -> None:
    put(
        memory,
        event("old", "Tried another font", age=91),
        event("young", "Tried a third font", age=89),
        event("weighty", "生产数据库丢了一张表", age=91, importance=0.8),
    )
    _, work = introspect(memory)
    found = {name: memory.get(f"event-{name}").note for name in ("old", "young", "weighty")}
    assert {name: str(note.status) for name, note in found.items()} == {
        "old": "archived",
        "young": "active",
        "weighty": "active",
    }
    assert all(isinstance(note, Event) for note in found.values())
    assert work.summary.pruned == 1


def test_a_job_loses_no_more_than_its_gates_allow_and_says_what_waits(memory: Memory) -> None:
    put(
        memory, *(card(f"{n}", f"An idle remark number {n * 7919}", age=200 + n) for n in range(12))
    )
    report, work = introspect(memory)
    assert work.summary.forgotten == 3
    assert report.left_out == (
        "9 FORGET wait for the next introspect: this one is as large as gates allow",
    )
    oldest = [get(memory, f"card-{n}").status for n in (11, 10, 9)]
    assert oldest == [Status.ARCHIVED] * 3


def test_a_job_touches_no_more_files_than_its_gates_allow(
    tmp_path: Path, opening: Opening, clock: Clock
) -> None:
    with Memory.create(tmp_path / "small", opening=opening) as memory:
        settings = memory.root / "memory.toml"
        settings.write_text(settings.read_text("utf-8") + "\n[gates]\nmax_files = 12\n", "utf-8")
    with Memory.open(tmp_path / "small", opening) as memory:
        put(memory, *(card(name, name * 9, age=20) for name in "abcdefghi"))
        put(memory, card("x", SAME, age=20), card("y", ALSO, age=20))
        first, work = introspect(memory)
        assert len([p for p in first.paths if p.startswith("semantic/general/")]) == 3
        assert work.summary.merged == 1
        assert work.summary.waiting == {"REFINE": 8}
        left = 8
        while left:
            _, work = introspect(memory)
            left = work.summary.waiting.get("REFINE", 0)
        temperatures = {get(memory, f"card-{name}").temperature for name in "abcdefghi"}
        assert max(temperatures) < 0.7


def test_a_note_that_cannot_be_read_is_left_alone(memory: Memory) -> None:
    twins(memory)
    broken = memory.root / "semantic/general/broken.md"
    broken.write_text("---\nid: card-z\nkind: card\n---\n\n# Broken\n", encoding="utf-8")
    assert introspect(memory)[1].summary.merged == 1
    assert broken.read_text(encoding="utf-8").endswith("# Broken\n")


def test_chinese_near_duplicates_become_one_card(memory: Memory) -> None:
    for n, (one, two) in enumerate(ONE_CLAIM):
        put(memory, card(f"{n}a", one, age=2), card(f"{n}b", two))
    report, work = introspect(memory)
    assert report.failed == ""
    assert work.summary.merged == len(ONE_CLAIM) == 20


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The old logs are never deleted.", "The old logs are always deleted."),
        ("The nightly backup is enabled.", "The nightly backup is disabled."),
        ("旧日志从不删除，全部留档。", "旧日志总是删除，全部留档。"),
        ("测试服务器已经启用备份。", "测试服务器已经停用备份。"),
        ("周末值班的人不用打卡。", "周末值班的人要打卡。"),
    ],
)
def test_opposites_are_never_proposed_as_alike(memory: Memory, one: str, two: str) -> None:
    put(memory, card("a", one, age=2), card("b", two))
    introspect(memory)
    rels = {str(link.rel) for id in ("card-a", "card-b") for link in get(memory, id).links}
    assert rels <= {"CONTRADICTS"}
    assert {str(get(memory, id).status) for id in ("card-a", "card-b")} == {"active"}
