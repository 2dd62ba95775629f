"""Drop folders: bundles that something else carries from copy to copy.

Below the folder, ``<memory id>/<copy>/`` holds what one copy wrote: bundles ``<seq>-<tip>.bundle``,
each written once, and ``head.json``, which lists them. A copy writes only below its own name, so
no tool that carries files ever finds two versions of one. A bundle that is encrypted is called
``<seq>-<tip>.bundle.age``; the list tells its size and SHA-256, so whether it is whole can be seen
without the key.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, field, replace
from pathlib import Path

from kimi_memory.domain.ids import safe_session_id
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.disk import put
from kimi_memory.store.git.bundle import Bundle, Manifest, read_bundle
from kimi_memory.store.git.merge_commit import Merger

HEAD = "head.json"
# Who joins has to read all of them; beyond this, the history is dropped anew in one.
_MOST_BUNDLES = 64
_MOST_BYTES = 8 << 20
"""After so many bundles, or bytes of them, one of the whole memory replaces a copy's own."""
# It lists bundles, of which there are few; others can write into the folder, too.
_LONGEST_HEAD = 1 << 20
_COPY = re.compile(r"[a-z2-7]{8}")
_BUNDLE = re.compile(r"(\d{6,12})-([0-9a-f]{12})\.bundle(\.age)?")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Dropped:
    """One bundle of a copy."""

    file: str
    tip: str
    """The commit it ends with."""
    sha256: str
    """As its first line says; of all bytes of an encrypted one."""
    bytes: int


@dataclass(frozen=True, slots=True)
class Envelope:
    """How the bundles of a drop folder are encrypted, and read again."""

    mark: str = ""
    """Stands for the keys they are encrypted for; empty where they are plain."""
    seal: Callable[[Path, Path], object] = Path.rename
    """Writes the encrypted form of a file under another name, whole or not at all."""
    open: Callable[[Path], AbstractContextManager[Bundle]] = lambda path: nullcontext(
        read_bundle(path)
    )
    """Gives what a file holds, each byte checked."""


PLAIN = Envelope()


@dataclass(frozen=True, slots=True)
class Arrival:
    """What another copy has dropped that is not part of ours."""

    copy: str
    tip: str = ""
    """Its last commit that is here now; empty where nothing whole arrived."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Versions with a name there."""
    waiting: str = ""
    """Why something of it is not taken yet; empty where all is here."""


