"""Notes under ``/memories``: the commands of a model's memory tool over an agent's folder.

Commands and answers are those of Anthropic's client-side memory tool, so that a model
that was trained on them finds what it expects. Files end in ``.md``, as recall reads no
others; a name without that suffix gets another one on disk, which nobody sees here.
"""

from __future__ import annotations

from collections.abc import Sequence

from kimi_memory.api.memory import Memory
from kimi_memory.errors import KimiMemoryError
from kimi_memory.operations.agent_files import Folder, Page

TOP = "/memories"
_SUFFIX, _ADDED = ".md", ".note.md"
# As in the reference tool, whose answers are repeated word by word.
_DEEPEST = 2
# The reference tool numbers lines with six digits.
_MOST_LINES = 999_999
# Enough for a model to see that its edit landed where it meant.
_AROUND = 2


class NoteError(KimiMemoryError):
    """A command that cannot be carried out; the message is for the model."""

    exit_code = 2


class Notes:
    """The notes of one agent.

    Args:
        memory: an open memory.
        agent: whose notes they are.
    """

    def __init__(self, memory: Memory, agent: str) -> None:
        self._folder = Folder(memory, agent, "notes")
        self._lock = self._folder.guard

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """Return a numbered file, or what a folder holds down to the second level."""
        name = _relative_name(path)
        with self._lock:
            if not self._is_file(name):
                return self._render_listing(path, name)
            lines = self._folder.read(_stored_name(name)).body.split("\n")
        if len(lines) > _MOST_LINES:
            raise NoteError(f"File {path} exceeds maximum line limit of {_MOST_LINES:,} lines.")
        first, last = 1, len(lines)
        if view_range and len(view_range) == 2:
            first = max(1, view_range[0])
            last = last if view_range[1] == -1 else view_range[1]
        return (
            f"Here's the content of {path} with line numbers:\n{_number_lines(lines, first, last)}"
        )

    def create(self, path: str, text: str) -> str:
        """Make a new file."""
        name = _relative_name(path)
        with self._lock:
            # The lock is held from this check to the write: two agents cannot both find the name
            # free.
            self._need_free(name, f"File {path} already exists")
            self._need_folder(name)
            self._folder.apply([self._folder.made(_stored_name(name), self._folder.clean(text))])
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old: str, new: str) -> str:
        """Put one text in the place of another that stands in the file once."""
        with self._lock:
            page = self._read_page(path)
            places = _find_occurrences(page.body, old)
            # To change the first of several would be a guess; the answer names the lines, so that
            # the model can ask again.
            if len(places) != 1:
                raise NoteError(_describe_mismatch(path, old, page.body, places))
            at = places[0]
            body = page.body[:at] + self._folder.clean(new) + page.body[at + len(old) :]
            body = self._write_body(page, body)
        lines = body.split("\n")
        line = body[:at].count("\n") + 1
        shown = _number_lines(lines, max(1, line - _AROUND), line + _AROUND)
        return (
            "The memory file has been edited. "
            f"Here is the snippet showing the change (with line numbers):\n{shown}"
        )

    def insert(self, path: str, line: int, text: str) -> str:
        """Put text below a line, counted from 1; 0 is above the first."""
        with self._lock:
            page = self._read_page(path)
            lines = page.body.removesuffix("\n").split("\n") if page.body else []
            if not 0 <= line <= len(lines):
                raise NoteError(
                    f"Invalid `insert_line` parameter: {line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            lines.insert(line, self._folder.clean(text).rstrip("\n"))
            body = "\n".join(lines)
            self._write_body(page, body if body.endswith("\n") else f"{body}\n")
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Remove a file, or a folder with all that is in it; history keeps them."""
        name = _relative_name(path)
        if not name:
            raise NoteError(f"Cannot delete the {TOP} directory itself")
        with self._lock:
            found = self._files_below(name)
            if not found:
                raise NoteError(f"The path {path} does not exist")
            self._folder.apply([self._folder.gone(_stored_name(one)) for one in found])
        return f"Successfully deleted {path}"

    def move(self, old: str, new: str) -> str:
        """Move a file, or a folder with all that is in it."""
        name, to = _relative_name(old), _relative_name(new)
        if not name:
            raise NoteError(f"Cannot rename the {TOP} directory itself")
        with self._lock:
            self._need_free(to, f"The destination {new} already exists")
            found = self._files_below(name)
            if not found:
                raise NoteError(f"The path {old} does not exist")
            # The files would move into the folder that is being moved.
            if to.startswith(f"{name}/"):
                raise NoteError(f"Cannot move {old} into itself")
            self._need_folder(to)
            pairs = [
                (_stored_name(one), _stored_name(to + one.removeprefix(name))) for one in found
            ]
            self._folder.apply([self._folder.moved(one, other) for one, other in pairs])
        return f"Successfully renamed {old} to {new}"

    def clear(self) -> str:
        """Remove all notes; history keeps them."""
        with self._lock:
            self._folder.apply([self._folder.gone(_stored_name(one)) for one in self._list_files()])
        return "All memory cleared"

    def _list_files(self) -> list[str]:
        return sorted(filter(None, map(_shown_name, self._folder.names())))

    def _is_file(self, name: str) -> bool:
        return bool(name) and self._folder.exists(_stored_name(name))

    def _files_below(self, name: str) -> list[str]:
        """Return the file of a name, or the files of the folder of that name."""
        if self._is_file(name):
            return [name]
        return [one for one in self._list_files() if one.startswith(f"{name}/")]

    def _read_page(self, path: str) -> Page:
        name = _relative_name(path)
        if not self._is_file(name):
            if not name or self._files_below(name):
                raise NoteError(f"The path {path} is not a file.")
            raise NoteError(_missing_message(path))
        return self._folder.read(_stored_name(name))

    def _write_body(self, page: Page, body: str) -> str:
        # Two edits could put a secret together that neither of them held.
        kept = self._folder.clean(body)
        self._folder.apply([self._folder.changed(page, kept)])
        return kept

    def _need_free(self, name: str, refusal: str) -> None:
        if not name or self._files_below(name):
            raise NoteError(refusal)

    def _need_folder(self, name: str) -> None:
        """Refuse a name that would lie below a file."""
        parts = name.split("/")
        for depth in range(1, len(parts)):
            above = "/".join(parts[:depth])
            if self._is_file(above):
                raise NoteError(f"{TOP}/{above} is a file, so nothing can lie in it")

    def _render_listing(self, path: str, name: str) -> str:
        start = f"{name}/" if name else ""
        sizes = {
            one.removeprefix(start): len(self._folder.read(_stored_name(one)).body.encode())
            for one in self._list_files()
            if one.startswith(start)
        }
        if name and not sizes:
            raise NoteError(_missing_message(path))
        rows = [f"{_format_size(sum(sizes.values()))}\t{path}"]
        rows += [f"{_format_size(size)}\t{path}/{item}" for item, size in _list_entries(sizes)]
        return (
            f"Here're the files and directories up to {_DEEPEST} levels deep in {path}, "
            "excluding hidden items:\n" + "\n".join(rows)
        )


def _relative_name(path: str) -> str:
    """Return the name below the top, "" for the top itself."""
    if path != TOP and not path.startswith(f"{TOP}/"):
        raise NoteError(f"Path must start with {TOP}, got: {path}")
    parts = [part for part in path.removeprefix(TOP).split("/") if part]
    # Checked on the parts, not by resolving: a link on disk must not decide what a name means.
    if ".." in parts:
        raise NoteError(f"Path {path} would escape {TOP} directory")
    return "/".join(parts)


def _stored_name(name: str) -> str:
    """Return the name of a file on disk."""
    if name.endswith(_ADDED) or f"{_SUFFIX}/" in name:
        raise NoteError(
            f"{TOP}/{name} cannot be kept: names may not end in {_ADDED}, "
            f"nor directories in {_SUFFIX}"
        )
    return name if name.endswith(_SUFFIX) else f"{name}{_ADDED}"


def _shown_name(stored: str) -> str:
    """Return the name that `_stored_name` was given, "" for a file it never names."""
    name = stored.removesuffix(_ADDED)
    return name if stored.endswith(_SUFFIX) and f"{_SUFFIX}/" not in name else ""


def _missing_message(path: str) -> str:
    return f"The path {path} does not exist. Please provide a valid path."


def _find_occurrences(text: str, words: str) -> list[int]:
    """Return where words stand, once for each letter they can begin at."""
    found = []
    at = text.find(words)
    while at >= 0:
        found.append(at)
        at = text.find(words, at + 1)
    return found


def _describe_mismatch(path: str, old: str, body: str, places: Sequence[int]) -> str:
    if not places:
        return f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
    lines = ", ".join(str(body[:at].count("\n") + 1) for at in places)
    return (
        f"No replacement was performed. Multiple occurrences of old_str `{old}` "
        f"in lines: {lines}. Please ensure it is unique"
    )


def _number_lines(lines: Sequence[str], first: int, last: int) -> str:
    rows = enumerate(lines[first - 1 : last], first)
    return "\n".join(f"{number:>6}\t{line}" for number, line in rows)


def _list_entries(sizes: dict[str, int]) -> list[tuple[str, int]]:
    """Return files and folders down to the second level, each folder before what is in it."""
    found: dict[tuple[str, ...], int] = {}
    folders: set[tuple[str, ...]] = set()
    for name, size in sizes.items():
        parts = tuple(name.split("/"))
        folders |= {parts[:depth] for depth in range(1, len(parts))}
        for depth in range(1, min(len(parts), _DEEPEST) + 1):
            found[parts[:depth]] = found.get(parts[:depth], 0) + size
    return [
        ("/".join(parts) + ("/" if parts in folders else ""), found[parts])
        for parts in sorted(found)
    ]


def _format_size(count: int) -> str:
    """Return a size as the tool writes it: ``16B``, ``1.5K``."""
    power = min(max(count.bit_length() - 1, 0) // 10, 3)
    scaled = count / 1024**power
    shown = f"{scaled:.0f}" if scaled == int(scaled) else f"{scaled:.1f}"
    return f"{shown}{'BKMG'[power]}"
