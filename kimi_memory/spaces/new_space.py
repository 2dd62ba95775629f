"""A new space: whether it can be made, and what lies in it at first."""

from __future__ import annotations

from pathlib import Path

from kimi_memory.agent_hooks.user_files import put
from kimi_memory.api.options import Home
from kimi_memory.domain.ids import new_id, utcnow
from kimi_memory.domain.space_types import Space
from kimi_memory.errors import UsageError
from kimi_memory.spaces.policies import FOLDER, SCHEMA, load_library
from kimi_memory.spaces.space_files import ABOUT, MEMBERS, check_name, format_about, read_registry
from kimi_memory.spaces.starter_policies import roles, schema
from kimi_memory.store.git.command import Git


def check_new(home: Home, name: str, folder: Path | None = None) -> Path:
    """Return where a new space would lie.

    Raises:
        UsageError: the name is taken or no name, the folder is not empty, or a library is missing.
    """
    check_name(name)
    if name in read_registry(home):
        raise UsageError(f"There is a space {name} already. Choose another name.")
    root = (folder or home.state / "spaces" / name).resolve()
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError(f"{root} is no empty folder. Choose a new one.")
    # Before anything is kept: without the library a space could decide nothing.
    load_library()
    return root


def lay_files(root: Path, name: str) -> None:
    """Write what a new space begins with: policies for four roles, and no members."""
    now = utcnow()
    put(root / SCHEMA, schema())
    put(root / FOLDER / "roles.cedar", roles(name))
    put(root / ABOUT, format_about(Space(new_id("space", now), name, now)))
    put(root / MEMBERS, "")
    Git(root, root / ".git").run("init", "--quiet", "--initial-branch=main")
