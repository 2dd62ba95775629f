"""Generations: complete, signed states of the index, of which one is current.

A generation is never changed once it is current. An update links the files of the
old one into a new folder, writes there, signs, and flips ``CURRENT``.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from kimi_memory.errors import IndexDamagedError
from kimi_memory.index import manifest as manifests
from kimi_memory.index.files import CURRENT, DEAD, TABLE
from kimi_memory.index.manifest import Manifest
from kimi_memory.store.files.disk import UNKNOWN, settled_stat, state_of

WORDS = "words"
VECTORS = "vectors"
SYNONYMS = "synonyms.json"
"""What words stand for each other, in the words of the splitter: the same for any memory."""
_NAME = re.compile(r"g(\d{6,})-[0-9a-f]{8}")
# Each further try means that another process published in between.
_TRIES = 5


class Generation(NamedTuple):
    """A checked generation: its folder and manifest."""

    folder: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name


class Shelf:
    """The folder ``.kimi/index`` and the generations in it.

    Args:
        folder: where generations lie; made on the first write.
        key: the machine's own secret, which signs manifests.
    """

    def __init__(self, folder: Path, key: bytes) -> None:
        self.folder = folder
        self._key = key
        self._named = (UNKNOWN, "")

    def current_name(self) -> str:
        """Return the name of the current generation, empty when there is none.

        Every question asks for it, so the file is read when it is not what it was.
        """
        state = state_of(self.folder, CURRENT)
        if state is None or state != self._named[0]:
            known = UNKNOWN if state is None else settled_stat(state, time.time_ns())
            self._named = (known, self._read_name())
        return self._named[1]

    def _read_name(self) -> str:
        try:
            name = (self.folder / CURRENT).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            # No index was published yet.
            return ""
        return name if _NAME.fullmatch(name) else ""

    def open(self) -> Generation | None:
        """Return the current generation after checking it, or None when there is none.

        Raises:
            IndexDamagedError: it is there, but not as we wrote it.
        """
        for _ in range(_TRIES):
            name = self.current_name()
            if not name:
                return None
            try:
                return Generation(self.folder / name, self._check_manifest(name))
            except IndexDamagedError:
                # Another process may have replaced and removed it while we looked.
                # Still current, and bad: it is damaged. Otherwise the next try finds the one after
                # it.
                if self.current_name() == name:
                    raise
        return None

    def start(self, old: Generation | None) -> Path:
        """Make the folder of a new generation, with the files of `old` linked into it."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        number = (
            max([self._generation_number(path) for path in self._list_generations()], default=0) + 1
        )
        folder = self.folder / f"g{number:06d}-{secrets.token_hex(4)}"
        for part in (folder, folder / WORDS, folder / VECTORS, folder / TABLE):
            # An index repeats every word of the memory.
            part.mkdir(mode=0o700)
        if old is not None:
            for name in old.manifest.files:
                _link_or_copy(old.folder / name, folder / name)
        return folder

    def unfinished(self, *, scratch: bool) -> Generation | None:
        """Return what a build that was cut short had come to, None when nothing of use.

        Args:
            scratch: only a build from nothing counts.
        """
        current = self._generation_number(self.folder / (self.current_name() or "none"))
        for path in sorted(self._list_generations(), key=self._generation_number, reverse=True):
            if self._generation_number(path) > current and (path / manifests.NAME).is_file():
                # A build that was killed may have left half of a generation.
                with suppress(IndexDamagedError):
                    found = self._check_manifest(path.name)
                    if found.partial and found.scratch >= scratch:
                        return Generation(path, found)
        return None

    def checkpoint(self, folder: Path, made: Manifest, old: Generation | None) -> Generation:
        """Sign what a folder holds so far, so that the build can go on from it."""
        linked = (old.folder, _unchanging_files(old.manifest.files)) if old else ()
        complete = made._replace(partial=True, files=manifests.measure(folder, *linked))
        (folder / manifests.NAME).write_bytes(manifests.sign(complete, self._key))
        return Generation(folder, complete)

    def publish(self, folder: Path, made: Manifest, old: Generation | None) -> Generation:
        """Sign a finished folder, make it durable and current, and remove older ones."""
        before = self.current_name()
        linked = (old.folder, _unchanging_files(old.manifest.files)) if old else ()
        complete = made._replace(partial=False, files=manifests.measure(folder, *linked))
        # A checkpoint's manifest may stand there.
        (folder / manifests.NAME).write_bytes(manifests.sign(complete, self._key))
        # Everything durable before the name that points to it: after a power cut it must not
        # dangle.
        _fsync_tree(folder)
        self._set_current(folder.name)
        # The one before stays: another process may be reading it.
        self._remove_generations(keep={folder.name, before})
        return Generation(folder, complete)

    def abandon(self, folder: Path) -> None:
        """Remove a folder that will not be published, unless a build can go on from it."""
        # A damaged one is of no use to a later build either.
        with suppress(IndexDamagedError):
            if self._check_manifest(folder.name).partial:
                return
        shutil.rmtree(folder, ignore_errors=True)

    def drop(self) -> None:
        """Remove the whole index."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _check_manifest(self, name: str) -> Manifest:
        try:
            return manifests.check(self.folder / name, self._key)
        except OSError as error:
            raise IndexDamagedError(f"{name} cannot be read: {error}.") from error

    def _set_current(self, name: str) -> None:
        temporary = self.folder / f"{CURRENT}.{secrets.token_hex(4)}"
        temporary.write_text(name + "\n", encoding="ascii")
        _fsync_path(temporary)
        # In one step: a reader sees the old name or the new one.
        temporary.replace(self.folder / CURRENT)
        _fsync_path(self.folder)

    def _remove_generations(self, keep: set[str]) -> None:
        for path in self._list_generations():
            if path.name not in keep:
                shutil.rmtree(path, ignore_errors=True)

    def _list_generations(self) -> list[Path]:
        try:
            return [path for path in self.folder.iterdir() if _NAME.fullmatch(path.name)]
        except FileNotFoundError:
            # No index was ever built here.
            return []

    def _generation_number(self, path: Path) -> int:
        found = _NAME.fullmatch(path.name)
        return int(found[1]) if found else 0


def _unchanging_files(files: manifests.Files) -> manifests.Files:
    """Return the files that are written once: within one folder others change in place."""
    # Their hash must be taken anew, even where they are still links to the old ones.
    changing = (f"{VECTORS}/", f"{TABLE}/{DEAD}")
    return {name: known for name, known in files.items() if not name.startswith(changing)}


def _link_or_copy(old: Path, new: Path) -> None:
    """Bring a file into a new generation: a segment by link, as it never changes."""
    new.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Vector engines save in place, which through a link would ruin the old generation.
    if old.parent.name == VECTORS:
        shutil.copyfile(old, new)
        return
    try:
        os.link(old, new)
    except OSError:
        # Some file systems have no hard links.
        shutil.copyfile(old, new)


def _fsync_tree(folder: Path) -> None:
    for path in folder.rglob("*"):
        _fsync_path(path)
    _fsync_path(folder)


def _fsync_path(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
