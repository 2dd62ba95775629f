"""Forgetting: by note, key, session, words or time; and it stays forgotten on every path."""

from __future__ import annotations

import io
import json
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

import pytest
from kimi_memory.plugins.compaction.compact_chat import compact
from kimi_memory.plugins.skills import propose

from kimi_memory import Memory, Opening
from kimi_memory.domain.compaction import Limits, Message
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.job import Create
from kimi_memory.domain.note import Role, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import StoreError, UsageError
from kimi_memory.jobs.purge import Doomed
from kimi_memory.operations.forget import forget, purge
from kimi_memory.operations.import_memories import import_store
from kimi_memory.operations.introspect import introspect
from kimi_memory.store.notes.notes import Shelf, read_tombstones
from tests.jobs.edited_pages import TEXTS, card, cards, page, write
from tests.jobs.test_runner import tree

SECRET = {
    "zh": (
        "我们决定用 MongoDB 存菜谱，因为免费额度够用。",
        "我們決定用ＭｏｎｇｏＤＢ存菜谱，因為免費額度夠用",
    ),
    "en": (
        "We decided to use MongoDB for recipes because it is free.",
        "we decided: to use mongodb for recipes, because it's free",
    ),
}


def transcript(folder: Path, text: str) -> TranscriptFile:
    """A transcript in the format of the messages reader."""
    lines = [
        {"role": "user", "content": text, "timestamp": "2026-02-20T09:00:00Z"},
        {"role": "assistant", "content": "ok", "timestamp": "2026-02-20T09:00:10Z"},
        {"role": "user", "content": "It rained. 今天下雨。", "timestamp": "2026-02-20T09:00:20Z"},
    ]
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    return TranscriptFile(f"{folder.name}.jsonl", content[:65536], lambda: io.BytesIO(content))


def take_in(memory: Memory, file: TranscriptFile) -> None:
    for taken in list(memory.ingest([file])):
        if taken.stored:
            memory.end(taken.session)
    memory.consolidate("daily")
    memory.consolidate("weekly")


def traces(memory: Memory, word: str) -> list[str]:
    """Where a word is still shown to anybody who does not ask for archived notes."""
    found = [
        hit.unit.id
        for query in (word, f"Which database? 用什么数据库？{word}")
        for hit in memory.recall(Query(text=query, limit=50)).hits
        if word in hit.unit.text + hit.snippet
    ]
    for purpose in ("start", "task"):
        if word in memory.context(purpose, word).text:
            found.append(f"context {purpose}")
    pages = [
        path
        for path in memory.store.files()
        if path.endswith(".md") and not path.startswith("episodic/sessions/")
    ]
    for path in pages:
        note = Shelf(memory.store).entries().get(path)
        text = memory.store.read(path).decode()
        if word in text and "status: archived" not in text:
            found.append(path if note is None else note.id)
    live = {c.key for c in cards(memory) if c.status is not Status.ARCHIVED and word in c.value}
    return [*found, *live]


@pytest.mark.parametrize("lang", SECRET)
@pytest.mark.parametrize("hashed", [False, True], ids=["plain", "hashed"])
def test_what_was_forgotten_is_absent_on_every_path(
    memory: Memory, opening: Opening, tmp_path: Path, clock, *, lang: str, hashed: bool
) -> None:
    text, paraphrase = SECRET[lang]
    word = "MongoDB"
    file = transcript(tmp_path, text)
    take_in(memory, file)
    assert traces(memory, word)
    [known] = [c for c in cards(memory) if word in c.value]
    old_page, old_card = page(memory), memory.get(known.id)
    clock.move(hours=1)

    forget(memory, Wanted(key=known.key, hashed=hashed))
    assert traces(memory, word) == [], "forgotten"
    memory.index.refresh(full=True)
    assert traces(memory, word) == [], "index made anew"
    memory.close()
    shutil.rmtree(memory.root / ".kimi")
    with Memory.open(memory.root, opening) as again:
        assert traces(again, word) == [], "restarted without anything derived"
        take_in(again, file)
        assert traces(again, word) == [], "the transcript taken in again"
        take_in(again, transcript(tmp_path / "copy", text))
        assert traces(again, word) == [], "a copy of the transcript taken in"
        for said in (text, text.upper()):
            assert not again.remember(said, key=known.key).operations
        if not hashed:
            assert not again.remember(paraphrase, key=known.key).operations
        write(again, old_page)
        copy = old_card.text.replace(known.id, "card-copy")
        again.store.apply([Create("semantic/general/copy.md", copy.encode())], again.actor)
        again.consolidate("daily")
        assert again.get("card-copy").note.status == "archived"
        assert word not in page(again)
        shown = [p for p in traces(again, word) if not p.startswith("session:remembered")]
        assert shown == [], "an old page and an old card merged in"
        assert word not in every_other_job(again, tmp_path, text)
        shown = [p for p in traces(again, word) if not p.startswith("session:remembered")]
        assert shown == [], "imported, said in a chat, and looked through by every other job"


def every_other_job(memory: Memory, folder: Path, text: str) -> str:
    """Run the jobs that might bring a text back, and return the summary of a chat that says it."""
    (folder / "store").mkdir()
    (folder / "store/note.md").write_text(f"---\ntitle: note\n---\n{text}\n", encoding="utf-8")
    import_store(memory, folder / "store")
    introspect(memory)
    memory.consolidate("weekly")
    propose(memory)
    said = [text, *(f"Please look at line {n} of the log. 看看日志。" for n in range(80))]
    chat: list[Message] = [{"role": "user", "content": one} for one in said]
    return compact(memory, chat, Limits(800), session="chat").summary


