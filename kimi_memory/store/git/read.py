"""Questions to the history that change nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kimi_memory.domain.operation_types import Commit
from kimi_memory.errors import HistoryError
from kimi_memory.store.files.paths import is_plain
from kimi_memory.store.git.command import Git, decode, encode, one_line, parsing, refusal
from kimi_memory.store.git.commit import FORMAT, disk_tree, parse_log, trailer_name
from kimi_memory.store.git.loose import read_loose
from kimi_memory.store.git.tree import EMPTY_TREE, differences

_BLAMED = re.compile(r"([0-9a-f]{40}) \d+ (\d+)")
_FULL = re.compile(r"[0-9a-f]{40}")
NAMES = "refs/kimi/names"
"""Where the names of commits stand."""


def is_plain_name(name: str, signs: str = "-._") -> bool:
    """Whether a version, a branch or a remote may have this name.

    Args:
        name: what it is to be called.
        signs: what the name may have besides letters and digits.
    """
    return name[:1].isalnum() and all(sign.isalnum() or sign in signs for sign in name)


class Version(NamedTuple):
    """A file as one commit made it."""

    commit: str
    path: str
    blob: str


class GraphRow(NamedTuple):
    """A commit as the graph of the history has it."""

    commit: str
    parents: tuple[str, ...]
    seconds: int
    """When it was made, by the clock of its machine."""


@parsing("rev-list")
def read_graph(git: Git, commit: str, since: str = "") -> list[GraphRow]:
    """Return a commit and what it descends from, parents before children, without an old one."""
    # Not by `--format`, for which git would read each commit, whatever its list of commits says.
    form = ("--parents", "--timestamp")
    # After a purge the old commit is gone.
    span = ["--ignore-missing", f"^{since}"] if since else []
    # By date, parents before children: of two branches that were merged, commits stand as they
    # happened.
    listed = _list_revisions(git, "--date-order", "--reverse", *form, commit, *span)
    rows = (line.decode("ascii").split() for line in listed.splitlines())
    return [GraphRow(name, tuple(parents), int(at)) for at, name, *parents in rows]


def resolve(git: Git, commit: str) -> str:
    """Return the full name of a commit.

    Raises:
        HistoryError: there is no such commit.
    """
    wanted = f"{commit}^{{commit}}"
    # A name from a request may begin with a dash; behind this mark git takes it for no option.
    result = git.call("rev-parse", "-q", "--verify", "--end-of-options", wanted)
    if result.code != 0 or not commit:
        raise HistoryError(f"No commit {commit!r} here. List them with 'kimi-memory log'.")
    return result.text


@parsing("cat-file")
def find_types(git: Git, names: Iterable[str]) -> dict[str, str]:
    """Return the types of objects by their names; ``missing`` for those that are not here."""
    feed = "".join(f"{name}\n" for name in names).encode()
    out = git.run("cat-file", "--batch-check", "--buffer", feed=feed) if feed else b""
    return {name: type for name, type, *_ in map(str.split, out.decode().splitlines())}


def read_head(git: Git) -> str:
    """Return the current commit, empty before the first."""
    return git.call("rev-parse", "-q", "--verify", "HEAD^{commit}").text


def read_log(git: Git, limit: int, path: str) -> list[Commit]:
    """Return the newest commits, of a path where one is given."""
    return _list_commits(git, [f"--max-count={limit}"], [encode(path)] if path else [])


def find_trailer(git: Git, trailer: str, value: str) -> Commit | None:
    """Return the newest commit that carries a trailer with this value."""
    name, wanted = trailer_name(trailer), one_line(value)
    commits = _list_commits(git, ["--fixed-strings", f"--grep={name}: {wanted}"], [])
    # `--grep` looks into the whole message: a subject may hold the same words as a trailer.
    return next((commit for commit in commits if commit.trailers.get(name) == wanted), None)


def find_jobs(git: Git, head: str, id: str) -> dict[str, str]:
    """Return the jobs whose id begins so, in the history of a commit, with the commit of each."""
    commits = _list_commits(git, ["--fixed-strings", f"--grep=Job: {id}"], [], head)
    # The newest first: where a job was undone and ran again, the last run counts.
    found = {commit.trailers.get("Job", ""): commit.hash for commit in reversed(commits)}
    return {job: commit for job, commit in found.items() if job.startswith(id)}


def read_since(git: Git, old: str) -> list[Commit]:
    """Return the commits that the current one has and an old one has not; all for none."""
    return _list_commits(git, [f"^{old}"] if old else [], [])


@parsing("for-each-ref")
def read_names(git: Git) -> dict[str, str]:
    """Return the commits that a person gave a name, by that name."""
    form = "--format=%(refname:lstrip=3)%00%(objectname)"
    rows = git.run("for-each-ref", form, NAMES).decode("utf-8", "replace").splitlines()
    return dict(row.split("\0") for row in rows)


def _list_commits(
    git: Git, options: list[str], paths: list[bytes], head: str = "HEAD"
) -> list[Commit]:
    form = ["--no-commit-header", f"--format={FORMAT}"]
    # By their dates alone, a commit of a clock that ran ahead would come before what followed it.
    # The last commit is the first whatever the order, and is found without reading all of them.
    form += [] if "--max-count=1" in options and not paths else ["--date-order"]
    return parse_log(_list_revisions(git, *form, *options, head, "--", *paths))


def _list_revisions(git: Git, *arguments: str | bytes) -> bytes:
    """Return what git lists of commits; nothing before the first one."""
    found = git.call("rev-list", *arguments)
    # Asked only where it failed: each call is a process, and takes as long as a short list.
    if found.code != 0 and read_head(git):
        raise refusal(("rev-list",), found.err)
    return found.out


def read_content(git: Git, commit: str, path: str) -> bytes | None:
    """Return a file's bytes in a commit; None where it is not in it."""
    # Mostly it is there, and one process of git brings it; to find out why not takes more.
    if _FULL.fullmatch(commit) and (found := read_files(git, [(commit, path)])):
        return found[commit, path]
    row = git.run("ls-tree", "-z", "--full-tree", resolve(git, commit), "--", encode(path))
    about, _, found_path = row.removesuffix(b"\0").partition(b"\t")
    if found_path != encode(path) or b" blob " not in about:
        return None
    return git.run("cat-file", "blob", about.split(b" ")[2])


