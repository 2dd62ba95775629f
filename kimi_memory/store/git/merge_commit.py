"""Commits with two parents: what both sides have, and the commit that joins them.

The commit follows from its parents and its files alone, so two machines that merge the same
commits make the same one. Git itself merges nothing: it would run what its settings name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from kimi_memory.errors import AmbiguousIdError, HistoryError
from kimi_memory.store.files.paths import RECEIPTS
from kimi_memory.store.git.bundle import Bundle, Manifest, write_bundle
from kimi_memory.store.git.command import Entry, Git, quote_path
from kimi_memory.store.git.commit import Import, Shipping, ident, message, writable_branch
from kimi_memory.store.git.head import Movement, branch
from kimi_memory.store.git.incoming import brings_purge, has_rewritten, keep_objects, unpack_apart
from kimi_memory.store.git.merge_trees import Versions, find_notes, read_paths, read_versions
from kimi_memory.store.git.network import Deadline
from kimi_memory.store.git.outside_merges import FoundMerge, find_merges
from kimi_memory.store.git.read import find_jobs, find_types, read_head, resolve
from kimi_memory.store.git.remote_copy import SEEN, Place, RemoteCopy
from kimi_memory.store.git.remotes import Remote
from kimi_memory.store.git.settings import check_owner
from kimi_memory.store.git.transfer import carry_history
from kimi_memory.store.git.tree import (
    Difference,
    Owed,
    blob_name,
    clear_conflicts,
    differences,
    list_tree,
)

RULES = "Merge-Rules"
"""The trailer of merges that were made value by value, with the version of the rules."""
_MESSAGE = message("merge: two copies", {"Kind": "merge", RULES: "1"})
_PLAIN = "100644"
_UNDER_WAY = ("MERGE_MSG", "MERGE_MODE", "AUTO_MERGE", "MERGE_HEAD")
"""What git keeps of a merge that is not finished; without the last one it is."""
_HASH = re.compile(r"[0-9a-f]{4,40}")
_FROM_BEFORE = (
    "{} is from before a purge of this memory, or has a commit from there. Nothing of it was "
    "taken. Copy this memory anew to where it is from, and import what only that copy knows."
)
_TO_FOLLOW = (
    "{0} purged a text that the history here still has. Nothing of it was taken. Carry the purge "
    "out here first: kimi-memory purge --follow {0}"
)


class Merger:
    """Joins another commit with the current one.

    Args:
        git: the repository.
        folder: its folder.
        side: where derived files lie.
        lock: gives the git lock of this memory.
        begun: a merge that git began is to be finished.
        shipping: ships a merge before the branch moves; None where nobody follows.
    """

    def __init__(
        self,
        git: Git,
        folder: Path,
        side: Path,
        lock: Callable[[], AbstractContextManager[object]],
        *,
        begun: bool = False,
        shipping: Shipping | None = None,
    ) -> None:
        self._git, self.folder, self._side, self._lock = git, folder, side, lock
        self._shipping = shipping
        self.ref, self.ours = branch(git) if begun else writable_branch(git, folder)
        """The current branch and its commit."""
        # A merge asks several times for the same three trees, of ten thousand files each.
        self._list = cache(partial(list_tree, git))

    def find(self, name: str, *, purged: bool = False) -> str:
        """Return the commit of a branch or another name of it.

        Args:
            name: of the commit.
            purged: something was purged here; nothing from before is taken.

        Raises:
            HistoryError: there is none, or it is from before.
        """
        try:
            found = resolve(self._git, name)
        except HistoryError:
            raise HistoryError(
                f"No folder, branch or commit {name!r}. "
                "Name the folder of a copy, or one of 'kimi-memory branch list'."
            ) from None
        self._check_purges(self._git, found, name, purged=purged)
        return found

    def _check_purges(self, git: Git, theirs: str, name: str, *, purged: bool) -> None:
        """Refuse what would bring back, here or there, what a purge destroyed."""
        brings = brings_purge(git, self.ours, theirs)
        if (purged or brings) and has_rewritten(git, self.ours, theirs):
            raise HistoryError((_TO_FOLLOW if brings else _FROM_BEFORE).format(name))

    def other_side(self) -> str:
        """Return the commit that git was merging; empty where it was merging none, or several."""
        try:
            heads = (self.folder / "MERGE_HEAD").read_text("ascii").split()
        except (OSError, ValueError):
            # Git removed it: the merge is over.
            return ""
        return resolve(self._git, heads[0]) if len(heads) == 1 and self.ref else ""

    def end(self) -> None:
        """Tell git that its merge is done: the person's index becomes that of the branch."""
        with self._lock():
            # Neither command runs what the settings of the repository name.
            self._git.run("read-tree", self.ref)
            for name in _UNDER_WAY:
                (self.folder / name).unlink(missing_ok=True)

    def fetch(self, root: Path, *, purged: bool = False) -> str:
        """Take over the history of another copy that lies in a folder; return its commit.

        Args:
            root: the folder.
            purged: something was purged here; nothing from before is taken.

        Raises:
            HistoryError: it has none, belongs to somebody else, or is from before.
        """
        # Asked before an object comes along.
        both, theirs = self.see(root)
        self._check_purges(both, theirs, str(root), purged=purged)
        # What both descend from need not be sent.
        known = both.call("merge-base", "--all", self.ours, theirs).text.split()
        carry_history(Git(root, root / ".git"), self._git, theirs, known)
        return theirs

    def see(self, root: Path) -> tuple[Git, str]:
        """Return git that sees another copy's objects beside ours, and the copy's commit.

        Raises:
            HistoryError: the folder has no history, or belongs to somebody else.
        """
        place = root / ".git"
        if place.is_symlink() or not place.is_dir():
            raise HistoryError(f"{root} has no history. Run 'kimi-memory init' there.")
        other = Git(root, place)
        check_owner(root, other.common())
        if not (theirs := read_head(other)):
            raise HistoryError(f"{root} has no commit yet. Commit there first, or name another.")
        objects = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": quote_path(other.common() / "objects")}
        return Git(self._git.root, self.folder, environment=objects), theirs

    def open_bundle(self, bundle: Bundle) -> AbstractContextManager[Git]:
        """Give git that sees what a bundle brings beside our objects."""
        return unpack_apart(self._git, self._side, bundle)

    def reach(self, remote: Remote, deadline: Deadline) -> RemoteCopy:
        """Return what speaks with a remote."""
        place = Place(self._git, self._side, self._lock, self.ref, self.ours)
        return RemoteCopy(place, remote, deadline)

    def find_seen(self, remote: str) -> str:
        """Return the last commit of a remote's branch that was taken or sent; empty for none."""
        ref = self._seen_ref(remote)
        # Asked at each sync, also where nothing is new: a call of git takes as long as the rest.
        with suppress(OSError, ValueError):
            found = (self._git.common() / ref).read_text("ascii").strip()
            if _HASH.fullmatch(found):
                return found
        return self._git.call("rev-parse", "-q", "--verify", ref).text

    def note_seen(self, remote: str, commit: str) -> None:
        """Note what the branch of a remote is."""
        with self._lock():
            self._git.run("update-ref", self._seen_ref(remote), commit)

    def forget_seen(self, remote: str) -> None:
        """Forget what a remote had, on every branch."""
        form = ("--format=delete %(refname)", f"{SEEN}/{remote}/")
        with self._lock():
            self._git.run("update-ref", "--stdin", feed=self._git.run("for-each-ref", *form))

    def _seen_ref(self, remote: str) -> str:
        return f"{SEEN}/{remote}/{self.ref.removeprefix('refs/heads/')}"

    def count_since(self, old: str, *commits: str) -> int:
        """Return how many versions came after an old commit; all where it is empty.

        Args:
            old: what they are held against.
            commits: with which they end; the current one if none is given.
        """
        without = [f"^{old}"] if old else []
        return int(self._git.run("rev-list", "--count", *(commits or (self.ours,)), *without))

    def write_bundle(self, path: Path, manifest: Manifest) -> Bundle:
        """Write the history into a file; `manifest` says which of it, and what is to be known.

        Raises:
            UsageError: the file cannot be written.
        """
        return write_bundle(self._git, path, manifest)

    def find_blobs(self, contents: Mapping[str, bytes]) -> dict[str, str]:
        """Return the blobs of contents by their paths; those that no commit has are left out."""
        blobs = {path: blob_name(content) for path, content in contents.items()}
        types = find_types(self._git, blobs.values())
        return {path: blob for path, blob in blobs.items() if types[blob] != "missing"}

    def take_bundle(self, bundle: Bundle, *, purged: bool = False) -> str:
        """Take over what a bundle brings, once it was looked through; return its commit.

        Only one at a time may do so: the caller holds the lock of jobs.

        Args:
            bundle: a file that was checked.
            purged: something was purged here; nothing from before is taken.

        Raises:
            UsageError: it holds what no memory has.
            HistoryError: it builds on commits that are not here, or shares none with ours.
        """
        head = bundle.manifest.head
        with unpack_apart(self._git, self._side, bundle) as apart:
            self._check_purges(apart, head, str(bundle.path), purged=purged)
            if apart.call("merge-base", self.ours, head).code != 0:
                raise HistoryError(
                    f"{bundle.path} has no common history with this memory. Nothing of it was "
                    "taken; copy this memory anew to where it is from."
                )
            keep_objects(self._git, apart)
        return head

    def send(self, root: Path, commit: str, name: str) -> None:
        """Give a new repository a commit with its history, as its only branch.

        Args:
            root: the folder of the new repository.
            commit: one of ours.
            name: of the branch.
        """
        other = Git(root, root / ".git")
        feed = f"{commit}\n".encode()
        pack = self._git.run("pack-objects", "--stdout", "--revs", "-q", feed=feed)
        other.run("index-pack", "--stdin", "--strict", feed=pack)
        other.run("update-ref", f"refs/heads/{name}", commit)
        other.run("symbolic-ref", "HEAD", f"refs/heads/{name}")
        other.run("read-tree", commit)

    def count_apart(self, root: Path) -> tuple[int, int]:
        """Return how many commits another copy has that are not here, and the reverse."""
        theirs = resolve(Git(root, root / ".git"), "HEAD")
        objects = quote_path(Git(root, root / ".git").common() / "objects")
        span = f"{theirs}...{self.ours}"
        found = self._git.run(
            "rev-list", "--left-right", "--count", span, GIT_ALTERNATE_OBJECT_DIRECTORIES=objects
        )
        ahead, behind = found.split()
        return int(ahead), int(behind)

    def bases(self, theirs: str, ours: str = "") -> list[str]:
        """Return the last commits that two commits descend from, sorted; one is the current."""
        found = self._git.call("merge-base", "--all", ours or self.ours, theirs)
        return sorted(found.text.split())

    def find_common(self, commits: Sequence[str]) -> list[str]:
        """Return the last commit that all of some descend from; none where there is none."""
        return self._git.call("merge-base", "--octopus", *commits).text.split()

    def find_change(self, theirs: str, name: str) -> tuple[str, str]:
        """Return the commit of a job, or one by its hash, and its parent; empty if there is none.

        Args:
            theirs: the commit from whose history it is taken.
            name: the id of a job, a hash, or the beginning of one.

        Raises:
            AmbiguousIdError: several jobs begin so.
            HistoryError: it is a merge, or nothing was before it.
        """
        jobs = find_jobs(self._git, theirs, name) if "-" in name else {}
        if len(jobs) > 1 and name not in jobs:
            raise AmbiguousIdError(name, sorted(jobs))
        found = jobs.get(name) or next(iter(jobs.values()), "")
        if not found and _HASH.fullmatch(name):
            found = self._git.call("rev-parse", "-q", "--verify", f"{name}^{{commit}}").text
        if not found or self._git.call("merge-base", "--is-ancestor", found, theirs).code != 0:
            return "", ""
        parents = self._git.run("rev-list", "-1", "--no-commit-header", "--format=%P", found)
        if len(parents.split()) != 1:
            raise HistoryError(f"{name} is a merge or a beginning. Name a job, a key or a note.")
        return found, parents.decode().strip()

    def moment(self, commit: str) -> datetime:
        """Return when a commit was made."""
        form = ("--no-commit-header", "--format=%ct")
        return datetime.fromtimestamp(int(self._git.run("rev-list", "-1", *form, commit)), UTC)

    def has(self, commit: str) -> bool:
        """Whether the current commit descends from another one, or is it."""
        return self._git.call("merge-base", "--is-ancestor", commit, self.ours).code == 0

    def knows(self, commit: str) -> bool:
        """Whether a commit is in the repository, part of the current one or not."""
        return self._git.call("cat-file", "-e", f"{commit}^{{commit}}").code == 0

    def find_merges(self, moved: Sequence[Movement]) -> list[FoundMerge]:
        """Return the merges that came with movements of HEAD and may be unfinished."""
        return find_merges(self._git, moved)

    def clear_conflicts(self) -> None:
        """Take the sides of conflicts out of the person's index, where nothing is under way."""
        with self._lock():
            clear_conflicts(self._git, self.ours)

    def read(self, commits: Sequence[str], *, whole: bool = False) -> Versions:
        """Return files that differ between commits; all where `whole`."""
        return read_versions(self._git, self._list, commits, whole=whole)

    def read_files(self, commit: str, paths: Collection[str]) -> dict[str, bytes]:
        """Return files of a commit by their paths; those that it has not are left out."""
        return read_paths(self._git, commit, paths)

    def find_notes(self, commit: str, ids: Collection[str]) -> set[str]:
        """Return the paths of a commit whose pages name one of some ids."""
        return find_notes(self._git, commit, ids)

    def commit(self, theirs: str, files: Mapping[str, bytes | None]) -> str:
        """Make the commit that joins both sides; `publish` makes it the current one.

        Args:
            theirs: the other commit.
            files: what is otherwise than in ours, None for what is gone.
        """
        # In the order of their names and not of the caller: both copies make the same commit, byte
        # for byte.
        first, second = sorted((self.ours, theirs))
        entries = {path: one for path, one in self._list(self.ours).items() if path != RECEIPTS}
        with Import(self._git) as objects:
            for path, content in files.items():
                if content is None:
                    entries.pop(path, None)
                else:
                    objects.add(content)
                    entries[path] = Entry(_PLAIN, blob_name(content))
            rows = [Difference(path, None, entry) for path, entry in entries.items()]
            # The later of both and no clock, for the same reason.
            at = max(map(self.moment, (first, second)))
            return objects.merge((first, second), rows, _MESSAGE, ident(at))

    def describe(self, made: str) -> tuple[str, datetime, frozenset[str]]:
        """Return what names a merge, its time, and the paths it has otherwise than a parent."""
        parents = sorted(self._git.run("rev-parse", f"{made}^1", f"{made}^2").decode().split())
        paths = {one.path for parent in parents for one in differences(self._git, parent, made)}
        return " ".join((*parents, "1")), self.moment(made), frozenset(paths)

    def publish(self, made: str) -> None:
        """Make a commit the current one; the disk has its files already.

        Raises:
            HistoryError: somebody committed meanwhile.
        """
        with ExitStack() as held:
            ours = self._shipping is None or held.enter_context(self._shipping.turn(whole=False))
            held.enter_context(self._lock())
            owed = Owed(self._side / "git-owed")
            owed.note(self.ours, made)
            if not (ours and self._move(made)):
                raise HistoryError(
                    "Somebody committed to this memory during the merge. Run it again."
                )
            owed.settle(self._git)

    def _move(self, made: str) -> bool:
        # Not one of our own messages: what came by it is judged as what a pull brings.
        call = ("update-ref", f"-mmerge: {made[:12]}", self.ref, made, self.ours)

        def move() -> bool:
            return self._git.call(*call).code == 0

        if self._shipping is None:
            return move()
        changed = list(differences(self._git, self.ours, made))
        return self._shipping.ship(self._git, (made, self.ours), changed, move)
