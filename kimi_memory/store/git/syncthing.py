"""What Syncthing must not carry: it damages a repository that two machines write to."""

from __future__ import annotations

from pathlib import Path

from kimi_memory.store.files.disk import put
from kimi_memory.store.files.paths import PRIVATE

_MARK, _RULES = ".stfolder", ".stignore"
_PARTS = (".git", PRIVATE)


def find_carried(root: Path) -> list[str]:
    """Return the folders of a memory that Syncthing carries and must not."""
    if not (root / _MARK).is_dir():
        return []
    lines = _read_rules(root).decode("utf-8", "replace").splitlines()
    rules = {line.strip().removeprefix("(?d)").strip("/") for line in lines}
    return [part for part in _PARTS if part not in rules]


def renew_rules(root: Path) -> None:
    """Tell Syncthing what it must not carry, where it carries the memory's own folder."""
    path, carried = root / _RULES, find_carried(root)
    if carried and not path.is_symlink():
        spare = root / PRIVATE / path.name
        # First: of two rules for one path Syncthing takes the first.
        new = "".join(f"/{part}\n" for part in carried)
        put(spare, new.encode() + _read_rules(root), sync=True)
        spare.replace(path)


def _read_rules(root: Path) -> bytes:
    path = root / _RULES
    return path.read_bytes() if path.is_file() and not path.is_symlink() else b""
