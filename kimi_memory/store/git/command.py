"""The git binary: every call with the same safe settings, and its failures in words.

A repository may come from somebody else, and its configuration can name programs.
So a call never discovers a repository, never runs hooks, filters, monitors, pagers or
transports, and never sees the caller's GIT_* variables.

What we know of the last commit and of the files it was made from is kept under ``.kimi/``. It only
spares reading files that did not change, and is thrown away when it does not carry its own sum.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path
from typing import NamedTuple

from kimi_memory.errors import HistoryError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.disk import UNKNOWN, Stat, Stats, put, signature, worth_writing

NAME = "kimi_memory"
EMAIL = "kimi-memory@localhost"
SAFE = {
    "core.fsync": "all",
    "core.fsyncMethod": "fsync",
    # Git would pack in the background, in the middle of our next commit, and remove what a purge
    # has yet to count.
    "gc.auto": "0",
    "maintenance.auto": "false",
    # Bytes are hashed by us and by git: they must be the same on every system.
    "core.autocrlf": "false",
    "core.fileMode": "false",
    "core.quotePath": "false",
    # macOS hands out file names in another Unicode form than it was given.
    "core.precomposeUnicode": "true",
    "merge.conflictStyle": "diff3",
    # A folder that was emptied was not renamed: sessions only moved to the archive.
    "merge.renames": "false",
    "merge.directoryRenames": "false",
}
"""Settings that init writes into a repository, and that every call repeats."""

_CALL = {
    **SAFE,
    # What a folder from somebody else may name, and git would run or read: hooks, monitors,
    # attributes.
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.untrackedCache": "false",
    "protocol.ext.allow": "never",
    # A file tree may hold a bare repository with settings of its own; git must not find it.
    "safe.bareRepository": "explicit",
    "i18n.commitEncoding": "utf-8",
    "i18n.logOutputEncoding": "utf-8",
    # Few objects are written one by one; a pack for each small commit would leave thousands of
    # packs.
    "fastimport.unpackLimit": "100",
}
FLAGS = [
    "--no-pager",
    *(part for key, value in _CALL.items() for part in ("-c", f"{key}={value}")),
]
"""What every call begins with."""
_ENVIRONMENT = {
    # The same answers on every machine: neither the administrator's settings nor the user's apply.
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    # Nobody sits at a hook of an agent program to type a password.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    # Reading must not lock the index against a person's own command.
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    # A partial clone fetches missing objects by running what its configuration names.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_AUTHOR_NAME": NAME,
    "GIT_AUTHOR_EMAIL": EMAIL,
    "GIT_COMMITTER_NAME": NAME,
    "GIT_COMMITTER_EMAIL": EMAIL,
    # Failures are known by git's English words, see `_REMEDIES`.
    "LC_ALL": "C",
}
_REACHING = ("GIT_SSH_COMMAND", "GIT_SSH", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_CONFIG_GLOBAL")
"""Variables by which a person says how servers are reached."""
_REMEDIES = (
    ("dubious ownership", "Run as the owner of the folder, or change its owner with chown"),
    (".lock'", "Another git command is running here; retry when it has ended"),
    ("No space left", "Free some space, then retry"),
    ("Out of diskspace", "Free some space, then retry"),
    ("Permission denied", "Make .git writable for you, then retry"),
    ("Read-only file system", "Mount it writable, then retry"),
    ("not a git repository", "Run 'kimi-memory init' to start the history again"),
)
# A git that hangs, such as on a dead network drive, must not hold our lock for ever.
_TIMEOUT_SECONDS = 30.0
# What reads or writes a whole history takes minutes where that is long.
_WHOLE_SECONDS = 600.0
_REST_SECONDS = 60.0
"""So long git is not asked again after it had to be stopped."""
_WHOLE = frozenset(
    {
        *("fsck", "fast-export", "fast-import", "pack-objects", "index-pack", "bundle", "repack"),
        *("gc", "reflog", "commit-graph"),
    }
)
"""Commands over a whole history, which may take their time; --all and --batch say the same."""
MISSING = (
    "git is not installed or not on PATH, so there is no history. Install git "
    "(https://git-scm.com), or set 'git = false' under [history] in memory.toml."
)


def encode(path: str) -> bytes:
    """Return the bytes git stores for a path of ours."""
    return path.encode("utf-8", "surrogateescape")


def decode(path: bytes) -> str:
    """Return a path of ours from git's bytes; bytes that are not UTF-8 survive."""
    return path.decode("utf-8", "surrogateescape")


