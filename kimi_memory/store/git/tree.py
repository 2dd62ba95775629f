"""Files of a memory that belong into history, and how they differ from a commit.

A person's own index is carried along after a commit of ours: where it held what the old commit
held, it now holds what the new one holds, so their `git status` stays clean. What they staged
themselves is left alone. The move is noted before the commit and done after it, so a crash in
between, or a git command of theirs that holds the index, only delays it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.disk import UNKNOWN, Stat, put, settled_stat, signature, state_of
from kimi_memory.store.files.paths import KEPT, PRIVATE, RECEIPTS
from kimi_memory.store.git.command import Entry, Git, decode, encode, parsing, refusal
from kimi_memory.store.git.head import checked_out

# Larger files are no notes, and every commit of one would stay in the history for ever.
LARGEST = 50 * 1024 * 1024
IGNORED = """\
# Derived or of this machine only; kimi_memory makes it again.
/.kimi/
/short-term/*.json
/short-term/recalls.jsonl

# Temporaries of editors and systems
*~
*.tmp
*.sw[a-p]
.#*
.~lock.*#
~$*
.goutputstream-*
.DS_Store
Thumbs.db
/.obsidian/workspace*.json
"""
"""What init writes to .gitignore; the same rules hold without that file."""

_ENDINGS = ("~", ".tmp", *(f".sw{letter}" for letter in "abcdefghijklmnop"))
_BEGINNINGS = (".#", ".~lock.", "~$", ".goutputstream-")
_NAMES = frozenset({"4913", ".DS_Store", "Thumbs.db"})
_DERIVED = re.compile(
    rf"{re.escape(RECEIPTS)}|short-term/(?:[^/]*\.json|session_[^/]*{re.escape(KEPT)})"
    r"|\.obsidian/workspace[^/]*\.json",
    re.DOTALL,
)
# Some file systems drop these characters from names, which turns others into .git.
_INVISIBLE = "\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff"
_DROPPED = re.compile(f"[{_INVISIBLE}]")
_SUSPECT = re.compile(f"git|[{_INVISIBLE}]", re.IGNORECASE)


@dataclass(slots=True)
class Scan:
    """What lies in the folder."""

    files: dict[str, Stat] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    """Path to reason, of what we leave out and the owner should know."""


def renew_ignored(root: Path) -> None:
    """Add the receipts to a .gitignore that an earlier version wrote."""
    path, rule, before = root / ".gitignore", f"/{RECEIPTS}\n".encode(), b"/short-term/*.json\n"
    text = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    if before in text and rule not in text:
        spare = root / PRIVATE / path.name
        put(spare, text.replace(before, before + rule, 1), sync=True)
        spare.replace(path)


def refused_by_git(name: str) -> bool:
    """Whether git would refuse a file of this name, and with it the whole commit."""
    if not _SUSPECT.search(name):
        return False
    # On Windows a backslash begins a folder and a colon a stream of a file, so that either may hide
    # ".git".
    parts = re.split(r"[\\:]", _DROPPED.sub("", name))
    return any(part.rstrip(" .").casefold() in {".git", "git~1"} for part in parts)


def is_ignored(path: str) -> bool:
    """Whether our own rules keep a path out of history."""
    name = path.rpartition("/")[2]
    if name.endswith(_ENDINGS) or name.startswith(_BEGINNINGS) or name in _NAMES:
        return True
    if path.startswith(("short-term/", ".obsidian/")):
        return _DERIVED.fullmatch(path) is not None
    return name.startswith("#") and name.endswith("#")


def scan(root: Path) -> Scan:
    """Return the files that belong into history, and what was left out."""
    result = Scan()
    folders = [""]
    while folders:
        folders.extend(_scan_folder(encode(str(root)), folders.pop(), result))
    return result


def scan_paths(root: Path, paths: Iterable[str]) -> Scan:
    """Return what `scan` would find at these paths, without a look at any other."""
    result = Scan()
    apart = {".git": True, ".kimi": True}
    for path in paths:
        above = [path[:at] for at, sign in enumerate(path) if sign == "/"]
        for folder in above:
            if folder not in apart:
                apart[folder] = os.path.lexists(_full_path(root, f"{folder}/.git"))
        if not any(apart[folder] for folder in above):
            _look_at(root, path, result)
    return result


def _look_at(root: Path, path: str, result: Scan) -> None:
    try:
        found = os.lstat(_full_path(root, path))
    except OSError as error:
        _skip_broken(result, path, error)
        return
    if why := _skip_reason(path, found):
        result.skipped[path] = why
    elif stat.S_ISREG(found.st_mode) and not is_ignored(path):
        result.files[path] = signature(found)


def _full_path(root: Path, path: str) -> bytes:
    return os.path.join(encode(str(root)), encode(path))  # noqa: PTH118  bytes


def _scan_folder(root: bytes, folder: str, result: Scan) -> Iterator[str]:
    full = os.path.join(root, encode(folder))  # noqa: PTH118  bytes
    try:
        fd = os.open(full, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        _skip_broken(result, folder, error)
        return
    try:
        # From its folder, the state of a file costs half of what it costs from its path.
        with os.scandir(fd) as entries:
            yield from _scan_entries(list(entries), folder, result)
    except OSError as error:
        _skip_broken(result, folder, error)
    finally:
        os.close(fd)


def _scan_entries(entries: list[os.DirEntry[str]], folder: str, result: Scan) -> Iterator[str]:
    """Note the entries of a folder; yield the folders to go into."""
    # Git takes such a folder for a submodule, and refuses the commit.
    if folder and any(entry.name == ".git" for entry in entries):
        result.skipped[folder] = "another git repository"
        return
    prefix = f"{folder}/" if folder else ""
    for entry in entries:
        name = decode(os.fsencode(entry.name)) if not entry.name.isascii() else entry.name
        if not folder and name in {".git", ".kimi"}:
            continue
        if _scan_entry(entry, prefix + name, result):
            yield prefix + name


def _scan_entry(entry: os.DirEntry[str], path: str, result: Scan) -> bool:
    """Note an entry; return whether it is a folder to go into."""
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError as error:
        _skip_broken(result, path, error)
        return False
    # Most files are notes with plain names, of which nothing else needs to be asked.
    if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST and _is_note(entry.name):
        result.files[path] = signature(found)
        return False
    why = _skip_reason(path, found)
    if why:
        result.skipped[path] = why
    elif stat.S_ISDIR(found.st_mode):
        return True
    elif not is_ignored(path):
        result.files[path] = signature(found)
    return False


def _is_note(name: str) -> bool:
    """Whether a file of this name belongs into history, in whatever folder it lies."""
    return name.endswith(".md") and name[0].isalnum() and not _SUSPECT.search(name)


def _skip_reason(path: str, found: os.stat_result) -> str:
    if refused_by_git(path.rpartition("/")[2]):
        return "a name that git refuses"
    if stat.S_ISDIR(found.st_mode):
        return ""
    if not stat.S_ISREG(found.st_mode):
        return "a symbolic link" if stat.S_ISLNK(found.st_mode) else "not a plain file"
    return "larger than 50 MB" if found.st_size > LARGEST else ""


def _skip_broken(result: Scan, path: str, error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        result.skipped[path] = f"unreadable ({error.strerror})"


def is_gone(root: Path, path: str, mode: str) -> bool:
    """Whether nothing git could mean by a path of this mode is there any more."""
    try:
        found = os.lstat(os.path.join(encode(str(root)), encode(path)))  # noqa: PTH118  bytes
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and mode != "160000"


def read_plain(root: Path, path: str) -> bytes | None:
    """Return the bytes of a plain file; None when it is gone or not plain any more."""
    full = os.path.join(encode(str(root)), encode(path))  # noqa: PTH118  bytes
    try:
        opened = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return None
        content = file.read(LARGEST + 1)
    return content if len(content) <= LARGEST else None


def write_absent(path: Path, text: str) -> None:
    """Write a file where there is none yet, and bring it to disk."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        # A person's own stays as it is.
        return


def sync_repository(common: Path, folder: Path) -> None:
    """Bring to disk what git init leaves to chance: without HEAD and config all is lost."""
    for path in (folder / "HEAD", common / "config", common / "info", common, common.parent):
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


_PLAIN = "100644"
_PLAIN_ROWS = ("-r", "-z", "--no-renames")
NOTHING = "0" * 40


@dataclass(frozen=True, slots=True)
class Difference:
    """One path that differs between a commit and the disk; None is absence."""

    path: str
    old: Entry | None
    new: Entry | None


def blob_name(content: bytes) -> str:
    """Return the object name git gives a content."""
    head = b"blob %d\0" % len(content)
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()


def list_tree(git: Git, commit: str) -> dict[str, Entry]:
    """Return every path of a commit; none for an empty name."""
    if not commit:
        return {}
    entries = {}
    out = git.run("ls-tree", "-r", "-z", "--full-tree", commit)
    # Ten thousand rows: each is taken apart by places, all are decoded at once.
    for row in decode(out).split("\0")[:-1]:
        about, _, path = row.partition("\t")
        entries[path] = Entry(about[:6], about[about.rindex(" ") + 1 :])
    return entries


def list_paths(git: Git, commit: str) -> set[str]:
    """Return every path of a commit, without more of it; none for an empty name."""
    named = ("ls-tree", "-r", "-z", "--name-only", "--full-tree")
    return set(decode(git.run(*named, commit)).split("\0")[:-1]) if commit else set()


@dataclass(slots=True)
class Compared:
    """How the disk differs from a commit."""

    differences: list[Difference] = field(default_factory=list)
    renewed: dict[str, Entry] = field(default_factory=dict)
    """Paths that were read and found the same, with how their files look now."""

    def take(self, path: str, old: Entry | None, content: bytes, stat: Stat) -> bool:
        """Take in what a file holds; tell whether it differs."""
        # The mode in history stays: file systems of Windows and shared folders show every file as
        # executable.
        mode = old.mode if old is not None and old.mode.startswith("100") else _PLAIN
        new = Entry(mode, blob_name(content), stat)
        if old is not None and (old.mode, old.blob) == (new.mode, new.blob):
            self.renewed[path] = new
            return False
        self.differences.append(Difference(path, old, new))
        return True


def compare(
    git: Git,
    entries: Mapping[str, Entry],
    add: Callable[[bytes], None],
    only: Collection[str] | None = None,
) -> Compared:
    """Return how the disk differs from a commit.

    Args:
        git: the repository.
        entries: the paths of the commit.
        add: takes the content of a file that differs.
        only: the paths to look at; None for all.
    """
    now, result = time.time_ns(), Compared()
    files = (scan(git.root) if only is None else scan_paths(git.root, only)).files
    listed = entries if only is None else entries.keys() & set(only)
    # Only new paths are asked for: what is in history already stays there, as with git itself.
    for path in _ignored_paths(git, [path for path in files if path not in entries]):
        del files[path]
    result.differences += [
        Difference(path, entries[path], None)
        for path in listed
        if path not in files and (path == RECEIPTS or is_gone(git.root, path, entries[path].mode))
    ]
    for path, seen in files.items():
        old = entries.get(path)
        # A look at size and time spares reading; a file that changed within the clock's last tick
        # is read again, see `settled_stat`.
        if old is None or old.stat != seen:
            content = read_plain(git.root, path)
            if content is not None and result.take(path, old, content, settled_stat(seen, now)):
                add(content)
    return result


def _ignored_paths(git: Git, paths: list[str]) -> list[str]:
    """Return which new paths the owner's ignore files keep out."""
    if not paths:
        return []
    # This command knows no literal paths; the prefix keeps a name from being magic.
    feed = b"".join(b"./" + encode(path) + b"\0" for path in paths)
    arguments = ("check-ignore", "-z", "--stdin", "--no-index")
    result = git.call(*arguments, feed=feed, GIT_LITERAL_PATHSPECS="0")
    if result.code > 1:
        raise refusal(arguments, result.err)
    return [decode(path.removeprefix(b"./")) for path in result.out.split(b"\0")[:-1]]


_PAIR = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})? (?:[0-9a-f]{40}|[0-9a-f]{64})")


class Owed:
    """Commits whose move of the person's index is still to be done."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, old: str, new: str) -> None:
        """Remember that the index follows from an old commit (may be empty) to a new one."""
        put(self._path, json.dumps([*self._pending_moves(), [old, new]]).encode(), sync=True)

    def settle(
        self,
        git: Git,
        known: Mapping[tuple[str, str], list[Difference]] | None = None,
        clean: Stat = UNKNOWN,
    ) -> Stat:
        """Do what is owed; what is behind a lock of somebody stays so.

        Args:
            git: the repository.
            known: what changed from a commit to another, where that need not be asked.
            clean: how the index looked when it held such an old commit and nothing else.

        Returns:
            How the index looks where it holds the last commit and nothing else, else UNKNOWN.
        """
        changes, found = known or {}, UNKNOWN
        for old, new in (pending := self._pending_moves()):
            # In order: the second move begins where the first one ends.
            moved = _move_index(git, old, new, changes.get((old, new)), clean)
            if moved is None:
                return UNKNOWN
            found = moved
        if pending:
            self._path.unlink(missing_ok=True)
        return found

    def _pending_moves(self) -> list[list[str]]:
        try:
            rows = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            # None waits: the file is written only where a move could not be finished.
            return []
        pairs = [row for row in rows if isinstance(row, list)] if isinstance(rows, list) else []
        # Whatever is no commit could be an option of git.
        return [pair for pair in pairs if _PAIR.fullmatch(" ".join(map(str, pair)))]


def _move_index(
    git: Git, old: str, new: str, known: list[Difference] | None, clean: Stat
) -> Stat | None:
    """Move the index from one commit to another, as `Owed.settle` says; None when it is locked."""
    head = checked_out(git)
    if head != new and git.call("merge-base", "--is-ancestor", new, "HEAD").code != 0:
        # Never published, or on a branch that is not checked out any more.
        return UNKNOWN
    # What they staged themselves stays, and what a later commit of theirs changed is as that one
    # says.
    moves = known or differences(git, old, new)
    look = state_of(git.folder or git.root / ".git", "index")
    # Each program that writes the index puts a new file in its place.
    untouched = not old if look is None else known is not None and look == clean
    staged = set() if untouched else _staged_paths(git, old)
    now = {move.path: move.new for move in moves} if head == new else list_tree(git, head)
    due = [
        move
        for move in moves
        if move.path not in staged and _entry_key(now.get(move.path)) == _entry_key(move.new)
    ]
    if due and not _write_index(git, due):
        return None
    whole = head == new and not staged
    return (whole and state_of(git.folder or git.root / ".git", "index")) or UNKNOWN


def differences(git: Git, old: str, new: str) -> list[Difference]:
    """Return what changed from a commit (empty for none) to another."""
    before, after = _tree_name(old), _tree_name(new)
    return _parse_differences(git.run("diff-tree", *_PLAIN_ROWS, before, after))


def differences_from(git: Git, old: str, commits: Iterable[str]) -> dict[str, list[Difference]]:
    """Return what changed from a commit to each of some others; all are full names."""
    found: dict[str, list[Difference]] = {commit: [] for commit in commits}
    # One process for all of them: it reads the old tree of ten thousand files, too.
    feed = "".join(f"{commit} {old}\n" for commit in found).encode("ascii")
    words = iter(git.run("diff-tree", "--stdin", *_PLAIN_ROWS, feed=feed).split(b"\0")[:-1])
    rows = list[Difference]()
    for word in words:
        if word.startswith(b":"):
            rows.append(_parse_difference(word, next(words)))
        else:
            rows = found[word.decode("ascii")]
    return found


def _staged_paths(git: Git, commit: str) -> set[str]:
    """Return the paths that the index holds otherwise than a commit."""
    told = git.run("diff-index", "--cached", "-z", "--no-renames", _tree_name(commit), "--")
    return {difference.path for difference in _parse_differences(told)}


def clear_conflicts(git: Git, commit: str) -> bool:
    """Have the index hold what a commit has where it holds sides of a conflict; False if locked."""
    rows = git.run("ls-files", "-u", "-z", "--full-name").split(b"\0")[:-1]
    paths = {decode(row.partition(b"\t")[2]) for row in rows}
    now = list_tree(git, commit) if paths else {}
    # Without the sides first: they stand beside an entry of the same path.
    moves = [Difference(path, None, new) for path in paths for new in {None, now.get(path)}]
    return not moves or _write_index(git, moves)


def _parse_differences(content: bytes) -> list[Difference]:
    rows = content.split(b"\0")
    return list(map(_parse_difference, rows[:-1:2], rows[1::2]))


@parsing("diff-tree")
def _parse_difference(about: bytes, path: bytes) -> Difference:
    was, now, blob, fresh, _ = about.decode("ascii").removeprefix(":").split(" ")
    return Difference(decode(path), _make_entry(was, blob), _make_entry(now, fresh))


# The hash of no entries, which git knows without an object.
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def _tree_name(commit: str) -> str:
    return f"{commit}^{{tree}}" if commit else EMPTY_TREE


def _make_entry(mode: str, blob: str) -> Entry | None:
    return None if mode == "000000" else Entry(mode, blob)


def _entry_key(entry: Entry | None) -> tuple[str, str] | None:
    return None if entry is None else (entry.mode, entry.blob)


def _write_index(git: Git, moves: list[Difference]) -> bool:
    # Absences first, they make room.
    ordered = sorted(moves, key=lambda move: move.new is not None)
    feed = b"".join(map(_index_line, ordered))
    index = (git.folder or git.root / ".git") / "index"
    seen = index.stat().st_mtime_ns if index.is_file() else 0
    # Git compares files that are as young as its index, by the filters that the repository's
    # settings name: it gets no files to see, and the old time of the index has it look later.
    with tempfile.TemporaryDirectory(prefix="kimi-memory-") as nowhere:
        command = ("-C", nowhere, "update-index", "--replace", "-z", "--index-info")
        place = {"GIT_DIR": str(index.parent), "GIT_WORK_TREE": nowhere}
        result = git.call(*command, feed=feed, **place)
    if seen and result.code == 0:
        os.utime(index, ns=(seen, seen))
    return result.code == 0


def _index_line(move: Difference) -> bytes:
    mode, blob = move.new[:2] if move.new else ("0", NOTHING)
    return f"{mode} {blob}\t".encode() + encode(move.path) + b"\0"
