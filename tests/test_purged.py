"""What is left of a purged value, looked for as a thief of the folder would."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.care.forgetting import Doomed, Wanted, forget, purge
from kimi_memory.consolidation.rekeying import rekey
from kimi_memory.home import Home
from kimi_memory.host import Host
from kimi_memory.model.change import Append, Create
from kimi_memory.model.record import seal, unseal
from kimi_memory.model.records import tombstone_line
from kimi_memory.model.tombstone import PURGED, Tombstone, hash_of
from kimi_memory.text.normal import bare, normalise
from tests.consolidation.test_purge import every_byte, traces

CODE = "472913"
SAID = (f"The locker in Oslo is number {CODE}.", f"奥斯陆的储物柜是 {CODE} 号。")
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
        talk.turn("user", f"We decided to use locker {CODE} because it is near.")
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
        for form in (text, normalise(text), bare(text), normalise(text).upper(), f"{text}\n"):
            yield hashlib.new(kind, form.encode()).hexdigest()
            yield hashlib.new(kind, hash_of(form).encode()).hexdigest()


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