def read_changed(git: Git, commit: str) -> list[tuple[str, str]]:
    """Return what a commit changed against its first parent: A, M or D, and the path."""
    full = resolve(git, commit)
    # The first parent is the memory as it was here; what a merge brought is a change to it.
    parent = git.call("rev-parse", "-q", "--verify", f"{full}^1").text
    return [
        ("A" if d.old is None else "D" if d.new is None else "M", d.path)
        for d in differences(git, parent, full)
    ]


@parsing("diff-tree")
def read_versions(git: Git, folders: Sequence[str]) -> list[Version]:
    """Return what each commit made of the files in some folders, newest first.

    A merge is listed with what it has otherwise than any of its parents.
    """
    if not read_head(git):
        return []
    commits = git.run("rev-list", "HEAD")
    # All commits through one process: a call for each would take minutes where there are ten
    # thousand.
    plain = ("--stdin", "-r", "-m", "--root", "--no-renames", "--no-abbrev", "-z")
    words = iter(git.run("diff-tree", *plain, "--", *folders, feed=commits).split(b"\0")[:-1])
    found, commit = [], ""
    for word in words:
        if not word.startswith(b":"):
            commit = word.decode("ascii")
            continue
        path, blob = decode(next(words)), word.split(b" ")[3].decode("ascii")
        if blob.strip("0"):
            found.append(Version(commit, path, blob))
    return found


class Touched(NamedTuple):
    """A file as one commit made it, and as it was before."""

    commit: str
    path: str
    blob: str
    """Empty where the commit removed the file."""
    before: str
    """Of the first parent; empty where the file was not there."""


def read_touched(git: Git, commits: Iterable[str]) -> Iterator[Touched]:
    """Yield what commits made of their files; of a merge what differs from all its parents."""
    feed = "".join(f"{commit}\n" for commit in commits).encode()
    # Combined: what a merge took from one of its parents unchanged was done by the commits before.
    plain = ("--stdin", "-r", "-c", "--root", "--no-renames", "--no-abbrev", "-z")
    words = iter(git.run("diff-tree", *plain, feed=feed).split(b"\0")[:-1])
    with parsing("diff-tree"):
        yield from _parse_touched(words)


def _parse_touched(words: Iterator[bytes]) -> Iterator[Touched]:
    commit = ""
    for word in words:
        if not word.startswith(b":"):
            commit = word.decode("ascii")
            continue
        # A combined row begins with a colon for each parent, and lists a mode and a blob of each.
        parents = len(word) - len(word.lstrip(b":"))
        names = word.decode("ascii").split(" ")[parents + 1 :]
        before, blob = (name if name.strip("0") else "" for name in (names[0], names[parents]))
        yield Touched(commit, decode(next(words)), blob, before)


class Pair(NamedTuple):
    """A file in two trees; None where it is not there."""

    path: str
    old: bytes | None
    new: bytes | None


