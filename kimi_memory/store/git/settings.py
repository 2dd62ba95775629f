"""Repositories that a memory folder may lie in or be: their settings, merge rules and locks."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

from kimi_memory.errors import HistoryError
from kimi_memory.store.files.disk import put
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.git.command import SAFE, Git, decode, encode
from kimi_memory.store.git.tree import write_absent

_PLAIN_SECTIONS = ("core.", "user.", "remote.", "branch.", "init.", "kimi.", "submodule.", "gc.")
_PLAIN_MERGE = (
    *("merge.conflictstyle", "merge.renames", "merge.directoryrenames"),
    # Whatever it says, ours is written over it before anybody merges.
    "merge.kimi-memory.driver",
)
_RISKY_CORE = (
    "core.fsmonitor",
    "core.hookspath",
    "core.sshcommand",
    "core.editor",
    "core.pager",
    "core.gitproxy",
    "core.attributesfile",
    "core.alternaterefscommand",
    "core.askpass",
)
_RISKY_REMOTE = (".uploadpack", ".receivepack", ".vcs", ".promisor", ".proxy")
_OF_A_MEMORY = re.compile(
    r"\.git(ignore|attributes)|memory\.toml|[^/]*\.md|LICENSE|\.obsidian|short-term|episodic"
    r"|mid-term|semantic|long-term|conflicts|review|\.trash|attachments|assets"
)
ELSEWHERE = "Choose a folder outside of it, or set 'git = false' under [history] in memory.toml."


def check_owner(root: Path, folder: Path) -> None:
    """Refuse a repository of another user unless git was configured to trust it.

    Raises:
        HistoryError: somebody else owns it.
    """
    if folder.stat().st_uid == os.geteuid():
        return
    # Git's own check does not happen when the repository is named, as we do.
    asked = Git(Path("/"), None).call(
        "config", "--global", "--get-all", "safe.directory", GIT_CONFIG_GLOBAL=_global_config_path()
    )
    trusted = {line.rstrip("/") for line in asked.text.splitlines()}
    if trusted.isdisjoint({"*", str(root), str(root.resolve())}):
        raise HistoryError(
            f"{folder} belongs to another user. Run as its owner, or trust it with "
            f"'git config --global --add safe.directory {root}'."
        )


def _global_config_path() -> str:
    return str(Path(os.path.expanduser("~")) / ".gitconfig")  # noqa: PTH111  may lack a home


def is_shallow(git: Git) -> bool:
    """Whether a repository lacks the older part of its history."""
    return (git.common() / "shallow").exists()


def check_whole(git: Git) -> None:
    """Refuse to join histories, or to hand one on, where the older part of it is missing.

    Raises:
        HistoryError: it is a shallow clone.
    """
    # A merge without its base takes each deletion for something new, and the commit of it would
    # be another one than elsewhere.
    if is_shallow(git):
        raise HistoryError(
            f"The repository in {git.root} is a shallow clone, which lacks older versions. "
            "Run 'git fetch --unshallow' first."
        )


def risky_settings(git: Git) -> list[str]:
    """Return the settings of a repository that name programs, or that we do not know."""
    rows = git.run("config", "--local", "--includes", "--list", "--name-only", "-z").split(b"\0")
    return sorted({name for name in map(decode, rows[:-1]) if _is_risky(name)})


def _is_risky(name: str) -> bool:
    known = name.startswith((*_PLAIN_SECTIONS, "maintenance.", *_PLAIN_MERGE, "pull."))
    if name.startswith("extensions."):
        return name != "extensions.worktreeconfig"
    return not known or name in _RISKY_CORE or name.endswith(_RISKY_REMOTE)


def check_adoptable(git: Git) -> None:
    """Refuse an existing repository that is not one of a memory.

    A fresh one and a clone of a memory are taken; a project's is not.

    Raises:
        HistoryError: it holds something else, or settings that run programs.
    """
    risky = risky_settings(git)
    if any(name.endswith((".promisor", ".partialclonefilter")) for name in risky):
        raise HistoryError(
            f"The repository in {git.root} is a partial clone, which lacks the content of older "
            "versions. Make a whole one with 'git clone'."
        )
    if risky:
        raise HistoryError(
            f"The repository in {git.root} has settings we do not know or that may run programs "
            f"({', '.join(risky[:3])}). Remove them with 'git config --unset', or move .git away."
        )
    top = _top_level(git)
    foreign = [name for name in top if not _OF_A_MEMORY.fullmatch(name)]
    if foreign or (top and "memory.toml" not in top):
        raise HistoryError(
            f"{git.root} is a repository with other content ({', '.join([*foreign, *top][:3])}). "
            "Make the memory in a folder of its own, or, if every file here belongs to the "
            "memory, run 'git config kimi.memory 1' there and retry."
        )


def is_clone(git: Git) -> bool:
    """Whether this is a clone of a memory that nobody has settled yet, and that may be used."""
    folder = git.folder or git.root / ".git"
    if not folder.is_dir() or git.call("rev-parse", "--verify", "-q", "HEAD").code != 0:
        return False
    try:
        check_adoptable(git)
    except HistoryError:
        return False  # 'kimi-memory init' says why.
    return True


def _top_level(git: Git) -> list[str]:
    if git.call("rev-parse", "--verify", "-q", "HEAD").code == 0:
        rows = git.run("ls-tree", "-z", "--name-only", "--full-tree", "HEAD")
        return [decode(row) for row in rows.split(b"\0")[:-1]]
    staged = git.run("ls-files", "-z").split(b"\0")[:-1]
    return sorted({decode(row).partition("/")[0] for row in staged})


def kept_outside(root: Path, *, own: bool) -> str:
    """Return the repository around a memory that holds files of it, empty where none does.

    Args:
        root: the memory folder.
        own: whether the memory has a repository of its own, which is not looked at.
    """
    place = root.parent if own else root
    outer = Git(place, None)
    top = outer.call("-c", "safe.bareRepository=all", "rev-parse", "--show-toplevel")
    if top.code != 0 or not top.out:
        return ""
    folder = Path(os.fsdecode(top.out.removesuffix(b"\n")))
    inside = encode(os.path.relpath(root, folder))
    tracked = outer.call("-C", str(folder), "ls-files", "-z", "--", inside).out
    past = outer.call("-C", str(folder), "rev-list", "--all", "--max-count=1", "--", inside).out
    return str(folder) if tracked or past else ""


def settle_outside(root: Path) -> list[str]:
    """Prepare for a repository of its own at `root`; return notes for the person.

    Raises:
        HistoryError: another repository has a claim on the folder.
    """
    here = root.resolve()
    if not any(map(_may_be_repository, (here, *here.parents))):
        return []
    outer = Git(root, None)
    asked = outer.call(
        "-c", "safe.bareRepository=all", "rev-parse", "--is-inside-work-tree", "--show-prefix"
    )
    if asked.code != 0:
        return _note_unreadable_outer(root, asked.err)
    inside, _, rest = asked.out.partition(b"\n")
    if inside != b"true":
        raise HistoryError(f"{root} lies inside a repository's own files. {ELSEWHERE}")
    return _nest_repository(outer, rest.removesuffix(b"\n"))


def _may_be_repository(folder: Path) -> bool:
    """Whether git could take a folder for a repository, with files around or without."""
    bare = all(os.path.lexists(folder / name) for name in ("HEAD", "objects", "refs"))
    return bare or os.path.lexists(folder / ".git")


def _note_unreadable_outer(root: Path, err: str) -> list[str]:
    if "not a git repository" in err:
        return []
    said = next((line for line in err.splitlines() if line.startswith("fatal:")), err.strip())
    return [f"A repository around {root} could not be read ({said}); exclude the memory there."]


def _nest_repository(outer: Git, prefix: bytes) -> list[str]:
    top = decode(outer.run("rev-parse", "--show-toplevel").removesuffix(b"\n"))
    if outer.run("ls-files", "-z"):
        raise HistoryError(
            f"The repository {top} already tracks files in {outer.root}. Let it forget them "
            f"with 'git rm -r --cached', or keep it so without history. {ELSEWHERE}"
        )
    nested = f"Nested inside the repository {top}; it does not see this memory"
    if outer.call("check-ignore", "-q", "--", "./", GIT_LITERAL_PATHSPECS="0").code == 0:
        return [f"{nested} (it already ignored the folder)."]
    shown = outer.run("rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
    exclude = Path(decode(shown.removesuffix(b"\n")))
    return [_write_exclude(exclude, prefix.removesuffix(b"/"), nested)]


def _write_exclude(exclude: Path, prefix: bytes, nested: str) -> str:
    if b"\n" in prefix:
        return f"{nested.partition(';')[0]}; its name cannot be ignored there, never add it."
    pattern = re.sub(rb"([\\*?\[ ])", rb"\\\1", prefix)
    try:
        exclude.parent.mkdir(parents=True, exist_ok=True)
        with exclude.open("a+b") as file:
            file.seek(0)
            gap = b"" if (b"\n" + file.read()).endswith(b"\n") else b"\n"
            file.write(gap + b"/" + pattern + b"/\n")
    except OSError as error:
        # Others may own that file; a finding says what to write into it.
        return f"{nested.partition(';')[0]}; add it to {exclude} yourself ({error.strerror})."
    return f"{nested} (ignored through {exclude})."


# Locks are removed only by the holder of our own lock, when they are older than that hold and no
# git process is near enough to own them: a person's `git commit -a` keeps the index locked for
# as long as its editor is open.
_SETTLED_SECONDS = 3.0
# Where we cannot see the processes, only age tells that a lock was left behind.
_BLIND_SECONDS = 600.0
PROCESSES = Path("/proc")


def find_locks(folder: Path) -> list[Path]:
    """Return the lock files of a repository that block later commands."""
    found = [*folder.glob("*.lock"), *(folder / "refs").rglob("*.lock")]
    found.extend((folder / "reftable").glob("*.lock"))
    return sorted([*found, *(folder / "objects" / "info").glob("*.lock")])


def remove_stale(folders: set[Path], root: Path, held_since: float) -> list[Path]:
    """Remove lock files whose owner is dead; return them.

    Args:
        folders: the repository's folders; those of a worktree are two.
        root: its work tree.
        held_since: when we got our lock, by the system's clock.
    """
    locks = [lock for folder in folders for lock in find_locks(folder)]
    old = [lock for lock in locks if _is_old(lock, held_since)]
    if not old or _may_be_owned({*folders, root}):
        return []
    for lock in old:
        lock.unlink(missing_ok=True)
    return old


def _is_old(lock: Path, held_since: float) -> bool:
    needed = _SETTLED_SECONDS if PROCESSES.is_dir() else _BLIND_SECONDS
    try:
        changed = lock.lstat().st_mtime
    except FileNotFoundError:
        # Git has removed it itself.
        return False
    return changed < held_since and time.time() - changed > needed


def _may_be_owned(places: set[Path]) -> bool:
    """Whether a git process works in one of the places, or where we cannot see."""
    near = [place.resolve() for place in places]
    return any(_is_near(process, near) for process in PROCESSES.glob("[0-9]*"))


def _is_near(process: Path, near: list[Path]) -> bool:
    try:
        if not (process / "comm").read_bytes().startswith(b"git"):
            return False
        works_in = (process / "cwd").readlink()
    except (FileNotFoundError, ProcessLookupError):
        # It has ended meanwhile.
        return False
    except OSError:
        # We may not look into another user's process: it could be at work here.
        return True
    return any(works_in.is_relative_to(place) for place in near)


MARK = "kimi.memory"
"""The setting that makes a repository ours."""
_MARKED = re.compile(rb'^\[kimi\]\n\tmemory = "?true"?\n(?=\[|\Z)', re.MULTILINE)

ATTRIBUTES = ".gitattributes"
_RULES = """\
*.jsonl -merge
mid-term/jobs/*.json -merge
MEMORY.md merge=kimi-memory
semantic/*.md merge=kimi-memory
episodic/daily/*.md -merge
episodic/sessions/** -merge
mid-term/tombstones.jsonl merge=union
mid-term/usage.jsonl merge=union
"""
"""Records keep our version, whole, beside a conflict that git reports: its marks, or the lines
of two sessions in one file, would make them unreadable. Only of two files each line stands for
itself. Pages that follow from the cards are merged by a command of ours."""
_DRIVER = "merge.kimi-memory.driver"
"""The setting that names that command."""
ATTRIBUTE_TEXT = f"""\
# Bytes stay as they are. Where two copies changed the same records, git reports a conflict
# and leaves our version whole; of a generated page the one that a person edited is kept.
* -text
{_RULES}"""
"""What init writes."""

_UNION = re.compile(rb"^\*\.jsonl[ \t]+merge=union[ \t]*\r?\n?", re.MULTILINE)
_OLD_REMARK = b"# Bytes stay as they are; journals of two forks are joined line by line.\n"


def format_driver() -> str:
    """Return the command that merges a generated page, as git's shell runs it."""
    return f"{shlex.quote(sys.executable)} -m kimi_memory git merge-file %O %A %B %P"


def has_old_attributes(root: Path) -> bool:
    """Whether the attributes still have the rule that joined two sessions into one file."""
    return _UNION.search(_read_attributes(root)) is not None


def renew_attributes(root: Path) -> None:
    """Replace that rule by ours; every other line of the person stays."""
    text = _read_attributes(root)
    if _UNION.search(text):
        renewed = _UNION.sub(_RULES.encode(), text, count=1).replace(_OLD_REMARK, b"")
        spare = root / PRIVATE / ATTRIBUTES
        put(spare, renewed, sync=True)
        spare.replace(root / ATTRIBUTES)


def _read_attributes(root: Path) -> bytes:
    path = root / ATTRIBUTES
    return path.read_bytes() if path.is_file() and not path.is_symlink() else b""


def read(git: Git) -> dict[str, str]:
    """Return the repository's own settings; names in lower case."""
    rows = git.run("config", "--local", "--list", "-z").split(b"\0")[:-1]
    pairs = (decode(row).partition("\n") for row in rows)
    return {name.lower(): value for name, _, value in pairs}


def write(git: Git) -> None:
    """Write the settings that the repository lacks or has with another value."""
    exclude = git.common() / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    write_absent(exclude, "/.kimi/\n")
    if (git.common() / "config").read_bytes().endswith(_format_new()):
        return
    present = read(git)
    for name, value in wanted().items():
        if present.get(name.lower()) != value:
            git.run("config", "--replace-all", name, value)


def write_new(config: Path) -> None:
    """Add them to the settings of a repository that was just made, with the mark of ours.

    The file is written once: a process of git for each setting takes longer than all of init.
    """
    put(config, config.read_bytes() + _format_new(), sync=True)


def is_marked(git: Git) -> bool:
    """Whether a repository says that it is one of ours."""
    with suppress(OSError):
        # Asked at each start of each command. Where the mark stands but once, it counts.
        content = (git.common() / "config").read_bytes()
        once = content.lower().count(b"[kimi") == 1 and _MARKED.search(content)
        if once and shutil.which("git"):
            return True
    return git.call("config", "--local", "--get", "--type=bool", MARK).text == "true"


def wanted() -> dict[str, str]:
    """Return the settings that a memory's repository has, by name."""
    return SAFE | {_DRIVER: format_driver()}


def _format_new() -> bytes:
    """Return all settings of a new repository as its file has them."""
    rows = (_format_setting(*setting) for setting in {**wanted(), MARK: "true"}.items())
    return "".join(rows).encode()


def _format_setting(name: str, value: str) -> str:
    """Return a setting as git's files have it (git-config, "Syntax")."""
    section, _, key = name.rpartition(".")
    section, _, below = section.partition(".")
    head = f'{section} "{below}"' if below else section
    plain = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{head}]\n\t{key} = "{plain}"\n'
