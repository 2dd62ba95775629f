"""Which files of a folder are ingested, and which are passed over."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from kimi_memory.errors import UsageError

TRANSCRIPTS = frozenset({".specstory"})
"""Hidden folders in which programs keep transcripts beside a project."""
_QUIET = frozenset({".git", ".hg", ".svn", ".venv", ".tox", ".cache", ".idea", ".vscode", ".kimi"})
"""Hidden folders that never hold any, so nobody need hear of them."""


def find_files(paths: Iterable[Path], skipped: list[str] | None = None) -> Iterator[Path]:
    """Yield the files to ingest: folders give theirs, sorted, and those of known hidden folders.

    Links are not followed: one may lead out of the folder, and what it leads to inside is
    found anyway. A path that is named itself is taken, whatever it is.

    Args:
        paths: files and folders.
        skipped: called with what was passed over and might have been wanted.

    Raises:
        UsageError: a path does not exist.
    """
    passed = [] if skipped is None else skipped
    for path in paths:
        if path.is_dir():
            yield from sorted(_walk_folder(path, passed))
        elif path.exists():
            yield path
        else:
            raise UsageError(f"{path} does not exist. Name a file or a folder.")


def _walk_folder(root: Path, skipped: list[str]) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        links = [here / name for name in (*folders, *names) if (here / name).is_symlink()]
        skipped.extend(f"{link}: a link; name it to ingest what it leads to" for link in links)
        unknown = [n for n in folders if n.startswith(".") and n not in TRANSCRIPTS]
        for name in unknown:
            if name not in _QUIET and here / name not in links:
                skipped.append(f"{here / name}: a hidden folder; name it to ingest what is in it")
        # In place: `os.walk` goes only into what is left.
        folders[:] = [n for n in folders if n not in unknown]
        wanted = [here / name for name in names if not name.startswith(".")]
        yield from (path for path in wanted if path not in links and path.is_file())
