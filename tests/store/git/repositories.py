"""Repositories of memories, as a person and as the memory see them."""

import subprocess
from contextlib import nullcontext
from datetime import datetime, timedelta, timezone
from pathlib import Path

from kimi_memory.store.git.history import History

NOW = datetime(2026, 2, 27, 10, 15, tzinfo=timezone(timedelta(hours=8)))


def make(root: Path, **options) -> History:
    root.mkdir(parents=True, exist_ok=True)
    return History(root, lock=nullcontext, clock=lambda: NOW, **options)


def write(root: Path, path: str, content: str = "x\n") -> Path:
    full = root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text(content, encoding="utf-8")
    return full


def git(root: Path, *arguments: str, check: bool = True, **options) -> str:
    """Run git as a person would, with a name of their own."""
    person = ["-c", "user.name=李雷", "-c", "user.email=li@example.org"]
    done = subprocess.run(
        ["git", "-C", str(root), *person, *arguments],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
    assert not check or done.returncode == 0, done.stderr
    return done.stdout.rstrip("\n")


def tracked(root: Path) -> set[str]:
    return set(git(root, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")) - {""}
