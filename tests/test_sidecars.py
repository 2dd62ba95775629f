"""Files under ``.kimi/`` that are damaged or a stranger's: no command fails, no truth changes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.agent_hooks.respond import Reply
from kimi_memory.api.options import Home
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.hooks.host import Host
from kimi_memory.operations.doctor import doctor
from kimi_memory.operations.forget import forget

NOW = datetime(2026, 2, 27, 9, 0, tzinfo=UTC)
HOST = Host(entry_points=False)
EVIL = b"evil words of a stranger"


def opening(base: Path, name: str) -> Opening:
    home = Home(base / name / "config", base / name / "state")
    return Opening(home=home, clock=lambda: NOW, host=HOST, background=False)


def live(memory: Memory) -> None:
    talk = memory.session("s")
    talk.turn("user", "We decided to use PostgreSQL because it is free.")
    talk.end()
    memory.remember("The boat leaves at nine.", key="boat.time")
    first = memory.remember("The train leaves at ten.", key="train.time")
    memory.consolidate("daily")
    memory.index.refresh()
    memory.store.reconcile()
    memory.undo(forget(memory, Wanted(note=first.operations[0].target)).id)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with the private folders of its owner and of a stranger."""
    made = tmp_path_factory.mktemp("sidecars")
    for name in ("owner", "stranger"):
        with Memory.create(made / name / "memory", opening=opening(made, name)) as memory:
            live(memory)
    return made


def spool(tmp: str) -> bytes:
    payload = {"transcript_path": f"{tmp}/memory/evil.jsonl", "session_id": "evil", "cwd": "/"}
    return json.dumps({"host": "claude", "moment": "end", "payload": payload, "id": "1"}).encode()


def cache() -> bytes:
    body = json.dumps([2, "0" * 40, [["semantic/evil.md", "100644", "1" * 40, 1, 2, 3, 4]]])
    return hashlib.sha256(body.encode()).hexdigest().encode() + b"\n" + body.encode()


STEP = {"kind": "create", "path": "semantic/evil.md", "after": "0" * 64}
INTENT = {"id": "01a", "actor": ["li", "human", "", ""], "steps": [STEP]}
FORGED: dict[str, bytes] = {
    "owner": b'{"host":"x","dev":1,"ino":1,"path":"/","seal":"00"}',
    "copy": b'{"copy":"../../evil","host":"x","dev":1,"ino":1,"path":"/"}',
    "snapshot.json": b'{"MEMORY.md":[1,2,3,"%b"]}' % (b"0" * 64),
    "pending": b"99999999999999999999999999",
    "pending-flush": b"1",
    "git-cache": cache(),
    "git-owed": b'[["--output=evil","--output=evil"],[1,2],"x"]',
    "git-index": EVIL,
    "breaker/daily.json": b'{"kind":"daily","count":99,"at":"9999-12-31T00:00:00","why":"evil"}',
    "breaker/weekly.json": b'{"count":99,"at":"2026-02-27T09:00:00+00:00","why":"evil"}',
    "spool/00000000000000000001-1.json": b"",
    "spool/1-1.json": b'{"payload":{},"host":1}',
    "cache/catalog": b"0" * 64 + b"\n[4,[]]",
    "cache/embeddings/evil.vec": b"kimi-memory-vectors-1\n" + EVIL,
    "index/CURRENT": b"../../../evil",
    "index/CHECKED": b"0" * 64 + b"\n[]",
    "journal/2026-02-27.jsonl": b'{"seq":1,"op":"edited","path":"MEMORY.md","after":""}\n',
    "journal/9999-12-31.jsonl": b'{"seq":9,"op":"created","path":"semantic/evil.md","after":"1"}\n',
    "locks/store.lock": b'{"pid":1,"since":"never","op":[]}',
    "locks/job.lock": b"[]",
    "tmp/a.swap": EVIL,
    "tmp/01a.1-1-1.0000000000000000-1111111111111111.swap": EVIL,
    "tmp/01a.1-1-1.0000000000000000-1111111111111111-2222222222222222.swap": EVIL,
    "tmp/01a.1-1-1.part": EVIL,
    "txn/01a.1-1-1.commit/manifest.json": json.dumps(INTENT).encode() + b"\n" + b"0" * 64,
    "txn/01a.1-1-1.done/0": EVIL,
    "txn/01a.1-1-1.tmp": EVIL,
    "txn/01b.1-1-1.tmp/folder/0": EVIL,
    "txn/01c.1-1-1.commit": EVIL,
    "undo/gone.01a.0000.evil.md": EVIL,
    "undo/strange": EVIL,
    "server.sock": EVIL,
    "lost+found/evil.md": EVIL,
    ".gitignore": b"!*\n",
}
ROTTEN = (b"", b"\xff\xfe\x00\x01" * 9, b'{"a":[null]}', b"[[")
OURS = [name for name in FORGED if not name.startswith(("undo/", "server", ".git", "lost"))]


