"""The settings of a memory's repository: read, written, brought along when it is made."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

from kimi_memory.store.files.cache_files import put
from kimi_memory.store.git import attributes
from kimi_memory.store.git.command import SAFE, Git, decode
from kimi_memory.store.git.files import write_absent

MARK = "kimi.memory"
"""The setting that makes a repository ours."""
_MARKED = re.compile(rb'^\[kimi\]\n\tmemory = "?true"?\n(?=\[|\Z)', re.MULTILINE)


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
    return SAFE | {attributes.DRIVER: attributes.driver()}


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