def write_drop(
    merger: Merger,
    folder: Path,
    manifest: Manifest,
    envelope: Envelope = PLAIN,
    was: Sequence[str] = (),
) -> Path | None:
    """Drop what is new since this copy's last bundle; return its file, None where nothing is.

    Args:
        merger: of the memory; its lock of jobs is held.
        folder: the drop folder, which is there.
        manifest: of the memory as it is, with the copy that drops; a first bundle has its base.
        envelope: how its bundles are encrypted.
        was: the ids that the copy had before a purge: what it dropped then goes.

    Raises:
        UsageError: the folder is not there, or cannot be written.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not there. Connect it, or name another folder.")
    place = _find_place(folder, manifest.memory) / manifest.copy
    try:
        place.mkdir(parents=True, exist_ok=True)
        there = {path.name: path.stat().st_size for path in place.iterdir()}
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error.strerror}. Look at it.") from error
    for earlier in was:
        _remove_bundles(place.with_name(earlier))
    before, mark = _read_head(place) or ([], "")
    # Who may read the next one reads them all, and nobody else.
    before = before if mark == envelope.mark else []
    lost = [one for one in before if there.get(one.file) != one.bytes]
    if manifest.head in (manifest.base, before[-1].tip if before and not lost else ""):
        return None
    too_many = len(before) >= _MOST_BUNDLES or sum(one.bytes for one in before) >= _MOST_BYTES
    # A purge writes history anew: what was dropped before is not part of it any more.
    if lost or too_many or not before or not merger.has(before[-1].tip):
        before = []
    known = [int(found[1]) for name in there if (found := _BUNDLE.fullmatch(name))]
    path = place / f"{max(known, default=0) + 1:06d}-{manifest.head[:12]}.bundle"
    base = before[-1].tip if before else manifest.base
    made = _write_bundle(merger, path, replace(manifest, base=base), envelope)
    listed = [*before, made]
    said = {"memory": manifest.memory, "copy": manifest.copy, "bundles": list(map(asdict, listed))}
    said |= {"for": envelope.mark} if envelope.mark else {}
    put(place / HEAD, json.dumps(said, indent=1).encode(), sync=True)
    # Only now: until then the list named them.
    _remove_bundles(place, {HEAD, *(one.file for one in listed)})
    return place / made.file


def _remove_bundles(place: Path, but: Collection[str] = ()) -> None:
    """Remove the bundles of a copy except some; remove the folder, too, once it is empty."""
    # The folder is another program's to sync, and may be busy; the rest goes next time.
    with suppress(OSError):
        for path in sorted(place.iterdir()):
            if path.name not in but and (path.name == HEAD or _BUNDLE.fullmatch(path.name)):
                path.unlink()
        if not but:
            place.rmdir()


def _write_bundle(merger: Merger, path: Path, manifest: Manifest, envelope: Envelope) -> Dropped:
    if not envelope.mark:
        made = merger.write_bundle(path, manifest)
        return Dropped(path.name, manifest.head, made.sha256, made.size)
    to = path.with_name(f"{path.name}.age")
    # Whatever carries the drop folder would carry a plain file in it, too.
    with tempfile.TemporaryDirectory(prefix="kimi-memory-") as work:
        merger.write_bundle(Path(work) / path.name, manifest)
        envelope.seal(Path(work) / path.name, to)
    return Dropped(to.name, manifest.head, _hash_file(to), to.stat().st_size)


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_drop(
    merger: Merger,
    folder: Path,
    memory: str,
    own: str,
    *,
    purged: bool = False,
    envelope: Envelope = PLAIN,
) -> list[Arrival]:
    """Take over what other copies dropped and arrived whole; the caller merges each tip.

    Args:
        merger: of the memory; its lock of jobs is held.
        folder: the drop folder.
        memory: id of the memory.
        own: the copy that reads.
        purged: something was purged here; nothing from before is taken.
        envelope: how its bundles are read.
    """
    place = _find_place(folder, memory)
    found = (
        _read_copy(merger, place / copy, memory, envelope, purged=purged)
        for copy in list_others(folder, memory, own)
    )
    return [one for one in found if one.tip or one.waiting]


def list_others(folder: Path, memory: str, own: str) -> list[str]:
    """Return the other copies that dropped something; none where the folder cannot be read."""
    try:
        names = sorted(one.name for one in _find_place(folder, memory).iterdir())
    except OSError:
        # The folder is not there now, such as a stick that was pulled out.
        return []
    return [name for name in names if _COPY.fullmatch(name) and name != own]


def list_tips(folder: Path, memory: str, own: str) -> list[str]:
    """Return the commits with which the bundles of a copy end; none where it dropped nothing."""
    listed, _ = _read_head(_find_place(folder, memory) / own) or ([], "")
    return [one.tip for one in listed]


def _find_place(folder: Path, memory: str) -> Path:
    return folder / safe_session_id(memory)


def _read_copy(
    merger: Merger, place: Path, memory: str, envelope: Envelope, *, purged: bool
) -> Arrival:
    listed, _ = _read_head(place) or (None, "")
    if listed is None:
        return Arrival(place.name, waiting=f"{place / HEAD} is not whole yet")
    if merger.has(listed[-1].tip):
        return Arrival(place.name)
    arrival = Arrival(place.name)
    for one in _skip_known(merger, listed):
        try:
            with _read_dropped(place / one.file, one, memory, envelope) as bundle:
                merger.take_bundle(bundle, purged=purged)
        except KimiMemoryError as error:
            return replace(arrival, waiting=str(error))
        arrival = replace(arrival, tip=one.tip, names=bundle.manifest.names)
    # All is here, and was not merged the last time.
    return arrival if arrival.tip else replace(arrival, tip=listed[-1].tip)


def _skip_known(merger: Merger, listed: Sequence[Dropped]) -> Iterator[Dropped]:
    """Yield the bundles behind the last one whose commit is here."""
    known = [n for n, one in enumerate(listed) if merger.knows(one.tip)]
    yield from listed[known[-1] + 1 if known else 0 :]


@contextmanager
def _read_dropped(path: Path, one: Dropped, memory: str, envelope: Envelope) -> Iterator[Bundle]:
    """Give a bundle that arrived whole; UsageError where it did not."""
    try:
        look = path.lstat()
    except OSError as error:
        raise UsageError(f"{path} has not arrived yet ({error.strerror}).") from error
    if not stat.S_ISREG(look.st_mode) or look.st_size != one.bytes:
        raise UsageError(f"{path} has not arrived whole yet.")
    sealed = path.suffix == ".age"
    if sealed and _hash_file(path) != one.sha256:
        raise UsageError(f"{path} is not what {HEAD} beside it says.")
    with envelope.open(path) as bundle:
        manifest = bundle.manifest
        altered = not sealed and bundle.sha256 != one.sha256
        if altered or (manifest.memory, manifest.head) != (memory, one.tip):
            raise UsageError(f"{path} is not what {HEAD} beside it says.")
        yield bundle


def _read_head(place: Path) -> tuple[list[Dropped], str] | None:
    """Return the bundles of a copy, and for whom; None where the list is not there or not whole."""
    try:
        with (place / HEAD).open("rb") as file:
            said = json.loads(file.read(_LONGEST_HEAD))
        found = [Dropped(**row) for row in said["bundles"]]
        mark = str(said.get("for", ""))
        sound = all(
            _BUNDLE.fullmatch(one.file)
            and _COMMIT.fullmatch(one.tip)
            and isinstance(one.sha256, str)
            and type(one.bytes) is int
            for one in found
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        # Half of it was synced, or it is not ours: nothing of it is believed.
        return None
    return (found, mark) if found and sound else None
