"""Making a commit of what is on disk: no staging area, no hooks, no lost race."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kimi_memory.domain.operation_types import Commit
from kimi_memory.errors import HistoryError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.disk import UNKNOWN, Stat, Stats
from kimi_memory.store.git.cache import Cache, CacheFile, behind, carry, load_cache
from kimi_memory.store.git.command import EMAIL, NAME, Git, one_line, refusal
from kimi_memory.store.git.fast_import import Import
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
