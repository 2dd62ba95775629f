"""What the files of a memory name: kept while the server runs, so that no answer reads a folder."""

from __future__ import annotations

import os
import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from kimi_memory.lsp.spots import spots_in

_FIELD = re.compile(r"^(id|kind|key|status|type):[ \t]*(\S.*)$", re.MULTILINE)
_TITLE = re.compile(r"^# (.*)$", re.MULTILINE)
_MOST_BYTES = 1 << 20


class Page(NamedTuple):
    """A Markdown file of the memory."""

    path: str
    id: str
    kind: str
    key: str
    status: str
    title: str
    names: tuple[str, ...]
    """What it names, see `kimi_memory.lsp.spots`; a target of a link as it stands there."""
    words: str
    """What it is found by: path, title and key, in small letters."""


class Vault:
    """The pages of one memory, by what they are called and by what they name.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._guard = threading.Lock()
        self._looks: dict[str, tuple[int, int]] = {}
        self._pages: dict[str, Page] = {}
        self._ids: dict[str, set[str]] = defaultdict(set)
        self._stems: dict[str, set[str]] = defaultdict(set)
        self._keys: dict[str, set[str]] = defaultdict(set)
        self._named: dict[str, set[str]] = defaultdict(set)
        self.filled = threading.Event()
        """Set once every file was read."""

    def fill(self) -> None:
        """Read every file that looks otherwise than last time; take out what is gone."""
        found: set[str] = set()
        for path, look in self._walk():
            found.add(path)
            if self._looks.get(path) != look:
                self._read_page(path, look)
        for path in self._pages.keys() - found:
            self._drop(path)
        self.filled.set()

    def update(self, paths: Iterable[str]) -> None:
        """Read some files anew."""
        for path in paths:
            try:
                look = (self._root / path).stat()
            except OSError:
                self._drop(path)
                continue
            # A pipe in a folder that somebody else made would be waited for without end.
            if path.endswith(".md") and S_ISREG(look.st_mode):
                self._read_page(path, (look.st_mtime_ns, look.st_size))

    def _walk(self) -> Iterator[tuple[str, tuple[int, int]]]:
        folders = [""]
        while folders:
            folder = folders.pop()
            try:
                entries = list(os.scandir(self._root / folder))
            except OSError:
                # A folder that went, or is not for us, holds no names for this editor.
                continue
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif entry.name.endswith(".md") and entry.is_file(follow_symlinks=False):
                    look = entry.stat(follow_symlinks=False)
                    yield path, (look.st_mtime_ns, look.st_size)

    def _read_page(self, path: str, look: tuple[int, int]) -> None:
        # What people said names nothing of ours, and a session may be long.
        body = "" if "/sessions/" in path else self._text(path)
        page = page_of(path, body)
        with self._guard:
            self._forget(path)
            self._looks[path] = look
            self._pages[path] = page
            if page.id:
                self._ids[page.id].add(path)
            self._stems[path.rpartition("/")[2].removesuffix(".md")].add(path)
            if page.key:
                self._keys[page.key].add(path)
            for name in page.names:
                self._named[name].add(path)

    def _text(self, path: str) -> str:
        try:
            with (self._root / path).open("rb") as file:
                return file.read(_MOST_BYTES).decode("utf-8", "replace")
        except OSError:
            # It went between the look and the read.
            return ""

    def _drop(self, path: str) -> None:
        with self._guard:
            self._forget(path)

    def _forget(self, path: str) -> None:
        page = self._pages.pop(path, None)
        self._looks.pop(path, None)
        if page is None:
            return
        self._ids[page.id].discard(path)
        self._stems[path.rpartition("/")[2].removesuffix(".md")].discard(path)
        self._keys[page.key].discard(path)
        for name in page.names:
            self._named[name].discard(path)

    def path_of(self, id: str) -> str:
        """Return where the note of an id lies; of two copies the first, empty for none."""
        return min(self._ids.get(id, ()), default="")

    def page(self, path: str) -> Page | None:
        """Return what is known of a file."""
        return self._pages.get(path)

    def resolve(self, target: str) -> str:
        """Return the file that a wikilink leads to; empty where no file or more than one fits."""
        # As Obsidian does: a path first, then a name that only one file has.
        plain = target.removesuffix(".md")
        if f"{plain}.md" in self._pages:
            return f"{plain}.md"
        fits = self._stems.get(plain, set()) if "/" not in plain else set()
        return next(iter(fits)) if len(fits) == 1 else ""

    def naming(self, *names: str) -> list[str]:
        """Return the files that name one of these things, in order of path."""
        with self._guard:
            return sorted({path for name in names for path in self._named.get(name, ())})

    def names_of(self, path: str) -> set[str]:
        """Return all names that lead to a file."""
        page, stem = self._pages.get(path), path.rpartition("/")[2].removesuffix(".md")
        names = {path.removesuffix(".md"), path}
        if self.resolve(stem) == path:
            names.add(stem)
        return names | ({page.id} if page and page.id else set())

    def search(self, words: str, most: int) -> list[Page]:
        """Return pages whose path, key or title has these words."""
        part = words.casefold().strip()
        with self._guard:
            pages = list(self._pages.values())
        # Of a hundred thousand pages, few fit what somebody has begun to write: all are looked at.
        return list(islice((page for page in pages if part in page.words), most))

    def keys(self, part: str, most: int) -> list[str]:
        """Return the keys that hold these letters."""
        with self._guard:
            known = [key for key, paths in self._keys.items() if paths and part in key]
        return sorted(known)[:most]


def page_of(path: str, text: str) -> Page:
    """Return what a file says of itself and what it names."""
    head = text.split("\n---", 1)[0] if text.startswith("---") else ""
    fields = {name: value.strip().strip("\"'") for name, value in _FIELD.findall(head)}
    found = _TITLE.search(text)
    title, key = found[1].strip() if found else "", fields.get("key", "")
    # Past its cache: each line of a page is read once, and would push out those on the screen.
    named = {spot.name for line in text.splitlines() for spot in spots_in.__wrapped__(line)}
    named.discard(fields.get("id", ""))
    id, kind, status = (fields.get(name, "") for name in ("id", "kind", "status"))
    words = "\n".join((path, title, key)).casefold()
    return Page(path, id, kind, key, status, title, tuple(sorted(named)), words)