def clean_environment(**extra: str) -> dict[str, str]:
    """Return our environment without what would steer git, and with what makes it safe."""
    # In a hook of git itself GIT_DIR is set, and names the repository of the person's project.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, **_ENVIRONMENT, **extra}


def ssh_command() -> list[str]:
    """Return how this person calls ssh: as git is to call it, else by its name."""
    return shlex.split(os.environ.get("GIT_SSH_COMMAND", "")) or ["ssh"]


def network_environment() -> dict[str, str]:
    """Return the environment of a call that reaches other machines, as this person does it."""
    found = clean_environment(
        GIT_ALLOW_PROTOCOL="https:ssh:file",
        # Nobody answers a window that asks for a password behind a job.
        GIT_ASKPASS="",
        SSH_ASKPASS_REQUIRE="never",
    )
    for name in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL"):
        del found[name]
    return found | {name: os.environ[name] for name in _REACHING if name in os.environ}


@dataclass(frozen=True, slots=True)
class Result:
    """What a git command answered."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """The answer as one stripped line of text."""
        return self.out.decode("utf-8", "replace").strip()


class Git:
    """Git over one work tree.

    Args:
        root: the work tree.
        folder: the repository's folder; None lets git discover one upwards from root.
        environment: further variables for every call.
    """

    def __init__(
        self,
        root: Path,
        folder: Path | None,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.root, self.folder = root, folder
        extra = dict(environment or {})
        if folder is not None:
            extra |= {"GIT_DIR": str(folder), "GIT_WORK_TREE": str(root)}
        self.variables = extra
        """What every call finds in its environment."""
        self._rests_until = 0.0

    def aside(self, folder: Path) -> Git:
        """Return git over an empty repository that sees all objects of this one.

        Args:
            folder: an empty folder, where it is made; what it writes goes there.
        """
        for name in ("objects", "refs"):
            (folder / name).mkdir()
        # By hand: `git init` takes longer than the diff that is asked for.
        (folder / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
        objects = quote_path(self.common() / "objects")
        environment = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": objects}
        return Git(self.root, folder, environment=environment)

    def call(self, *arguments: str | bytes, feed: bytes = b"", **extra: str) -> Result:
        """Run a command; its failure is a result.

        Raises:
            HistoryError: git is not there, did not end, or did not end a moment ago.
        """
        if time.monotonic() < self._rests_until:
            raise self._hanging_error(arguments)
        try:
            with self._start(arguments, extra) as process:
                try:
                    out, err = process.communicate(feed, call_timeout(arguments))
                finally:
                    # Leaving closes the pipes, and waits for nothing but the process itself.
                    if process.returncode is None:
                        end_group(process)
        except FileNotFoundError as error:
            raise self._missing_git_error() from error
        except subprocess.TimeoutExpired as error:
            raise self.give_up(arguments, error.timeout) from error
        except OSError as error:
            raise HistoryError(f"git could not be run: {error}. Retry.") from error
        return Result(process.returncode, out, err.decode("utf-8", "replace"))

    def run(self, *arguments: str | bytes, feed: bytes = b"", **extra: str) -> bytes:
        """Run a command and return its output.

        Raises:
            HistoryError: it failed; the message holds git's own words and a remedy.
        """
        result = self.call(*arguments, feed=feed, **extra)
        if result.code != 0:
            raise refusal(arguments, result.err)
        return result.out

    def stream(self, *arguments: str, **extra: str) -> subprocess.Popen[bytes]:
        """Start a command that is fed piece by piece, and answers.

        Raises:
            HistoryError: git is not there, or did not end a moment ago.
        """
        if time.monotonic() < self._rests_until:
            raise self._hanging_error(arguments)
        try:
            return self._start(arguments, extra)
        except FileNotFoundError as error:
            raise self._missing_git_error() from error

    def _start(
        self, arguments: Sequence[str | bytes], extra: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            ["git", *FLAGS, *arguments],
            cwd=self.root,
            env=clean_environment(**(self.variables | extra)),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            # A wrapper of git may start others, which hold its pipes: all of them end together.
            process_group=0,
        )

    def give_up(self, arguments: Sequence[str | bytes], seconds: float) -> HistoryError:
        """Ask git nothing for a while, and return the error that says that it hangs."""
        # A command asks git ten times, and would wait for each.
        self._rests_until = time.monotonic() + _REST_SECONDS
        return self._hanging_error(arguments, seconds)

    def _hanging_error(self, arguments: Sequence[str | bytes], seconds: float = 0) -> HistoryError:
        within = f"did not end within {seconds:g} seconds, so it was stopped"
        why = within if seconds else "was not started, as one before did not end"
        return HistoryError(
            f"git {_command_name(arguments)} {why}. "
            "Look for what holds it up (a slow disk, another git), then retry."
        )

    def _missing_git_error(self) -> HistoryError:
        gone = f"The folder {self.root} is gone. Bring it back, then retry."
        return HistoryError(MISSING if self.root.is_dir() else gone)

    def common(self) -> Path:
        """Return the folder that worktrees of one repository share."""
        folder = self.folder or self.root / ".git"
        if not (folder / "commondir").exists():
            return folder
        shown = self.run("rev-parse", "--path-format=absolute", "--git-common-dir")
        return Path(os.fsdecode(shown.removesuffix(b"\n")))


def call_timeout(arguments: Sequence[str | bytes]) -> float:
    """Return how long a command may take, in seconds."""
    name = _command_name(arguments)
    told = any(os.fsdecode(one).startswith(("--all", "--batch", "--stdin")) for one in arguments)
    # What a commit asks first must not wait for minutes.
    whole = name in _WHOLE or (told and name not in ("check-ignore", "update-ref"))
    return _WHOLE_SECONDS if whole else _TIMEOUT_SECONDS


def _command_name(arguments: Sequence[str | bytes]) -> str:
    return os.fsdecode(arguments[0]) if arguments else ""


def one_line(text: str) -> str:
    """Return text that fits on one line of a commit message."""
    sound = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join("".join(c if c.isprintable() else " " for c in sound).split())


def quote_path(path: Path) -> str:
    """Return a path as an element of a list that colons separate."""
    plain = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group, with all that it started."""
    # It ended by itself just now, or is a zombie.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()


