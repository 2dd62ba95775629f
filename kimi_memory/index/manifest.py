"""The manifest of an index generation: what its files must be, signed by this machine.

Whoosh reads pickles and usearch maps raw graphs: a file that is not byte for byte
what this machine wrote could run code, crash, or answer wrongly. So nothing of a
generation is opened before its manifest's signature and every file's hash hold.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from kimi_memory.errors import IndexDamagedError
from kimi_memory.index.checked import NAME as CHECKED
from kimi_memory.index.checked import Checked

# Raised with every change of what is stored; an older index is built anew, as the files have it
# all.
SCHEMA = 6
NAME = "manifest.json"

Files = Mapping[str, tuple[int, str]]
"""Size and SHA-256 by name relative to a generation's folder."""


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
