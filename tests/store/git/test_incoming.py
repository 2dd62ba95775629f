"""What comes in a bundle: packs that are none, and such that unpack to more than there is room."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from pathlib import Path

import pytest

from kimi_memory.errors import HistoryError, UsageError
from kimi_memory.store.git import incoming
from kimi_memory.store.git.bundle import Manifest, read_bundle
from kimi_memory.store.git.history import History
from tests.store.git.repositories import git


def seal(path: Path, pack: bytes, compress: str = "none") -> Path:
    manifest = {"memory": "m", "head": "1" * 40, "branch": "main", "compress": compress}
    plain = b"# v2 git bundle\n" + b"1" * 40 + b" HEAD\n\n" + pack
    body = gzip.compress(plain) if compress == "gzip" else plain
    rest = json.dumps(manifest).encode() + b"\n" + body
    path.write_bytes(f"kimi_memory/bundle/1 {hashlib.sha256(rest).hexdigest()}\n".encode() + rest)
    return path


def head(kind: int, size: int) -> bytes:
    """Return the head of an object in a pack."""
    found, size = [kind << 4 | size & 15], size >> 4
    while size:
        found[-1] |= 128
        found.append(size & 127)
        size >>= 7
    return bytes(found)


def length(size: int) -> bytes:
    found = []
    while True:
        found.append(size & 127 | (128 if size >> 7 else 0))
        size >>= 7
        if not size:
            return bytes(found)


def delta_bomb() -> bytes:
    """Return a pack of 20 KB in which a delta stands for 640 MB."""
    size = 0xFFFFFF
    base = head(3, size) + zlib.compress(bytes(size), 9)
    delta = length(size) + length(40 * size) + b"\xf0\xff\xff\xff" * 40
    back = len(base)
    offset = [back & 127]
    while back := back >> 7:
        back -= 1
        offset.insert(0, 128 | back & 127)
    other = head(6, len(delta)) + bytes(offset) + zlib.compress(delta)
    pack = b"PACK" + (2).to_bytes(4, "big") + (2).to_bytes(4, "big") + base + other
    return pack + hashlib.sha1(pack, usedforsecurity=False).digest()


@pytest.mark.parametrize(
    ("pack", "compress", "why"),
    [
        pytest.param(b"PUCK" + bytes(4 << 20), "none", "signature mismatch", id="no pack"),
        pytest.param(delta_bomb(), "none", "limit", id="a delta that stands for much"),
        pytest.param(b"PACK\0\0\0\2\0\0\0\1" + bytes(9 << 20), "gzip", "", id="a bomb of gzip"),
    ],
)
def test_a_pack_that_cannot_be_unpacked_is_refused(
    pack: bytes, compress: str, why: str, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incoming, "_ROOM", 4 << 20)
    monkeypatch.setattr(incoming, "_GROWTH", 2)
    path = seal(history.root.parent / "evil.bundle", pack, compress)
    before = git(history.root, "count-objects", "-v")
    (history.root / ".kimi").mkdir(exist_ok=True)
    with pytest.raises(UsageError, match=f"evil.bundle cannot be unpacked.*{why}"):
        history.merger().take_bundle(read_bundle(path))
    assert git(history.root, "count-objects", "-v") == before
    assert not list((history.root / ".kimi").glob("incoming-*"))


def test_names_that_would_be_repositories_are_found_without_git() -> None:
    """Git refuses them first; on some systems other names mean the same."""
    for path in ("a/../b", "./a", ".git/config", "a/GIT~1/x", "a\\.git\\hooks", ".kimi/copy"):
        assert incoming.find_fault("100644", path, "1"), path
    assert not incoming.find_fault("100755", ".obsidian/app.json", "1")


def test_a_bundle_of_a_branch_that_is_not_there_leaves_no_file(
    history: History, tmp_path: Path
) -> None:
    merger = history.merger()
    place = tmp_path / "out"
    place.mkdir()
    with pytest.raises(HistoryError, match="git bundle failed"):
        merger.write_bundle(place / "x.bundle", Manifest("m", merger.ours, "none"))
    assert list(place.iterdir()) == []
    made = merger.write_bundle(place / "x.bundle", Manifest("m", merger.ours, "main"))
    assert made == read_bundle(place / "x.bundle")
