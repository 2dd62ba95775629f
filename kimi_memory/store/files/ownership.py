"""Ownership: what lies under ``.kimi/`` counts only where this machine wrote it for this folder.

Several users or programs of one machine may have a memory open, each with a key of their own.
So a mark counts when its seal is ours, or when it names this very folder, down to the inode
that nobody elsewhere could foresee.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import platform
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from errno import EACCES, EPERM, EROFS
from pathlib import Path
from stat import S_IFDIR, S_IFMT, S_IFREG, S_ISREG

from kimi_memory.formats.jsonl import encode
from kimi_memory.store.files.disk import refusal
from kimi_memory.store.files.paths import PRIVATE

FILE = "owner"
COPY = "copy"
FROM = "from"
"""In the mark: the id of the copy that the folder was copied from, where it came with it."""
_SEALED = frozenset(
    {"journal", "txn", "tmp", "cache", "snapshot.json", "locks", "lost+found", "read-only"}
)
"""What is sealed piece by piece, or can do no harm; it stays where a person moved the folder."""
_DERIVED = ("index", "cache")
_FORMS = dict.fromkeys(
    ("journal", "txn", "tmp", "undo", "locks", "lost+found", "spool"), S_IFDIR
) | dict.fromkeys(("pending", "pending-flush", "read-only"), S_IFREG)
"""Whether each of these names, which every command reads, is a folder or a file."""
_REFUSED = frozenset({EROFS, EACCES, EPERM})
# The last record is wanted, and nobody knows how long a stranger's file is.
_LONGEST = 1 << 16


def claim(root: Path, key: bytes) -> None:
    """Mark the private folder of a memory as ours; one from elsewhere is set aside first.

    Its files go to ``.kimi/lost+found``, where nothing reads them. Of a folder that its owner
    moved or copied stays what is sealed.

    Raises:
        DiskError: the system refused, though the folder can be written.
    """
    try:
        if _names_to_keep(root, key) is None:
            return
        with _lock_memory_folder(root) as is_idle:
            # Asked again under the lock: another process may have claimed it meanwhile.
            stays = _names_to_keep(root, key) if is_idle else None
            if stays is not None:
                # A stranger's word counts for nothing, and all that bears it is set aside.
                origin = _find_origin(root) if stays == _SEALED else ""
                _set_aside(root, stays)
                _write_owner_mark(root, key, origin)
    except OSError as error:
        # A memory on a read-only disk can still be read.
        if error.errno not in _REFUSED:
            raise refusal(str(root), error) from error


def place_of(root: Path) -> dict[str, str | int]:
    """Return what tells a folder from a copy of it."""
    seen = root.stat()
    host = hashlib.sha256(_machine_id().encode()).hexdigest()[:12]
    return {"host": host, "dev": seen.st_dev, "ino": seen.st_ino, "path": str(root)}


def is_here(marks: Mapping[str, object], root: Path) -> bool:
    """Whether marks are those of this folder; it may have been renamed, or mounted anew."""
    here = place_of(root)
    # A rename changes the path, a new mount the number of the device; a copy has another inode.
    steady = all(marks.get(name) == here[name] for name in ("host", "ino"))
    return steady and any(marks.get(name) == here[name] for name in ("dev", "path"))


def origin_of(root: Path) -> str:
    """Return the id of the copy that its owner copied a folder from, as it was first opened."""
    marks = _read_marks(root, FILE) or {}
    return str(marks.get(FROM, "")) if is_here(marks, root) else ""


def _find_origin(root: Path) -> str:
    marks = _read_marks(root, COPY) or {}
    return "" if not marks or is_here(marks, root) else str(marks.get(COPY, ""))


def _machine_id() -> str:
    try:
        return Path("/etc/machine-id").read_text(encoding="ascii").strip() or platform.node()
    except (OSError, ValueError):
        # Only Linux has it; the name of the machine is the next best.
        return platform.node()


def _names_to_keep(root: Path, key: bytes) -> frozenset[str] | None:
    """Return the names to keep where the mark is missing or of another place, else None."""
    marks = _read_marks(root, FILE) or {}
    is_ours = _is_sealed(marks, key)
    # Another user of this machine sealed it with a key of their own: the place has to do as proof.
    if (is_ours and is_here(marks, root)) or place_of(root).items() <= marks.items():
        replaced = any(_is_replaced(root / PRIVATE / name) for name in _FORMS)
        return frozenset({"*"}) if replaced else None
    if is_ours:
        return _SEALED
    if not _is_signed(root, key):
        return frozenset()
    # Earlier versions left no mark.
    copy = _read_marks(root, COPY)
    return frozenset({"*"}) if copy is not None and is_here(copy, root) else _SEALED


def _is_replaced(place: Path) -> bool:
    """Whether a link or the like lies in the place of a folder or file, and stops every command."""
    try:
        return place.name in _FORMS and S_IFMT(place.lstat().st_mode) != _FORMS[place.name]
    except FileNotFoundError:
        # Nothing is there, so nothing stops a command.
        return False


def _read_marks(root: Path, name: str) -> dict[str, object] | None:
    try:
        found = json.loads(_read_tail(root / PRIVATE, name))
    except (OSError, ValueError):
        # Without marks of ours, the folder counts as one that came from somewhere else.
        return None
    return found if isinstance(found, dict) else None


def _read_tail(folder: Path, name: str) -> bytes:
    """Return the end of a plain file in a folder that is no link."""
    above = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, dir_fd=above), "rb") as file:
            found = os.fstat(file.fileno())
            if not S_ISREG(found.st_mode):
                return b""
            file.seek(max(0, found.st_size - _LONGEST))
            return file.read()
    finally:
        os.close(above)


def _compute_seal(marks: Mapping[str, object], key: bytes) -> str:
    body = json.dumps({name: marks.get(name) for name in ("host", "dev", "ino", "path")})
    return hmac.new(key, b"owner\0" + body.encode(), hashlib.sha256).hexdigest()


def _is_sealed(marks: Mapping[str, object], key: bytes) -> bool:
    return hmac.compare_digest(_compute_seal(marks, key).encode(), str(marks.get("seal")).encode())


def _is_signed(root: Path, key: bytes) -> bool:
    """Whether the last record of the journal was written with the key."""
    folder = root / PRIVATE / "journal"
    try:
        names = [one.name for one in folder.iterdir() if one.suffix == ".jsonl"]
        lines = _read_tail(folder, max(names)).splitlines() if names else []
        record = json.loads(lines[-1]) if lines else None
    except (OSError, ValueError):
        # What cannot be read was not sealed by us.
        return False
    if not isinstance(record, dict):
        return False
    body = {name: value for name, value in record.items() if name not in {"mac", "sum"}}
    mac = hmac.new(key, encode(body), hashlib.sha256).hexdigest()
    return hmac.compare_digest(mac.encode(), str(record.get("mac")).encode())


@contextmanager
def _lock_memory_folder(root: Path) -> Iterator[bool]:
    """Let no other process of ours in meanwhile; say whether none is writing just now."""
    with ExitStack() as stack:
        held = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, held)
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            lock = os.open(root / PRIVATE / "locks" / "store.lock", flags)
        except OSError:
            yield True
            return
        stack.callback(os.close, lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _set_aside(root: Path, stays: frozenset[str]) -> None:
    folder = root / PRIVATE
    aside = f"elsewhere-{secrets.token_hex(4)}"
    if folder.is_symlink() or folder.is_file():
        beside = root / f"{PRIVATE}-{aside}"
        folder.rename(beside)
        folder.mkdir()
        beside.rename(folder / "no-folder")
    folder.mkdir(exist_ok=True)
    for derived in (folder / name for name in _DERIVED if not stays):
        if derived.is_dir() and not derived.is_symlink():  # A pipe would be waited for.
            shutil.rmtree(derived, ignore_errors=True)
    gone = [one.name for one in folder.iterdir() if not _may_stay(one, stays)]
    if gone:
        (folder / aside).mkdir()
        for name in gone:
            (folder / name).rename(folder / aside / name)
        (folder / "lost+found").mkdir(exist_ok=True)
        (folder / aside).rename(folder / "lost+found" / aside)


def _may_stay(place: Path, stays: frozenset[str]) -> bool:
    if _is_replaced(place):
        return False
    if place.name == "locks" and place.is_dir() and not place.is_symlink():
        # Somebody may wait for one of them; what they say is for messages only.
        return all(S_ISREG(one.lstat().st_mode) for one in place.iterdir())
    named = place.name in stays or (bool(stays) and place.name.startswith("index"))
    return "*" in stays or named


def _write_owner_mark(root: Path, key: bytes, origin: str) -> None:
    marks = place_of(root)
    came = {FROM: origin} if origin else {}
    spare = root / PRIVATE / f"{FILE}-{secrets.token_hex(4)}"
    sealed = {**marks, **came, "seal": _compute_seal(marks, key)}
    spare.write_text(json.dumps(sealed), encoding="utf-8")
    spare.replace(root / PRIVATE / FILE)
