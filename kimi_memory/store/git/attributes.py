"""How git merges the files of a memory where a person pulls or merges with git itself."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

from kimi_memory.store.files.cache_files import put
from kimi_memory.store.files.paths import PRIVATE

NAME = ".gitattributes"
RULES = """\
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
DRIVER = "merge.kimi-memory.driver"
"""The setting that names that command."""
CONTENT = f"""\
# Bytes stay as they are. Where two copies changed the same records, git reports a conflict
# and leaves our version whole; of a generated page the one that a person edited is kept.
* -text
{RULES}"""
"""What init writes."""

_UNION = re.compile(rb"^\*\.jsonl[ \t]+merge=union[ \t]*\r?\n?", re.MULTILINE)
_OLD_REMARK = b"# Bytes stay as they are; journals of two forks are joined line by line.\n"


def driver() -> str:
    """Return the command that merges a generated page, as git's shell runs it."""
    return f"{shlex.quote(sys.executable)} -m kimi_memory git merge-file %O %A %B %P"


def are_old(root: Path) -> bool:
    """Whether the attributes still have the rule that joined two sessions into one file."""
    return _UNION.search(_read_attributes(root)) is not None


def renew(root: Path) -> None:
    """Replace that rule by ours; every other line of the person stays."""
    text = _read_attributes(root)
    if _UNION.search(text):
        renewed = _UNION.sub(RULES.encode(), text, count=1).replace(_OLD_REMARK, b"")
        spare = root / PRIVATE / NAME
        put(spare, renewed, sync=True)
        spare.replace(root / NAME)


def _read_attributes(root: Path) -> bytes:
    path = root / NAME
    return path.read_bytes() if path.is_file() and not path.is_symlink() else b""
