"""What is left of a purged value, looked for as a thief of the folder would."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest
from kimi_memory.plugins.compaction.compact_chat import compact

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.capture.ingest import from_bytes
from kimi_memory.domain.compaction import Limits
from kimi_memory.domain.health import Severity
from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.job import Append, Create
from kimi_memory.domain.note import HAND, Lang, Role, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.pages import Proposal
from kimi_memory.domain.tombstone import PURGED, Tombstone, hash_of, hashes_in
from kimi_memory.formats import codec
from kimi_memory.formats.jsonl import seal, tombstone_line, unseal
from kimi_memory.formats.page_lines import is_generated, sign_of
from kimi_memory.frameworks.talk import unnamed
from kimi_memory.hooks.host import Host
from kimi_memory.jobs.rekeying import rekey
from kimi_memory.nlp.basic.patterns import bare, normalise
from kimi_memory.operations.doctor import verify
from kimi_memory.operations.forget import Doomed, forget, purge
from kimi_memory.proxy.chat import _link_digest
from kimi_memory.proxy.conversation import Asker, candidates
from kimi_memory.server.principal import Caller
from kimi_memory.store.notes.sessions import places, read
from tests.jobs.test_purge import every_byte, traces

CODE = "472913"
SAID = (f"The locker in Oslo is number {CODE}.", f"奥斯陆的储物柜是 {CODE} 号。")
WORDS = ("Where do I put it?", f"Into cabinet {CODE}.", "Thank you very much.")
_, PROXY = islice(candidates(Asker(caller=Caller("me")), WORDS[1]), 2)
NOW = datetime(2026, 2, 27, 9, 0, tzinfo=UTC)
_HEX = re.compile(rb"(?<![0-9a-f])[0-9a-f]{8,128}(?![0-9a-f])")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{12,}={0,2}")
_KINDS = ("sha256", "sha1", "md5", "sha512", "blake2b", "sha3_256")


@pytest.fixture
def opening(tmp_path: Path) -> Opening:
    home = Home(tmp_path / "config", tmp_path / "state")
    host = Host(entry_points=False)
    return Opening(home=home, clock=lambda: NOW, host=host, background=False)


@pytest.fixture
def memory(tmp_path: Path, opening: Opening) -> Iterator[Memory]:
    with Memory.create(tmp_path / "memory", opening=opening) as made:
        talk = made.session("s")
        talk.turn("user", f"We decided to use cabinet {CODE} because it is near.")
        talk.turn("user", f"Let us ship on Fridays. {SAID[0]}")
        talk.turn("user", f"我们决定用 {CODE} 号储物柜，因为近。{SAID[1]}")
        talk.end()
        made.distil("s")
        made.remember(SAID[0], key="locker.number")
        made.remember("The boat leaves at nine.", key="boat.time")
        made.consolidate("daily")
        made.recall(CODE)
        yield made


def ask_after(memory: Memory, text: str) -> None:
    """Ask in every way whether a text is gone."""
    memory.recall(text)
    memory.context("task", f"what is {text}?")
    memory.context("live", text)
    forget(memory, Wanted(query=f"locker {text}"), dry_run=True)
    forget(memory, Wanted(query=f"locker {text}"))
    purge(memory, Doomed((text,)))


def marks(root: Path) -> set[str]:
    """Return all that may be a hash in the bytes of a folder, as lower-case hex digits."""
    found: set[str] = set()
    for _, content in every_byte(root):
        found |= {one.decode() for one in _HEX.findall(content)}
        for one in _BASE64.findall(content):
            whole = one.rstrip(b"=")[: len(one.rstrip(b"=")) // 4 * 4]
            found.add(base64.b64decode(whole, altchars=b"-_").hex())
    return found


def hashes(text: str) -> Iterator[str]:
    for kind in _KINDS:
        for said in (text, normalise(text), bare(text), normalise(text).upper(), f"{text}\n"):
            yield hashlib.new(kind, said.encode()).hexdigest()
            yield hashlib.new(kind, hash_of(said).encode()).hexdigest()


def rebuilt(root: Path) -> Iterator[str]:
    """Yield the hashes of files and lines as they were, with the value put back."""
    for _, content in every_byte(root):
        if PURGED.encode() in content:
            whole = content.replace(PURGED.encode(), CODE.encode())
            parts = zip(content.splitlines(True), whole.splitlines(True), strict=False)
            for part in (whole, *(new for old, new in parts if old != new)):
                yield hashlib.sha256(part).hexdigest()
                yield hashlib.sha256(part.rstrip(b"\n")).hexdigest()
                try:
                    yield str(unseal(seal(unseal(part)))["sum"])
                except (ValueError, KeyError):
                    continue


def matches(found: set[str], hashed: Iterator[str]) -> list[str]:
    """Return the hashes of which one that was found is the beginning."""
    sizes = {len(one) for one in found if len(one) >= 8}
    return [one for one in hashed if any(one[:size] in found for size in sizes)]


def guessed(root: Path) -> list[str]:
    """Return the codes of six digits whose plain hash stands in a folder, whole or in short."""
    shorts = {one[:12] for one in marks(root) if len(one) >= 12}
    codes = (f"{n:06}" for n in range(10**6))
    return [code for code in codes if hashlib.sha256(code.encode()).hexdigest()[:12] in shorts]


def test_no_hash_of_a_purged_code_is_left(memory: Memory) -> None:
    forget(memory, Wanted(query=f"Oslo is number {CODE}", hashed=True))
    assert guessed(memory.root) == []
    report = purge(memory, Doomed((CODE,)), yes=True)
    assert report.done
    ask_after(memory, CODE)
    assert traces(memory.root, CODE) == []
    found = marks(memory.root)
    assert guessed(memory.root) == []
    said = (CODE, *SAID, SAID[0].rstrip("."), f"locker.number: {SAID[0]}")
    for text in said:
        assert matches(found, hashes(text)) == [], text
    assert matches(found, rebuilt(memory.root)) == []
    # It is known all the same, and the rest lives on.
    assert not memory.remember(SAID[0]).operations
    assert memory.recall("boat leaves").hits


def older(memory: Memory) -> None:
    """Leave what a version without keyed hashes left: a tombstone, a receipt, a question."""
    plain = hash_of(normalise(CODE))
    stone = Tombstone("memory", "", plain, NOW, "me", "purged", hashed=True)
    hashed = hashlib.sha256(f"purge\0{plain}".encode()).hexdigest()
    head = '{"path":".git","before":"' + "a" * 40 + '","after":""}'
    receipt = (
        f'{{"id":"purge-{hashed[:12]}","kind":"purge","at":"2026-02-27T09:00:00Z",'
        f'"inputs":"{hashed}","subject":"1 text","model":"rules","prompt":"","operations":[],'
        f'"effects":[{{"path":"a.md","before":"{plain}","after":""}},{head}],"hashes":["{plain}"]}}'
    )
    question = seal({"at": "2026-02-27T09:00:00+00:00", "query": f"is {CODE} gone?", "hits": []})
    changes = [
        Append("mid-term/tombstones.jsonl", (tombstone_line(stone),)),
        Append("short-term/recalls.jsonl", (question, b"torn\n")),
        Create(f"mid-term/jobs/purge-{hashed[:12]}.json", receipt.encode()),
    ]
    memory.store.apply(changes, memory.actor)


@pytest.fixture
def empty(tmp_path: Path, opening: Opening) -> Iterator[Memory]:
    with Memory.create(tmp_path / "empty", opening=opening) as made:
        yield made


def truth(memory: Memory) -> set[str]:
    files = [memory.root / path for path in memory.store.files()]
    found = {one for path in files for one in _HEX.findall(path.name.encode())}
    return {one.decode() for one in found.union(*(_HEX.findall(f.read_bytes()) for f in files))}


def test_what_an_older_version_left_is_made_anew_by_the_daily_job(empty: Memory) -> None:
    older(empty)
    plain = hash_of(CODE)
    assert plain in truth(empty) and len(matches(truth(empty), iter([plain]))) == 1
    empty.consolidate("daily")
    found = truth(empty)
    guesses = [plain, hashlib.sha256(f"purge\0{plain}".encode()).hexdigest()]
    assert matches(found, iter(guesses)) == []
    assert not [p for p in empty.store.files() if CODE.encode() in empty.store.read(p)]
    jobs = [path for path in empty.store.files("mid-term/jobs") if "purge-" in path]
    record = unseal(empty.store.read(jobs[0]))
    assert jobs == [f"mid-term/jobs/{record['id']}.json"]
    assert [effect["before"] for effect in record["effects"]] == ["", "a" * 40]
    # It bars as before, and once is enough.
    assert not empty.remember(CODE).operations
    assert not rekey(empty.store)


def test_purging_it_again_cleans_what_an_older_version_committed(empty: Memory) -> None:
    older(empty)
    empty.history.commit("as it was")
    plain = hash_of(CODE)
    assert plain in marks(empty.root)
    assert purge(empty, Doomed((CODE,)), yes=True).done
    assert traces(empty.root, CODE) == []
    assert matches(marks(empty.root), iter([plain])) == []
    assert not empty.remember(CODE).operations


def test_a_damaged_record_is_left_to_whoever_reads_it(empty: Memory) -> None:
    path, other = "mid-term/jobs/purge-000000000000.json", "mid-term/tombstones.jsonl"
    torn = seal({"kind": "tombstone", "hashed": True})
    files = [Create(path, b"no record"), Create(other, torn)]
    empty.store.apply([*files, Create("mid-term/jobs/purge-1.json", b"{}")], empty.actor)
    assert not rekey(empty.store)
    assert empty.store.read(other) == torn


def test_a_purge_holds_in_a_copy_that_has_another_key(
    memory: Memory, tmp_path: Path, opening: Opening
) -> None:
    before = tmp_path / "before"
    subprocess.run(["git", "clone", "-q", memory.root, before], check=True)
    purge(memory, Doomed((CODE,)), yes=True)
    stones = memory.store.read("mid-term/tombstones.jsonl")
    other = Opening(
        home=Home(tmp_path / "c2", tmp_path / "s2"), clock=lambda: NOW, host=opening.host,
        background=False,
    )  # fmt: skip
    with Memory.create(before, opening=other) as copy:
        assert [hit for hit in copy.recall(f"locker {CODE}").hits if CODE in hit.unit.text]
        copy.store.apply([Create("mid-term/tombstones.jsonl", stones)], copy.actor)
        shown = copy.recall(f"locker {CODE}", limit=50).hits
        held = [hit.unit for hit in shown if CODE in hit.unit.text]
        assert [unit.path for unit in held if unit.kind in ("card", "turn", "event")] == []
        copy.consolidate("daily")
        live = [c for c in copy.store.files("semantic") if CODE in copy.store.read(c).decode()]
        assert all("status: archived" in copy.store.read(path).decode() for path in live), live
        copy.distil("s")
        held = [hit.unit for hit in copy.recall(f"locker {CODE}", limit=50).hits]
        kinds = {unit.kind for unit in held if CODE in unit.text}
        assert kinds.isdisjoint({"card", "turn", "event"}), "pages of its days wait for its purge"
        assert copy.recall("boat leaves").hits


# Ids and digests that were made of the value together with what a thief knows


def live_on(memory: Memory) -> set[str]:
    """Let the value go into ids, refs and inputs of jobs; return the ids of some jobs."""
    proposal = Proposal(
        id=derived_id("proposal", NOW, "MEMORY.md", "semantic", "new", SAID[0]),
        created=NOW, updated=NOW, status=Status.CANDIDATE, lang=Lang.EN,
        title="locker", target="semantic", section="new", text=SAID[0],
    )  # fmt: skip
    memory.store.apply(
        [Create(codec.place(proposal), codec.render(proposal).encode())], memory.actor
    )
    for id in ("framework", PROXY):
        session, before = memory.session(id), ""
        for text in WORDS:
            before = _link_digest(before, "user", text)
            session.turn("user", text, ref=unnamed(Role.USER, text).ref)
            session.turn("assistant", f"So be it: {text}", ref=before)
        session.end()
    memory.flush([{"role": "user", "content": SAID[0]}])
    memory.end(next(one.id for one in places(memory.store) if one.id.startswith("chat-")))
    nameless = json.dumps([{"role": "user", "content": SAID[0]}])
    list(memory.ingest([from_bytes("nameless.json", nameless.encode())]))
    chat = [
        {"role": ("user", "assistant")[n % 2], "content": f"Tell me {n} of boats. " * 30}
        for n in range(60)
    ]
    chat[20]["content"] += SAID[0]
    compact(memory, chat, Limits(3000))
    jobs = [forget(memory, Wanted(query=f"Oslo is number {CODE}"))]
    memory.batch.flush()
    memory.undo(jobs[0].id)
    memory.remember("The boat leaves at nine sharp.", key="boat.time.exact")
    jobs += memory.consolidate("introspect")
    memory.batch.flush()
    with (memory.root / "MEMORY.md").open("a", encoding="utf-8") as page:
        page.write(f"\n- boat.locker: locker {CODE} is under the boat\n")
    memory.history.commit("A page as somebody edited it")
    memory.take_edits()
    assert all(job.id for job in jobs), jobs
    return {job.id.rpartition("-")[2] for job in jobs}


def made_of_first_words(memory: Memory, kind: str) -> set[str]:
    """Return what stands in the ids of sessions of a kind that begin with the value."""
    held = [one for one in places(memory.store) if one.id.startswith(kind)]
    begun = [one for one in held if CODE in read(memory.store, one.path).turns[0].text]
    return {one.id.removeprefix(kind) for one in begun}


def made_of_words(memory: Memory) -> dict[str, set[str]]:
    """Return what follows from the value and from words that stay, by what it is of."""
    found: dict[str, set[str]] = defaultdict(set)
    found["proxy"] = {PROXY.split("-")[1]}
    found["chat"] = made_of_first_words(memory, "chat-")
    found["nameless"] = made_of_first_words(memory, "nameless-")
    for path in memory.store.files():
        content = memory.store.read(path)
        if path.startswith("mid-term/jobs/"):
            record = unseal(content)
            if record["kind"] == "compact" or "locker" in str(record["operations"]):
                found[str(record["kind"])].add(str(record["inputs"])[:12])
        if path.startswith("review/"):
            found["proposal"].add(path[-19:-3])
        if b"compaction" in content and path.endswith(".md"):
            found["summary"].add(re.search(rb"id: event-(\S+)", content)[1].decode()[10:])
        if path.endswith(".jsonl"):
            records = [unseal(line) for line in content.splitlines()]
            refs = [str(record.get("ref", "")) for record in records]
            if any(CODE in str(record.get("text", "")) for record in records):
                found["refs"] |= {digits for ref in refs for digits in hashes_in(ref)}
    edited = memory.history.content("HEAD~1", "MEMORY.md").decode()
    found["page"] = {sign_of(edited)}
    assert CODE in edited and not is_generated(edited)
    return found


def test_no_id_is_left_that_a_guess_confirms(memory: Memory) -> None:
    jobs = live_on(memory)
    made = made_of_words(memory) | {"jobs": jobs}
    kinds = {"proxy", "remember", "compact", "proposal", "summary", "refs", "page", "jobs"}
    kinds |= {"chat", "nameless"}
    assert kinds <= {kind for kind, marks in made.items() if marks}
    assert purge(memory, Doomed((CODE,)), yes=True).done
    left = {
        (of, mark, name)
        for name, content in every_byte(memory.root)
        for of, marks in made.items()
        for mark in marks
        if mark.encode() in content
    }
    assert left == set()
    assert not [one for one in verify(memory) if one.severity is Severity.ERROR]


def test_edits_of_a_page_are_not_known_by_its_words(memory: Memory, clock) -> None:
    page = memory.root / "MEMORY.md"
    jobs = []
    for _ in range(2):
        text = page.read_text(encoding="utf-8")
        page.write_text(f"{text}\n- boat.locker: locker {CODE} is under the boat\n", "utf-8")
        report = memory.take_edits()
        jobs.append(report.id)
        memory.undo(report.id)
    assert all(jobs) and jobs[0] != jobs[1], "the same words, and another job"


def test_an_edit_of_a_page_on_which_the_code_stood_is_renamed(memory: Memory) -> None:
    page = memory.root / "MEMORY.md"
    text = page.read_text(encoding="utf-8")
    assert CODE in text
    page.write_text(f"{text}\n- boat.name: the boat is called Fram\n", "utf-8")
    assert memory.take_edits().id
    (before,) = (one.id for one in places(memory.store) if one.id.startswith(HAND))
    assert purge(memory, Doomed((CODE,)), yes=True).done
    (after,) = (one.id for one in places(memory.store) if one.id.startswith(HAND))
    assert before != after
    assert not [name for name, content in every_byte(memory.root) if before.encode() in content]
    (hit,) = memory.recall("What is the boat called?", limit=1).hits
    assert "Fram" in hit.unit.text
    proofs = [one for one in memory.trace(hit.unit.id).evidence if one.source.session == after]
    assert proofs and all(one.verified for one in proofs)
    assert not [one for one in verify(memory) if one.severity is Severity.ERROR]


def test_what_was_purged_is_not_taken_in_again(memory: Memory) -> None:
    told = [{"role": "user", "content": text} for text in WORDS]
    chats = [{"id": "told", "messages": told}, told]
    files = [from_bytes("chat.json", json.dumps(chat).encode()) for chat in chats]
    assert sum(one.stored for one in memory.ingest(files)) == 2 * len(WORDS)
    session = memory.session("framework")
    refs = [unnamed(Role.USER, text).ref for text in WORDS]
    for text, ref in zip(WORDS, refs, strict=True):
        session.turn("user", text, ref=ref)
    assert purge(memory, Doomed((CODE,)), yes=True).done
    assert sum(one.stored for one in memory.ingest(files)) == 0
    again = memory.session("framework")
    for text, ref in zip(WORDS, refs, strict=True):
        assert again.turn("user", text, ref=ref) is None
    assert traces(memory.root, CODE) == []