def read_pairs(git: Git, side: Path, old: str, new: str) -> list[Pair]:
    """Return the files in which two commits differ; an empty `new` is the disk."""
    if new:
        return _compare_trees(git, resolve(git, old), resolve(git, new))
    with disk_tree(git, side) as (aside, tree):
        return _compare_trees(aside, resolve(git, old), tree)


def _compare_trees(git: Git, old: str, new: str) -> list[Pair]:
    found = differences(git, old, new)
    # Contents of all files in one call; each of several thousand would be a process of its own.
    names = [entry.blob for one in found for entry in (one.old, one.new) if entry is not None]
    contents = read_blobs(git, dict.fromkeys(names))
    return [
        Pair(
            one.path,
            contents.get(one.old.blob) if one.old else None,
            contents.get(one.new.blob) if one.new else None,
        )
        for one in found
    ]


@parsing("cat-file")
def read_files(git: Git, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
    """Return files by commit and path; those that are not there are left out."""
    found: dict[tuple[str, str], bytes] = {}
    # A path that leaves the folder is in no tree, and would end the command.
    wanted = [one for one in dict.fromkeys(places) if is_plain(one[1])]
    feed = b"".join(f"{commit}:".encode() + encode(path) + b"\n" for commit, path in wanted)
    out, at = git.run("cat-file", "--batch", "--buffer", feed=feed) if wanted else b"", 0
    for place in wanted:
        end = out.index(b"\n", at)
        # From the right: of an object that is missing git repeats the path, which may hold spaces.
        words = out[at:end].rsplit(b" ", 2)
        at = end + 1
        if len(words) == 3 and words[2].isdigit():
            size = int(words[2])
            if words[1] == b"blob":
                found[place] = out[at : at + size]
            at += size + 1
    return found


def read_blobs(git: Git, ids: Iterable[str]) -> dict[str, bytes]:
    """Return the content of files by the name of their blobs."""
    wanted = dict.fromkeys(ids)
    found = read_loose(git, wanted)
    feed = "".join(f"{id}\n" for id in wanted if id not in found).encode()
    objects = parse_objects(git.run("cat-file", "--batch", "--buffer", feed=feed) if feed else b"")
    return found | {id.decode("ascii"): content for id, _, content in objects}


def parse_objects(out: bytes) -> Iterator[tuple[bytes, str, bytes]]:
    """Yield id, kind and content of the answers of ``git cat-file --batch``.

    Raises:
        HistoryError: an object is missing or damaged.
    """
    with parsing("cat-file"):
        yield from _parse_objects(out)


def _parse_objects(out: bytes) -> Iterator[tuple[bytes, str, bytes]]:
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        id, kind, *sizes = out[at:end].split(b" ")
        if not sizes:
            raise refusal(("cat-file",), f"error: {id.decode()} is missing or damaged")
        size = sizes[0]
        at = end + 1 + int(size)
        yield id, kind.decode("ascii"), out[end + 1 : at]
        at += 1


def read_diff(git: Git, side: Path, old: str, new: str, path: str) -> str:
    """Return a diff for people; an empty `new` is the disk."""
    # Before the first commit there is no HEAD, and everything on disk is new.
    first = EMPTY_TREE if old == "HEAD" and not read_head(git) else resolve(git, old)
    if new:
        return _diff_trees(git, first, resolve(git, new), path)
    with disk_tree(git, side) as (aside, tree):
        return _diff_trees(aside, first, tree, path)


def _diff_trees(git: Git, old: str, new: str, path: str) -> str:
    only = [encode(path)] if path else []
    # A repository may name programs that show a diff; they are never run.
    plain = ("-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color")
    return git.run("diff-tree", *plain, old, new, "--", *only).decode("utf-8", "replace")


def read_blame(git: Git, commit: str, path: str, numbers: Sequence[int]) -> dict[int, str]:
    """Return the commit that each of some lines of a file came with, by their numbers."""
    if not numbers:
        return {}
    starts = [number for number in numbers if number - 1 not in numbers]
    ends = [number for number in numbers if number + 1 not in numbers]
    spans = (f"-L{first},{last}" for first, last in zip(starts, ends, strict=True))
    # Programs that a repository names to show or to clean a file are not run.
    plain = ("--porcelain", "--no-textconv", "-w", "--ignore-revs-file=", *spans)
    out = git.run("blame", *plain, commit, "--", encode(path)).decode("utf-8", "replace")
    marks = (_BLAMED.match(line) for line in out.split("\n"))
    return {int(mark[2]): mark[1] for mark in marks if mark}
