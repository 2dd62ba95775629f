"""Settings and merge rules of a memory's repository: read, written, brought along when made."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from kimi_memory.store.files.cache_files import put
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.git.command import SAFE, Git, decode
from kimi_memory.store.git.files import write_absent

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
