"""Making a commit of what is on disk: no staging area, no hooks, no lost race.

Contents, trees and the commit are written by one `git fast-import`. Contents reach git as a
stream, never as a path: what we read is what is committed, and no filter of the repository runs.
Only folders in which something changed are looked at, so the cost of a commit follows the size of
the change and not that of the memory. Format: https://git-scm.com/docs/git-fast-import#_input_format
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Protocol

from kimi_memory.domain.operation_types import Commit
from kimi_memory.errors import HistoryError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.disk import UNKNOWN, Stat, Stats
from kimi_memory.store.git.command import (
    EMAIL,
    NAME,
    Cache,
    CacheFile,
    Git,
    behind,
    call_timeout,
    carry,
    encode,
    end_group,
    load_cache,
    one_line,
    refusal,
)
from kimi_memory.store.git.head import branch, checked_out
from kimi_memory.store.git.tree import (
    EMPTY_TREE,
    NOTHING,
    Compared,
    Difference,
    Owed,
    compare,
    list_tree,
)

if TYPE_CHECKING:
    from kimi_memory.store.git.signing_key import SigningKey

_COMMAND = ("fast-import",)
_PASSING = b"refs/kimi-memory-commit"
"""The branch that a commit needs while it is made; it is never written."""


class Import:
    """A stream of objects into a repository; git starts with the first."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None
        self._broken = False
        # Of each step: the stream as a whole may take as long as it has contents.
        self._seconds = call_timeout(())
        self._waits_since, self._hangs, self._ended = 0.0, False, Event()

    def __enter__(self) -> Import:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._process is None:
            return
        if error is not None:
            # The end of a stream counts as a good one, so git would keep what it got until then.
            end_group(self._process)
        try:
            _, err = self._process.communicate(timeout=call_timeout(_COMMAND))
        except subprocess.TimeoutExpired:
            self._hangs = True
            end_group(self._process)
            _, err = self._process.communicate()
        self._ended.set()
        failed = self._broken or self._process.returncode != 0
        if failed:
            self._remove_crash_report(self._process.pid)
        if self._hangs:
            raise self._git.give_up(_COMMAND, self._seconds) from error
        if failed and error is None:
            raise refusal(_COMMAND, err.decode("utf-8", "replace"))

    def _remove_crash_report(self, pid: int) -> None:
        """Remove the report that git leaves of its failure: it repeats what it was sent."""
        folder = self._git.folder or self._git.root / ".git"
        (folder / f"fast_import_crash_{pid}").unlink(missing_ok=True)

    def add(self, content: bytes) -> None:
        """Add one content."""
        self._feed_stream(b"blob\n" + _format_data(content))

    def commit(
        self, head: str, differences: Iterable[Difference], message: bytes, who: bytes
    ) -> str:
        """Add a commit; it may be published once the stream has ended well.

        Args:
            head: the commit it follows, empty for none.
            differences: what it changes; their contents were added before.
            message: the whole of it.
            who: author and committer, see `log.ident`.

        Returns:
            The name of the commit, empty where git failed, as the end of the stream tells.
        """
        parent = b"from %b\n" % head.encode() if head else b""
        return self._add_commit(message, who, parent + _format_differences(differences))

    def describe(self, head: str, message: bytes, who: bytes) -> bytes:
        """Return what the last commit says, given what it was made of; empty where git failed."""
        self._feed_stream(b'ls :1 ""\n')
        # Mode, kind and name of the tree, then an empty path.
        tree = self._read_answer().split("\t")[0].rpartition(" ")[2]
        parent = f"parent {head}\n" if head else ""
        start = f"tree {tree}\n{parent}".encode()
        return start + b"author %b\ncommitter %b\n\n%b" % (who, who, message) if tree else b""

    def merge(
        self, parents: tuple[str, str], files: Iterable[Difference], message: bytes, who: bytes
    ) -> str:
        """Add a commit of two parents that has these files and no others; return its name."""
        first, second = (one.encode() for one in parents)
        heads = b"from %b\nmerge %b\ndeleteall\n" % (first, second)
        return self._add_commit(message, who, heads + _format_differences(files))

    def _add_commit(self, message: bytes, who: bytes, rest: bytes) -> str:
        self._feed_stream(
            b"commit %b\nmark :1\nauthor %b\ncommitter %b\n%b%b"
            % (
                _PASSING,
                who,
                who,
                _format_data(message),
                rest,
            )
        )
        # The commit is named but no branch of git's moves: that happens with a check, see
        # `Committer`.
        self._feed_stream(b"get-mark :1\nreset %b\nfrom %b\n\n" % (_PASSING, NOTHING.encode()))
        return self._read_answer()

    def _feed_stream(self, part: bytes) -> None:
        if self._process is None:
            # To look for likeness to the last content takes longer than it saves.
            self._process = self._git.stream(*_COMMAND, "--quiet", "--depth=0")
            Thread(target=self._stop_hanging, args=(self._process,), daemon=True).start()
        if self._broken or self._process.stdin is None:
            return
        try:
            self._waits_since = time.monotonic()
            self._process.stdin.write(part)
        except BrokenPipeError:
            # Its exit code and words are read when the stream is closed.
            self._broken = True
        finally:
            self._waits_since = 0.0

    def _stop_hanging(self, process: subprocess.Popen[bytes]) -> None:
        """End a git that takes nothing in, or gives no answer, for too long."""
        while not self._hangs:
            if self._ended.wait(self._seconds / 8):
                return
            since = self._waits_since
            self._hangs = bool(since) and time.monotonic() - since >= self._seconds
        end_group(process)

    def _read_answer(self) -> str:
        process = self._process
        if self._broken or process is None or process.stdin is None or process.stdout is None:
            return ""
        try:
            self._waits_since = time.monotonic()
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        finally:
            self._waits_since = 0.0
        self._broken = not answer
        # What is no name of an object is refused by the command that it is given to.
        return answer.decode("ascii", "replace").strip()


