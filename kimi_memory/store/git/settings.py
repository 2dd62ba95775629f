"""The settings of a memory's repository: read, written, brought along when it is made."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kimi_memory.store.git import attributes
from kimi_memory.store.git.command import SAFE, Git, decode


def read(git: Git) -> dict[str, str]:
    """Return the repository's own settings; names in lower case."""
    rows = git.run("config", "--local", "--list", "-z").split(b"\0")[:-1]
    pairs = (decode(row).partition("\n") for row in rows)
    return {name.lower(): value for name, _, value in pairs}


def write(git: Git) -> None:
    """Write the settings that the repository has not, or otherwise."""
    present = read(git)
    for name, value in wanted().items():
        if present.get(name.lower()) != value:
            git.run("config", "--replace-all", name, value)


@contextmanager
def template() -> Iterator[str]:
    """Give a folder for ``git init --template`` that brings the settings and nothing else."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-") as place:
        rows = [_format_setting(*setting) for setting in wanted().items()]
        (Path(place) / "config").write_text("".join(rows), encoding="utf-8")
        yield place


def wanted() -> dict[str, str]:
    """Return the settings that a memory's repository has, by name."""
    return SAFE | {attributes.DRIVER: attributes.driver()}


def _format_setting(name: str, value: str) -> str:
    """Return a setting as git's files have it (git-config, "Syntax")."""
    section, _, key = name.rpartition(".")
    section, _, below = section.partition(".")
    head = f'{section} "{below}"' if below else section
    plain = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{head}]\n\t{key} = "{plain}"\n'