def test_other_writers_meet_the_tombstones_as_well(paged: Memory) -> None:
    forget(paged, Wanted(key="health.dentist"))
    write(paged, page(paged) + f"- health.dentist: {TEXTS['health.dentist']}\n")
    report = paged.take_edits()
    assert any("on purpose" in line for line in report.left_out)
    assert "Abernathy" not in page(paged)


@pytest.mark.parametrize(
    ("query", "gone"),
    [
        ("doctor ABERNATHY", {"health.dentist"}),
        ("Ｓｏｌａｒｉｚｅｄ 暗色", {"editor.theme"}),
        ("備用鑰匙", {"码头.钥匙"}),
        ("nobody ever said this", set()),
    ],
)
def test_words_are_forgotten_however_they_were_typed(
    paged: Memory, query: str, gone: set[str]
) -> None:
    before = tree(paged.root)
    preview = forget(paged, Wanted(query=query), dry_run=True)
    assert {op.key for op in preview.operations if op.op == "FORGET"} == gone
    assert tree(paged.root) == before
    report = forget(paged, Wanted(query=query))
    assert {c.key for c in cards(paged) if c.status is Status.ARCHIVED} == gone
    said = {hit.unit.text for hit in paged.recall(Query(text=query, limit=20)).hits}
    assert said.isdisjoint(TEXTS[key] for key in gone)
    paged.undo(report.id)
    assert tree(paged.root) | before == tree(paged.root)


def test_a_time_takes_what_rests_on_its_turns_alone(memory: Memory, clock) -> None:
    memory.remember(TEXTS["health.dentist"], key="health.dentist")
    noon = clock.move(hours=3)
    memory.remember(TEXTS["trip.train"], key="trip.train")
    clock.move(hours=3)
    forget(memory, Wanted(since=noon, until=clock()))
    assert card(memory, "trip.train").status is Status.ARCHIVED
    assert card(memory, "health.dentist").status is Status.ACTIVE
    words = [hit.unit.text for hit in memory.recall("night train Bergen dentist Oslo").hits]
    assert not [text for text in words if "Bergen" in text]
    assert [text for text in words if "Oslo" in text]


def test_a_time_that_holds_a_whole_session_bars_the_session(memory: Memory, clock) -> None:
    session = memory.session("s")
    session.turn(Role.USER, "数据库我们决定用 MongoDB，因为免费额度够用。")
    session.turn(Role.ASSISTANT, "好的。")
    session.end()
    forget(memory, Wanted(until=datetime(2026, 3, 1, tzinfo=UTC)))
    assert "session:s" in {stone.scope for stone in read_tombstones(memory.store)}
    told = [hit.unit.text for hit in memory.recall("MongoDB 数据库").hits]
    assert not any("MongoDB" in text for text in told)


def test_cards_that_share_the_evidence_lose_it_and_fall_to_candidates(memory: Memory) -> None:
    session = memory.session("s")
    turn = session.turn(Role.USER, "We use PostgreSQL and we deploy on Mondays.")
    assert turn is not None
    first = memory.remember("We use PostgreSQL and we deploy on Mondays.", key="db.engine")
    known = card(memory, "db.engine")
    other = Draft(
        type=known.type, key="deploy.day", title="deploy day", value="deploy on Mondays",
        quotes=known.quotes, at=known.created, lang=known.lang,
    )  # fmt: skip
    text = memory.get(known.id).text.replace(known.id, "card-day").replace("db.engine", other.key)
    memory.store.apply([Create("semantic/general/day.md", text.encode())], memory.actor)
    report = forget(memory, Wanted(note=first.operations[0].target))
    assert report.counts == {"FORGET": 1, "REFINE": 1}
    left = card(memory, "deploy.day")
    assert (left.status, left.sources, left.quotes) == (Status.CANDIDATE, (), ())


def test_an_edited_page_does_not_go_on_showing_it(paged: Memory) -> None:
    write(paged, page(paged).replace("Bergen", "Trondheim"))
    forget(paged, Wanted(key="health.dentist"))
    assert "Abernathy" not in page(paged)
    assert "Trondheim" in page(paged)


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(),
        Wanted(note="a", key="b"),
        Wanted(query="a b c d", since=datetime(2026, 1, 1, tzinfo=UTC)),
    ],
)
def test_exactly_one_thing_is_forgotten_at_a_time(memory: Memory, wanted: Wanted) -> None:
    with pytest.raises(UsageError, match="Say what to forget"):
        forget(memory, wanted)


@pytest.mark.parametrize("query", ["the", "好的", "..."])
def test_words_that_stand_everywhere_are_refused(memory: Memory, query: str) -> None:
    with pytest.raises(UsageError, match="too short"):
        forget(memory, Wanted(query=query))


@pytest.mark.parametrize("text", ["azure-falcon 7391", "密码白鹭三七九"])
def test_a_purge_that_leaves_the_text_anywhere_says_where(memory: Memory, text: str) -> None:
    memory.remember(f"The vault code is {text}.", key="vault.code")
    saved = memory.root / "notes.md"

    def save(frame: FrameType, event: str, _: object) -> None:
        """Save an open file once more, as an editor does, when all was cleared."""
        if event == "call" and frame.f_code.co_name == "_verify_purged":
            saved.write_text(f"{text}\n", encoding="utf-8")

    sys.setprofile(save)
    try:
        with pytest.raises(StoreError, match=r"1 place has it still: notes\.md"):
            purge(memory, Doomed(texts=(text,)), yes=True)
    finally:
        sys.setprofile(None)
    assert purge(memory, Doomed(texts=(text,)), yes=True).done
    files = (path for path in memory.root.rglob("*") if path.is_file())
    assert not any(text.encode() in file.read_bytes() for file in files)
