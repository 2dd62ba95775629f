"""Transactions that this machine did not make are not carried out."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory.domain.job import Actor, Create, Update, digest
from kimi_memory.errors import DiskError
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.store import Store

Seal = Callable[[Store, bytes], bytes]


def _none(store: Store, body: bytes) -> bytes:
    return body


def _another(store: Store, body: bytes) -> bytes:
    other = store.root.parent / "other"
    other.mkdir()
    with Store.open(other, key=b"a key of another machine") as theirs:
        return body + b"\n" + theirs.journal.sign(b"txn\0" + body)


@pytest.mark.parametrize("path", ["semantic/evil.md", "../evil.md", "/etc/evil", ".kimi/evil"])
@pytest.mark.parametrize("seal", [_none, _another])
def test_a_foreign_transaction_is_put_aside(
    folder: Path, store: Store, actor: Actor, seal: Seal, path: str
) -> None:
    staged = folder / ".kimi/txn/01a.1-1-1.commit"
    staged.mkdir(parents=True)
    (staged / "0").write_bytes(b"evil")
    step = {"kind": "create", "path": path, "after": "0" * 64}
    document = {"id": "01a", "actor": ["li", "human", "", ""], "steps": [step]}
    (staged / "manifest.json").write_bytes(seal(store, json.dumps(document).encode()))
    before = len(list(store.journal.records()))
    store.close()
    with Store.open(folder, key=b"a key of this machine") as opened:
        opened.apply([Create("semantic/a.md", b"mine\n")], actor)
        assert not list(folder.parent.rglob("evil*"))
        assert all("evil" not in str(one) for one in list(opened.journal.records())[before:])
    assert (folder / ".kimi/lost+found" / staged.name / "0").read_bytes() == b"evil"


class Rude(Disk):
    """A disk on which an editor saves into the swap, which then fails."""

    def exchange(self, old: str, old_at: int, new: str, new_at: int) -> None:
        super().exchange(old, old_at, new, new_at)
        for name, at in ((old, old_at), (new, new_at)):
            if ".swap" in name:
                fd = os.open(name, os.O_WRONLY | os.O_TRUNC, dir_fd=at)
                os.write(fd, b"an editor's words\n")
                os.close(fd)
        raise OSError(errno.EIO, "the disk failed")


def test_what_an_editor_saved_meanwhile_survives_a_failing_swap(folder: Path, actor: Actor) -> None:
    with Store.open(folder, key=b"k") as store:
        store.apply([Create("a.md", b"one\n")], actor)
    with Store.open(folder, key=b"k", disk=Rude()) as store, pytest.raises(DiskError):
        store.apply([Update("a.md", digest(b"one\n"), b"two\n")], actor)
    spared = [path.read_bytes() for path in (folder / ".kimi").rglob("*.swap*")]
    assert b"an editor's words\n" in spared


def test_what_no_store_leaves_is_put_aside_under_a_name_of_its_own(folder: Path) -> None:
    key = b"a key of this machine"
    for _ in range(2):
        with Store.open(folder, key=key):
            pass
        (folder / ".kimi/tmp/01a.1-1-1.part").mkdir()
        (folder / ".kimi/txn/01b.1-1-1.tmp/deep").mkdir(parents=True)
        (folder / ".kimi/txn/01c.1-1-1.commit").write_bytes(b"no folder")
        with Store.open(folder, key=key):
            assert list((folder / ".kimi/tmp").iterdir()) == []
            assert list((folder / ".kimi/txn").iterdir()) == []
    lost = sorted(path.name.partition("-")[0] for path in (folder / ".kimi/lost+found").iterdir())
    assert lost == ["01a.1"] * 2 + ["01b.1"] * 2 + ["01c.1"] * 2