def _format_data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def _format_differences(differences: Iterable[Difference]) -> bytes:
    """Return the differences as the stream has them; absences first, they make room."""
    # A folder may become a file of the same name: first it has to be empty.
    ordered = sorted(differences, key=lambda difference: difference.new is not None)
    return b"".join(map(_format_difference, ordered))


def _format_difference(difference: Difference) -> bytes:
    path, new = quoted(difference.path), difference.new
    if new is None:
        return b"D %b\n" % path
    return b"M %b %b %b\n" % (new.mode.encode(), new.blob.encode(), path)


def quoted(path: str) -> bytes:
    """Return a path as the stream has it, whatever it holds."""
    # Quoted always: a path may hold a line break, which would begin a command of the stream.
    plain = encode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return b'"%b"' % plain.replace(b"\n", b"\\n")


# A try is lost only where somebody else committed meanwhile.
_TRIES = 5
# Long enough that no living process still writes a file of that age.
_LEFTOVER_SECONDS = 3600.0
_BUSY = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}

FORMAT = "%H%x00%aI%x00%an%x00%s%x00%(trailers:only=true,unfold=true)%x00"
_FIELDS = 5
# Programs show one line of it, and a title may be as long as a card.
_LONGEST_SUBJECT = 300


@dataclass(frozen=True, slots=True)
class Where:
    """What a commit looks at: everything, unless it is known what may have changed."""

    only: Collection[str] | None = None
    """These paths and no others."""
    looks: Stats | None = None
    """How all files of truth looked; paths that look as they did at the last commit are left."""
    empty: bool = False
    """Whether a commit is made that changes nothing, too."""

    def paths(self, cache: Cache) -> Collection[str] | None:
        """Return the paths to look at; None for all."""
        return self.only if self.looks is None else behind(cache, self.looks)


EVERYWHERE = Where()
Ship = Callable[[Git, tuple[str, str], Sequence[Difference], Callable[[], bool]], bool]
"""Ships a commit, given its name and its parent and what it changes, then moves the branch."""


class Shipping(Protocol):
    """Ships commits before the branch moves."""

    def turn(self, *, whole: bool) -> AbstractContextManager[bool]:
        """Let nothing be written while a commit is made; give whether it is ours to make."""

    @property
    def ship(self) -> Ship:
        """What ships a commit and then moves the branch."""


