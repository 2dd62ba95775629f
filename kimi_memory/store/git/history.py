"""History: the memory folder as a git repository of its own."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_memory.domain.health import Finding
from kimi_memory.domain.operation_types import Commit
from kimi_memory.errors import HistoryError
from kimi_memory.store.files.disk import Stats
from kimi_memory.store.git import read, settings, syncthing
from kimi_memory.store.git.arrivals import arrivals
from kimi_memory.store.git.command import MISSING, CacheFile, Git
from kimi_memory.store.git.commit import Committer, Where, ident, message
from kimi_memory.store.git.head import folder_of, head_at, read_branch_file, read_state
from kimi_memory.store.git.health import examine, unreadable_history
from kimi_memory.store.git.settings import (
    check_adoptable,
    check_owner,
    check_whole,
    is_clone,
    remove_stale,
    settle_outside,
)
from kimi_memory.store.git.tree import IGNORED, renew_ignored, sync_repository, write_absent

if TYPE_CHECKING:
    from kimi_memory.store.git.commit import Ship, Shipping
    from kimi_memory.store.git.merge_commit import Merger
    from kimi_memory.store.git.signing_key import SigningKey

__all__ = ["Commit", "History"]

_LONGEST_NAME = 120
"""Bytes of a version's name: it is a file's name in the repository."""


class History:
    """Commits of a memory folder.

    Reading takes no lock. `init` and `commit` take the git lock themselves, so nobody
    may call them while holding it.

    Args:
        root: the memory folder.
        lock: gives the git lock of this memory.
        clock: tells the time of commits.
        enabled: False for a memory that keeps no history; then nothing is done.
        signing: returns what signs commits; None for nothing.
        shipping: ships commits, where other nodes make the same ones.
    """

    def __init__(
        self,
        root: Path,
        *,
        lock: Callable[[], AbstractContextManager[object]],
        clock: Callable[[], datetime],
        enabled: bool = True,
        signing: Callable[[], SigningKey | None] = lambda: None,
        shipping: Shipping | None = None,
    ) -> None:
        self.root, self.enabled, self._signing, self._shipping = root, enabled, signing, shipping
        self._lock, self._clock, self._side = lock, clock, root / ".kimi"
        self._found: Git | None = None
        self._unsettled, self._head = False, ""
        # For the life of the process: a daemon commits often, and reading ten thousand rows each
        # time costs more than the commit.
        self._kept = CacheFile(self._side / "git-cache")
        self._arrived: dict[bool, tuple[object, Mapping[str, frozenset[str]]]] = {}

    def init(self) -> list[str]:
        """Make the folder a repository, or renew the settings of ours; return notes.

        Raises:
            HistoryError: git is missing, or another repository has a claim on the folder.
        """
        if not self.enabled:
            return []
        # First of all, so that a machine without git is refused before anything is made.
        if shutil.which("git") is None:
            raise HistoryError(MISSING)
        notes: list[str] = []
        with self._hold_lock() as since:
            if os.path.lexists(self.root / ".git"):
                self._claim_repository()
            else:
                notes = settle_outside(self.root)
                self._create_repository(Git(self.root, self.root / ".git"))
            git = self.repository()
            folder = folder_of(git)
            remove_stale({folder, git.common()}, self.root, since)
            self._write_settings(git, folder)
        return notes

    def ready(self) -> bool:
        """Whether there is a repository of ours here that can be used."""
        try:
            return self._find_git() is not None
        except HistoryError:
            return False

    def commit(
        self,
        subject: str,
        *,
        trailers: Mapping[str, str] | None = None,
        only: Collection[str] | None = None,
        looks: Stats | None = None,
        signing: SigningKey | None = None,
    ) -> str:
        """Commit what is on disk; return the commit, an empty string when nothing changed.

        Args:
            subject: first line of the message.
            trailers: machine-readable lines at its end, such as ``Job`` and ``Kind``.
            only: the paths to look at, where it is known that no other matters.
            looks: how all files of truth look, where they were just looked at.
            signing: signs this commit, which is made also where nothing changed.

        Raises:
            HistoryError: no repository of ours, git refused, or a merge is under way.
        """
        if not self.enabled:
            return ""
        text, where = message(subject, trailers or {}), Where(only, looks, signing is not None)
        if self._shipping is None:
            return self._commit(text, where, signing)
        with self._shipping.turn(whole=only is None) as ours:
            # Elsewhere, the node that leads makes the commit, and this one follows.
            return self._commit(text, where, signing, self._shipping.ship) if ours else ""

    def _commit(
        self, text: bytes, where: Where, signing: SigningKey | None, ship: Ship | None = None
    ) -> str:
        git = self.repository()
        with self._hold_lock() as since:
            folder = folder_of(git)
            check_owner(self.root, git.common())
            remove_stale({folder, git.common()}, self.root, since)
            self._renew_settings(git, folder)
            key = signing or self._signing()
            committer = Committer(git, folder, self._side, self._kept, key, ship=ship)
            if made := committer.commit(text, ident(self._clock()), where):
                self._head = made
            return made

    def merger(self, *, begun: bool = False) -> Merger:
        """Return what joins another commit with the current one.

        Args:
            begun: a merge that git began is to be finished.

        Raises:
            HistoryError: no whole repository of ours, or a person is in the middle of something.
        """
        from kimi_memory.store.git.merge_commit import Merger  # few processes merge

        git = self.repository()
        check_whole(git)
        folder, ships = folder_of(git), self._shipping
        return Merger(git, folder, self._side, self._lock, begun=begun, shipping=ships)

    def close(self) -> None:
        """Keep what is known of the last commit, or the next process asks git."""
        # The next process asks git instead, which takes longer.
        with suppress(HistoryError):
            self._kept.save()

    def log(self, *, limit: int = 20, path: str = "") -> list[Commit]:
        """Return the newest commits, newest first; of a path where one is given."""
        git = self._find_git()
        return [] if git is None else read.read_log(git, limit, path)

    def find(self, trailer: str, value: str) -> Commit | None:
        """Return the newest commit that carries this trailer with this value."""
        git = self._find_git()
        return None if git is None else read.find_trailer(git, trailer, value)

    def since(self, old: str = "") -> list[Commit]:
        """Return the commits that came after an old one, newest first; all for none."""
        git = self._find_git()
        return [] if git is None else read.read_since(git, old)

    def graph(self, commit: str = "HEAD", since: str = "") -> list[read.GraphRow]:
        """Return a commit and what it descends from and an old one does not, parents first.

        Raises:
            HistoryError: there is no history.
        """
        rows = read.read_graph(self.repository(), commit, since)
        if rows and commit == "HEAD":
            self._head = rows[-1].commit  # Git has it.
        return rows

    def touched(self, commits: Iterable[str]) -> Iterator[read.Touched]:
        """Yield what commits made of their files, in the order of the commits."""
        return read.read_touched(self.repository(), commits)

    def pairs(self, old: str, new: str = "") -> list[read.Pair]:
        """Return the files in which two commits, or one and the disk, differ."""
        return read.read_pairs(self.repository(), self._side, old, new)

    def contents(self, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
        """Return files by commit and path; those that are not there are left out."""
        return read.read_files(self.repository(), places)

    def blame(self, commit: str, path: str, numbers: Sequence[int]) -> dict[int, str]:
        """Return the commit that each of some lines of a file came with, by their numbers.

        Raises:
            HistoryError: the commit has no such file, or not so many lines.
        """
        return read.read_blame(self.repository(), commit, path, numbers)

    def resolve(self, commit: str) -> str:
        """Return the full name of a commit.

        Raises:
            HistoryError: there is no such commit, or no history.
        """
        return read.resolve(self.repository(), commit)

    def names(self) -> dict[str, str]:
        """Return the commits that a person gave a name, by that name."""
        git = self._find_git()
        return {} if git is None else read.read_names(git)

    def set_name(self, name: str, commit: str) -> None:
        """Give a commit a name, or take the name away where the commit is empty.

        Raises:
            HistoryError: git cannot use the name, or there is no history.
        """
        git, ref = self.repository(), f"{read.NAMES}/{name}"
        plain = read.is_plain_name(name) and len(name.encode()) <= _LONGEST_NAME
        if commit and not (plain and git.call("check-ref-format", ref).code == 0):
            raise HistoryError(
                f"{name[:_LONGEST_NAME]!r} cannot be a name. Use letters, digits, '-' and '.', "
                f"{_LONGEST_NAME} bytes at most."
            )
        with self._hold_lock():
            git.run("update-ref", *(("-d", ref) if not commit else (ref, commit)))

    def diff(self, old: str = "HEAD", new: str = "", path: str = "") -> str:
        """Return the diff of two commits, or of one and the disk when `new` is empty."""
        return read.read_diff(self.repository(), self._side, old, new, path)

    def content(self, commit: str, path: str) -> bytes | None:
        """Return a file's bytes in a commit; None where it is not in it."""
        return read.read_content(self.repository(), commit, path)

    def changed(self, commit: str) -> list[tuple[str, str]]:
        """Return what a commit changed against its first parent: A, M or D, and the path."""
        return read.read_changed(self.repository(), commit)

    def versions(self, *folders: str) -> list[read.Version]:
        """Return what each commit made of the files in some folders, newest first."""
        return read.read_versions(self.repository(), folders)

    def arrivals(self, since: float, *, merged: bool = False) -> Mapping[str, frozenset[str]]:
        """Return the blobs that came since a moment, by path; `merged` leaves out a checkout's."""
        git = self._find_git()
        if git is None:
            return {}
        folder = folder_of(git)
        state = read_state(folder)
        # Asked for at every search of a bound caller, and as long as HEAD stands still the answer
        # is the same.
        at, found = self._arrived.get(merged, (None, {}))
        if at != (since, state):
            found = arrivals(git, folder, since, merged=merged)
            self._arrived[merged] = (since, state), found
        return found

    def head_at(self, moment: float) -> str:
        """Return the commit that was current at a moment of the system clock; empty for none."""
        git = self._find_git()
        return "" if git is None else head_at(folder_of(git), moment)

    def blobs(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Return the content of files by the name of their blobs."""
        return read.read_blobs(self.repository(), ids)

    def head(self) -> str:
        """Return the current commit, an empty string before the first."""
        git = self._find_git()
        # Asked at each question about the past; that the commit is there, git said before.
        ref, commit = read_branch_file(git) if git else ("", "")
        if git and (commit != self._head or not ref):
            self._head = read.read_head(git)
        return self._head if git else ""

    def check(self) -> list[Finding]:
        """Return what is wrong with the history."""
        if not self.enabled:
            return []
        try:
            git = self.repository()
            check_owner(self.root, git.common())
            return examine(git, folder_of(git))
        except HistoryError as error:
            # The check of the repository must tell of it, and not fail by it.
            return [unreadable_history(error)]

    @contextmanager
    def _hold_lock(self) -> Iterator[float]:
        with self._lock():
            # Ages of lock files are by the system's clock, whatever ours says.
            yield time.time()

    def repository(self) -> Git:
        """Return git over the repository; HistoryError where there is none of ours."""
        git = self._find_git()
        if git is None and not self.enabled:
            remedy = "Set 'git = true' under [history] in memory.toml, then run 'kimi-memory init'."
            raise HistoryError(f"History is switched off. {remedy}")
        if git is None:
            raise HistoryError("There is no history here. Run 'kimi-memory init' to start one.")
        return git

    def _find_git(self) -> Git | None:
        """Return git over our repository, or over a clone of one; None when there is none."""
        if not self.enabled or not (self.root / ".git").exists():
            return None
        if self._found is None:
            git = self._open_repository()
            if settings.is_marked(git):
                self._found = git
            # A clone carries none of our settings: it may be read, and is made ours at its first
            # write.
            elif is_clone(git):
                self._found, self._unsettled = git, True
        return self._found

    def _open_repository(self) -> Git:
        """Return git over whatever repository has its root here."""
        place = self.root / ".git"
        if place.is_symlink():
            raise HistoryError(f"{place} is a symbolic link. Replace it by the folder it names.")
        # Worktrees and submodules have a file here that names the folder.
        if place.is_file():
            shown = Git(self.root, None).run("rev-parse", "--absolute-git-dir")
            place = Path(os.fsdecode(shown.removesuffix(b"\n")))
        return Git(self.root, place)

    def _claim_repository(self) -> None:
        git = self._open_repository()
        check_owner(self.root, git.common())
        if git.call("rev-parse", "--git-dir").code != 0:
            self._create_repository(git)
        if self._find_git() is None:
            self._check_adoptable(git)
            self._unsettled = True
        self._mark_settled(git)

    def _mark_settled(self, git: Git) -> bool:
        """Mark a repository as ours where that is due; return whether it was."""
        if found := self._unsettled:
            git.run("config", settings.MARK, "true")
            self._unsettled = False
        return found

    def _create_repository(self, git: Git) -> None:
        # Without the user's templates, which may bring hooks, and with fixed names, whatever their
        # settings say.
        named = ("--initial-branch=main", "--object-format=sha1")
        git.run("init", "--quiet", "--template=", *named)
        settings.write_new(git.common() / "config")

    def _check_adoptable(self, git: Git) -> None:
        if (self.root / ".git").is_file():
            raise HistoryError(
                f"{self.root} is a submodule or a worktree of another repository. "
                "Make the memory in a folder of its own."
            )
        check_adoptable(git)

    def _renew_settings(self, git: Git, folder: Path) -> None:
        """Give a clone, or a repository of an earlier version, the settings of ours."""
        renew_ignored(self.root)
        if self._mark_settled(git) or settings.has_old_attributes(self.root):
            self._write_settings(git, folder)

    def _write_settings(self, git: Git, folder: Path) -> None:
        settings.write(git)
        write_absent(self.root / ".gitignore", IGNORED)
        write_absent(self.root / settings.ATTRIBUTES, settings.ATTRIBUTE_TEXT)
        settings.renew_attributes(self.root)
        syncthing.renew_rules(self.root)
        # Settings are not covered by git's own fsync.
        sync_repository(git.common(), folder)