@contextmanager
def parsing(command: str) -> Iterator[None]:
    """Turn the failure to read an answer into a HistoryError; also decorates a function."""
    try:
        yield
    # A wrapper of git may write anything; what git itself writes can be parsed.
    except (ValueError, LookupError, StopIteration) as error:
        raise HistoryError(
            f"git {command} gave an answer that cannot be read. "
            "Look which git is the first on PATH, then retry."
        ) from error


def refusal(arguments: Sequence[str | bytes], err: str) -> HistoryError:
    """Return the error for a git command that failed."""
    remedy = next((r for mark, r in _REMEDIES if mark in err), "Run 'kimi-memory doctor'")
    return HistoryError(
        f"git {_command_name(arguments)} failed: {last_words(err).rstrip('.')}. {remedy}."
    )


def last_words(err: str) -> str:
    """Return the line of git's messages that says why it failed."""
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    said = next((line for line in lines if line.startswith(("fatal:", "error:"))), "")
    return said or (lines[-1] if lines else "it gave no reason")


_FORMAT = 4


class Entry(NamedTuple):
    """One path of the last commit; ten thousand are made per commit, hence no dataclass."""

    mode: str
    blob: str
    stat: Stat = UNKNOWN
    """The file that had this content when we last looked."""


@dataclass(slots=True)
class Cache:
    """The last commit as we left it."""

    head: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)
    index: Stat = UNKNOWN
    """How the person's index looked when it held this commit and nothing else."""