def busy_with(folder: Path) -> str:
    """Return what the person has under way in the repository, else an empty string."""
    return next((verb for name, verb in _BUSY.items() if (folder / name).exists()), "")


def writable_branch(git: Git, folder: Path) -> tuple[str, str]:
    """Return the branch to commit to.

    Raises:
        HistoryError: the person is in the middle of something.
    """
    # A commit in the middle of a merge would end it for them, with our message and without their
    # answer.
    verb = busy_with(folder)
    if verb:
        ours = "'kimi-memory merge --continue' or with " if verb == "merge" else ""
        raise HistoryError(
            f"A {verb} is under way in this memory. Finish it with {ours}git, or abort it; "
            "what was written since is committed afterwards."
        )
    ref, head = branch(git)
    # A commit on no branch is lost at the next checkout.
    if not ref:
        raise HistoryError(
            "The memory is on no branch (detached HEAD). Go back with 'git switch -', or, if git "
            "refuses, make a branch of it with 'git switch -c NAME' for 'kimi-memory merge NAME'; "
            "what was written since is committed afterwards."
        )
    return ref, head


class Committer:
    """Commits of one repository, made while our lock is held.

    Args:
        git: the repository.
        folder: its folder.
        side: where derived files lie.
        kept: what is known of the last commit.
        signing: signs the commits; None for none.
        ship: ships them before the branch moves; None where nobody follows.
    """

    def __init__(
        self,
        git: Git,
        folder: Path,
        side: Path,
        kept: CacheFile,
        signing: SigningKey | None = None,
        *,
        ship: Ship | None = None,
    ) -> None:
        self._git, self._folder, self._kept = git, folder, kept
        self._side, self._signing, self._ship = side, signing, ship
        self._owed = Owed(side / "git-owed")

    def commit(self, message: bytes, who: bytes, where: Where = EVERYWHERE) -> str:
        """Commit what differs from the branch; return the commit, empty for no difference.

        Raises:
            HistoryError: git refused, or the person is in the middle of something.
        """
        self._remove_leftovers()
        # A person may commit at any moment: then the branch has moved, and what differs is looked
        # for again.
        for _ in range(_TRIES):
            ref, head = writable_branch(self._git, self._folder)
            self._owed.settle(self._git)
            made = self._try_commit((ref, head), message, who, where)
            if made is not None:
                return made
        raise HistoryError("Somebody keeps committing to this memory at the same time. Retry.")

    def _try_commit(
        self, on: tuple[str, str], message: bytes, who: bytes, where: Where
    ) -> str | None:
        """Return the new commit, an empty string for none, None when the branch moved."""
        ref, head = on
        cache, unknown = cache_at_commit(self._git, self._kept.load(), head)
        commit, raw = "", b""
        with Import(self._git) as objects:
            found = compare(self._git, cache.entries, objects.add, where.paths(cache))
            if found.differences or where.empty:
                if self._signing is not None:
                    message = self._signing.describe(message, found.differences)
                commit = objects.commit(head, found.differences, message, who)
                if self._signing is not None:
                    raw = objects.describe(head, message, who)
        if commit and self._signing is not None:
            commit = self._signing.sign(self._git, commit, raw)
        if commit:
            # Noted before the branch moves: killed in between, the next commit still carries the
            # index along.
            self._owed.note(head, commit)
            if not self._publish(ref, (commit, head), found.differences):
                return None
        clean = _update_cache(cache, found, commit or head)
        self._kept.keep(cache, unknown + len(found.renewed) + len(found.differences))
        if commit:
            known = {(head, commit): found.differences}
            cache.index = self._owed.settle(self._git, known, clean)
        return commit

    def _publish(self, ref: str, made: tuple[str, str], changed: Sequence[Difference]) -> bool:
        """Move the branch to a commit, in the log before where it has one; False for moved."""
        move = partial(self._move_branch, ref, *made)
        return move() if self._ship is None else self._ship(self._git, made, changed, move)

    def _move_branch(self, ref: str, commit: str, head: str) -> bool:
        """Move the branch; False when it is not where we found it."""
        note = f"-mkimi_memory: {commit[:12]}"
        # With the old commit named, git moves the branch only where nobody else did.
        result = self._git.call("update-ref", note, ref, commit, head or NOTHING)
        if result.code == 0:
            return True
        if branch(self._git) == (ref, head):
            raise refusal(("update-ref",), result.err)
        return False

    def _remove_leftovers(self) -> None:
        for left in self._side.glob("git-*-*"):
            if time.time() - left.stat().st_mtime > _LEFTOVER_SECONDS:
                left.unlink(missing_ok=True)


