"""Who a memory is: what its files say, and how far it has come."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class ModelTable(NamedTuple):
    """``[model]``"""

    default: str = ""
    """The model that agents of this memory are meant for; a name, no address and no key."""


class SkillsTable(NamedTuple):
    """``[skills]``"""

    default: tuple[str, ...] = ()
    """The skills that agents of this memory come with, by name."""


class MemoryIdentity(NamedTuple):
    """A memory as others see it; ``IDENTITY.md`` and ``memory.toml`` say most of it."""

    id: str
    space: str = ""
    """The space it belongs to, for who looks it up there; a memory does not know."""
    name: str = ""
    description: str = ""
    persona: Mapping[str, str] = MappingProxyType({})
    """``role``, ``mission``, and each ``- tone: friendly`` under "Who I am"."""
    default_model: str = ""
    default_skills: tuple[str, ...] = ()
    language: str = "auto"
    parent: str = ""
    version: int = 0
    """The number of commits; a rollback makes a new one."""
    head: str = ""
    seq: int = 0
    epoch: int = 0
    primary: str = ""
    """The node that takes its writes; empty for a memory of one machine."""
    created_by: str = ""
    created: str = ""
    updated: str = ""
    last_active: str = ""
    """When its last session began."""
    interactions: int = 0
    """Its sessions."""
    active: bool = True
    """Whether it takes writes here: not where it moved away or is read-only."""
    sealed: bool = False
    """Whether it lies in a folder that is encrypted on disk."""


def read_id(content: bytes) -> str:
    """Return the id of a memory from its settings; empty where they name none."""
    return _read_own(content, "id")


def read_parent(content: bytes) -> tuple[str, str]:
    """Return the memory and the commit that a fork began with; empty for another memory."""
    id, _, commit = _read_own(content, "parent").partition("@")
    return id, commit


def _read_own(content: bytes, name: str) -> str:
    try:
        found = tomllib.loads(content.decode("utf-8", "replace")).get("memory")
    except tomllib.TOMLDecodeError:
        return ""
    return str(found.get(name, "")) if isinstance(found, dict) else ""