class CacheFile:
    """The cache on disk, and what this process knows beyond it.

    To write ten thousand rows for a handful of changes would cost more than the commit,
    so few are kept in memory until there are more, or until `save`. Who finds the file
    behind the branch reads the tree of the branch instead, see `carry`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cache, self._stat, self._news = Cache(), UNKNOWN, 0

    def load(self) -> Cache:
        """Return what is known; the file is read where it is another than last time."""
        found = self._file_signature()
        if found != self._stat:
            self._cache, self._news = load_cache(self._path), 0
            self._stat = found if self._cache.head else UNKNOWN
        return self._cache

    def keep(self, cache: Cache, news: int) -> None:
        """Replace the cache, by `news` new rows; write the file once many are not in it."""
        self._cache, self._news = cache, self._news + news
        unsaved = self._news and self._stat == UNKNOWN
        if unsaved or worth_writing(self._news, len(cache.entries)):
            self._write_cache()

    def save(self) -> None:
        """Write what is not in the file, unless it was written or removed by another process.

        What was purged there must not come back from here.

        Raises:
            HistoryError: it could not be written.
        """
        # Another process wrote meanwhile and knows more; the commit itself is not in doubt.
        if self._news and self._file_signature() == self._stat:
            self._write_cache()

    def _write_cache(self) -> None:
        save_cache(self._path, self._cache)
        self._stat, self._news = self._file_signature(), 0

    def _file_signature(self) -> Stat:
        try:
            return signature(self._path.stat())
        except OSError:
            # None was written yet, or it was purged.
            return UNKNOWN


def load_cache(path: Path) -> Cache:
    """Return the cache, empty when there is none or it is damaged."""
    try:
        mark, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return Cache()
    # A damaged row would let a changed file look unchanged, and a commit leave it out.
    if mark != hashlib.sha256(body).hexdigest().encode():
        return Cache()
    try:
        form, head, index, rows = json.loads(body)
        entries = {r[0]: Entry(str(r[1]), str(r[2]), tuple(r[3:])) for r in rows}
    except (ValueError, TypeError, LookupError):
        # It can be made anew from git, so its faults are nobody's business.
        return Cache()
    return Cache(str(head), entries, tuple(index)) if form == _FORMAT else Cache()


def save_cache(path: Path, cache: Cache) -> None:
    """Keep the cache; it is written whole or not at all."""
    rows = [(path, e.mode, e.blob, *e.stat) for path, e in cache.entries.items()]
    body = json.dumps([_FORMAT, cache.head, cache.index, rows], separators=(",", ":")).encode()
    put(path, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def behind(cache: Cache, looks: Stats) -> set[str]:
    """Return the paths that may differ from the commit, by how all files looked."""
    entries = cache.entries
    changed = {
        path
        for path, stat in looks.items()
        # What cannot be known from a look is read.
        if path not in entries or stat == UNKNOWN or entries[path].stat != stat
    }
    return changed | (entries.keys() - looks.keys())


def carry(old: Mapping[str, Entry], fresh: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return fresh entries with the signatures we know of where the content is the same."""
    known = {path: entry.stat for path, entry in old.items()}
    return {
        path: entry._replace(stat=known[path])
        if path in old and old[path].blob == entry.blob
        else entry
        for path, entry in fresh.items()
    }
