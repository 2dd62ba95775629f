"""The manifest of an index generation: what its files must be, signed by this machine.

Whoosh reads pickles and usearch maps raw graphs: a file that is not byte for byte
what this machine wrote could run code, crash, or answer wrongly. So nothing of a
generation is opened before its manifest's signature and every file's hash hold.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from kimi_memory.errors import IndexDamagedError
from kimi_memory.store.files.disk import UNKNOWN, Stat, settled_stat, signature

CHECKED = "CHECKED"
# A disk may lose bits while no file changes: once a day everything is read again.
GOOD_NS = 24 * 3600 * 1_000_000_000
# Raised with every change of what is stored; an older index is built anew, as the files have it
# all.
SCHEMA = 7
NAME = "manifest.json"

Files = Mapping[str, tuple[int, str]]
"""Size and SHA-256 by name relative to a generation's folder."""


class Checked:
    """The files of one generation that were checked, and how they looked then.

    To hash the index of 100,000 notes takes longer than to answer from it, so a process does not
    repeat what one did today, as long as neither size, change time nor inode of a file changed:
    that time cannot be set back. Signed by this machine like the manifest, and good for a day:
    what a disk forgets without being written is found then.

    Args:
        path: where it is written down.
        key: the machine's own secret.
        folder: name of the generation.
    """

    def __init__(self, path: Path, key: bytes, folder: str) -> None:
        self._path, self._key, self._folder = path, key, folder
        self._now = time.time_ns()
        self._at = self._now
        self._held = self._load_checks()
        self._news = False

    def holds(self, name: str, found: os.stat_result, digest: str) -> bool:
        """Whether a file that looks like this was found to have a digest."""
        return self._held.get(name) == (signature(found), digest)

    def note(self, name: str, found: os.stat_result, digest: str) -> None:
        """Remember that a file that looked like this had a digest afterwards."""
        # A file that changed a moment ago may change again within the same tick of the clock.
        look = settled_stat(signature(found), self._now)
        if look != UNKNOWN:
            self._held[name], self._news = (look, digest), True

    def save(self) -> None:
        """Write down what was found now; where that fails, it is found again."""
        if not self._news:
            return
        rows = [(name, *look, digest) for name, (look, digest) in self._held.items()]
        body = json.dumps([self._folder, self._at, rows], separators=(",", ":")).encode()
        beside = self._path.with_name(f"{CHECKED}.{secrets.token_hex(4)}")
        # Nothing is lost: the next process checks once more.
        with suppress(OSError):
            beside.write_bytes(self._compute_mac(body) + b"\n" + body)
            # Whole or not at all: another process may read it just now.
            beside.replace(self._path)
            return
        # It may never have been written.
        with suppress(OSError):
            beside.unlink()

    def _load_checks(self) -> dict[str, tuple[Stat, str]]:
        try:
            mac, _, body = self._path.read_bytes().partition(b"\n")
        except OSError:
            # Nothing was checked here yet.
            return {}
        if not hmac.compare_digest(mac, self._compute_mac(body)):
            return {}
        folder, at, rows = json.loads(body)
        # Not from the future either: a clock that was set back would trust it for years.
        if folder != self._folder or not 0 <= self._now - at < GOOD_NS:
            return {}
        self._at = at
        return {name: ((size, at, inode), digest) for name, size, at, inode, digest in rows}

    def _compute_mac(self, body: bytes) -> bytes:
        # With a name in front, so that no other text signed with this key can stand here.
        return _compute_mac(b"checked 2\n" + body, self._key)


class Manifest(NamedTuple):
    """What a generation was made of."""

    words: str
    """Fingerprint of the words plugin."""
    keywords: str
    """Name of the keyword engine."""
    vectors: str = ""
    """Name of the vector engine, empty without one."""
    model: str = ""
    """The embedding model, empty without one."""
    dimensions: int = 0
    embedded: int = 0
    """Rows of smaller keys have a vector."""
    partial: bool = False
    """Whether more of the same build was to come; such a generation is never current."""
    scratch: bool = False
    """Whether it was built from nothing."""
    schema: int = SCHEMA
    files: Files = MappingProxyType({})
    """Every file of the generation but this one."""


def measure(folder: Path, old: Path | None = None, known: Files | None = None) -> Files:
    """Return size and hash of every file below a folder but its manifest.

    A file that is the very one of `old` (a link to it) has the hash `known` for it.
    """
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != NAME:
            name = path.relative_to(folder).as_posix()
            before = (known or {}).get(name)
            linked = old is not None and before is not None and _is_same_file(path, old / name)
            found[name] = before if linked and before else (path.stat().st_size, _hash_file(path))
    return found


def _is_same_file(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        # One of the two is gone, so they are not the same.
        return False


def sign(manifest: Manifest, key: bytes) -> bytes:
    """Return the bytes of a manifest file: one line of JSON, one line of signature."""
    told = manifest._asdict() | {"files": dict(manifest.files)}
    body = json.dumps(told, sort_keys=True, separators=(",", ":")).encode()
    return body + b"\n" + _compute_mac(body, key) + b"\n"


def check(folder: Path, key: bytes) -> Manifest:
    """Return the manifest of a folder after checking every byte it vouches for.

    A file that was checked today and looks as it did then is not read again.

    Raises:
        IndexDamagedError: signature, schema, a size or a hash is not right.
    """
    manifest = _read_manifest(folder, key)
    present = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    extra = present - set(manifest.files) - {NAME}
    if extra:
        # An engine opens whatever lies in its folder, a pickle put there as well.
        raise IndexDamagedError(f"{folder.name} holds files we did not write: {sorted(extra)[:3]}.")
    checked = Checked(folder.parent / CHECKED, key, folder.name)
    for name, (size, digest) in manifest.files.items():
        path = folder / name
        # A link could be swapped for another file between this look and the engine's.
        if path.is_symlink() or not path.is_file():
            raise IndexDamagedError(f"{folder.name} lacks {name}.")
        look = path.stat()
        if checked.holds(name, look, digest):
            continue
        if look.st_size != size or _hash_file(path) != digest:
            raise IndexDamagedError(f"{name} of {folder.name} is not what we wrote.")
        checked.note(name, look, digest)
    checked.save()
    return manifest


def _read_manifest(folder: Path, key: bytes) -> Manifest:
    try:
        content = (folder / NAME).read_bytes()
    except OSError as error:
        raise IndexDamagedError(f"{folder.name} has no readable manifest: {error}.") from error
    body, _, mac = content.partition(b"\n")
    # Before the JSON is read: nothing unsigned reaches a parser.
    if not hmac.compare_digest(mac, _compute_mac(body, key) + b"\n"):
        raise IndexDamagedError(f"The manifest of {folder.name} was not signed here.")
    values = json.loads(body)
    if values.get("schema") != SCHEMA:
        raise IndexDamagedError(f"{folder.name} is of schema {values.get('schema')}, not {SCHEMA}.")
    files = {name: (size, digest) for name, (size, digest) in values.pop("files").items()}
    return Manifest(**values, files=files)


def _compute_mac(body: bytes, key: bytes) -> bytes:
    return hmac.new(key, body, hashlib.sha256).hexdigest().encode()


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