def cache_at_commit(git: Git, cache: Cache, head: str) -> tuple[Cache, int]:
    """Return what is known of a commit, and how much of it is news to a cache."""
    if cache.head == head:
        return cache, 0
    entries = carry(cache.entries, list_tree(git, head))
    return Cache(head, entries), 1 + len(entries.items() ^ cache.entries.items())


def _update_cache(cache: Cache, found: Compared, commit: str) -> Stat:
    """Make the cache that of a commit in which the differences are carried out.

    Returns:
        What it said of the index, which was of the commit before.
    """
    clean = cache.index
    if commit != cache.head:
        cache.index = UNKNOWN
    cache.head = ""  # Until it is done, it is of no commit.
    cache.entries |= found.renewed
    for difference in found.differences:
        if difference.new is None:
            cache.entries.pop(difference.path, None)
        else:
            cache.entries[difference.path] = difference.new
    cache.head = commit
    return clean


@contextmanager
def disk_tree(git: Git, side: Path) -> Iterator[tuple[Git, str]]:
    """Give a commit of what is on disk, and git to see it with; the repository stays as it is."""
    head = checked_out(git)
    with tempfile.TemporaryDirectory(prefix="kimi-memory-") as place:
        aside = git.aside(Path(place))
        cache, _ = cache_at_commit(git, load_cache(side / "git-cache"), head)
        made = ""
        with Import(aside) as objects:
            found = compare(git, cache.entries, objects.add)
            if found.differences:
                # A fixed moment: the same files on disk give the same commit, however often they
                # are asked for.
                who = ident(datetime.fromtimestamp(0, UTC))
                made = objects.commit(head, found.differences, b"On disk\n", who)
        yield aside, made or head or EMPTY_TREE


def message(subject: str, trailers: Mapping[str, str]) -> bytes:
    """Return a commit message; trailers without a value are left out."""
    title = one_line(subject)[:_LONGEST_SUBJECT] or "Update memory"
    lines = [f"{trailer_name(name)}: {value}" for name, value in _clean_trailers(trailers)]
    return "\n".join([title, *([""] if lines else []), *lines, ""]).encode()


def _clean_trailers(trailers: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, one_line(value)) for name, value in trailers.items() if one_line(value)]


def trailer_name(name: str) -> str:
    """Return a name git recognises as that of a trailer."""
    return re.sub(r"[^A-Za-z0-9-]+", "-", name).strip("-") or "Note"


def ident(at: datetime) -> bytes:
    """Return who makes our commits at a moment, as git's objects have it."""
    # Git knows no moment before its epoch, and no zone with seconds.
    zone = f"{at.astimezone(at.tzinfo):%z}"[:5]
    return f"{NAME} <{EMAIL}> {max(0, int(at.timestamp()))} {zone}".encode()


def parse_log(output: bytes) -> list[Commit]:
    """Return the commits that git listed in FORMAT."""
    fields = output.decode("utf-8", "replace").split("\0")
    whole = len(fields) // _FIELDS
    return [_parse_commit(fields[n * _FIELDS : (n + 1) * _FIELDS]) for n in range(whole)]


def _parse_commit(fields: list[str]) -> Commit:
    name, at, author, subject, trailers = fields
    return Commit(name.strip(), _parse_moment(at), subject, author, _parse_trailers(trailers))


def _parse_moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        # A commit of another program may have a date that Python cannot hold.
        return datetime.fromtimestamp(0, UTC)


def _parse_trailers(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}