def truth(root: Path) -> dict[str, bytes]:
    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    named = {path.relative_to(root).as_posix(): path for path in files}
    return {n: p.read_bytes() for n, p in named.items() if not n.startswith((".kimi", ".git/"))}


def use(root: Path, mine: Opening) -> None:
    """Do what an owner does; nothing of it may fail."""
    before = truth(root)
    with Memory.open(root, mine) as memory:
        assert memory.recall("boat").hits
        assert memory.context("start").text
        memory.store.reconcile()
        memory.store.drop_undo(0, 0)
        Reply(memory).drain()
        doctor(memory)
        session = memory.session("new")
        assert session.turn("user", "And on we go.") is not None
        memory.consolidate("daily", NOW.date())
        memory.batch.flush()
    after = truth(root)
    grows = ("short-term/", "mid-term/", "episodic/", "MEMORY.md")
    assert {n: c for n, c in after.items() if not n.startswith(grows)} == {
        n: c for n, c in before.items() if not n.startswith(grows)
    }
    assert not [n for n, c in after.items() if b"evil" in c or "evil" in n]


@pytest.fixture
def root(tmp_path: Path, base: Path) -> Iterator[Path]:
    shutil.copytree(base / "owner/memory", tmp_path / "memory", symlinks=True)
    yield tmp_path / "memory"
    shutil.rmtree(tmp_path / "memory")


def put(root: Path, name: str, content: bytes) -> None:
    place = root / ".kimi" / name
    for above in reversed(place.relative_to(root).parents):
        if (root / above).is_file():
            (root / above).unlink()
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        shutil.rmtree(place)
    place.write_bytes(content or spool(str(root.parent)))


def of_a_stranger(root: Path, base: Path) -> None:
    shutil.rmtree(root / ".kimi")
    shutil.copytree(base / "stranger/memory/.kimi", root / ".kimi", symlinks=True)


@pytest.mark.parametrize("name", [*FORGED, "read-only"])
def test_what_a_stranger_forged_counts_for_nothing(root: Path, base: Path, name: str) -> None:
    of_a_stranger(root, base)
    put(root, name, FORGED.get(name, b"you may not write"))
    use(root, opening(base, "owner"))
    assert (root / ".kimi/owner").is_file()


@pytest.mark.parametrize("whose", ["stranger", "own"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
@pytest.mark.parametrize(
    "name",
    [
        *("owner", "journal", "locks", "tmp", "txn", "undo", "index", "pending", "spool"),
        *("lost+found", "read-only"),
    ],
)
def test_what_is_no_file_or_folder_counts_for_nothing(
    root: Path, base: Path, name: str, kind: str, whose: str
) -> None:
    if whose == "stranger":
        of_a_stranger(root, base)
    place = root / ".kimi" / name
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    makers = {
        "link": lambda: place.symlink_to(root.parent),
        "pipe": lambda: os.mkfifo(place),
        "folder": lambda: (place / "x").mkdir(parents=True),
    }
    makers[kind]()
    use(root, opening(base, "owner"))


@pytest.mark.parametrize("name", OURS)
def test_what_was_forged_in_our_own_does_no_harm(root: Path, base: Path, name: str) -> None:
    with Memory.open(root, opening(base, "owner")):
        pass
    put(root, name, FORGED[name] or b"{}")
    use(root, opening(base, "owner"))


@pytest.mark.parametrize("number", range(len(ROTTEN)))
def test_what_rotted_in_our_own_does_no_harm(root: Path, base: Path, number: int) -> None:
    with Memory.open(root, opening(base, "owner")):
        pass
    for name in OURS:
        if not name.startswith("journal/"):
            place = root / ".kimi" / name
            if place.parent.is_dir() and not place.is_dir():
                place.write_bytes(ROTTEN[number])
    use(root, opening(base, "owner"))
