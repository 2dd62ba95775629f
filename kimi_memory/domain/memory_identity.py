"""Who a memory is: what its files say, and how far it has come."""

from __future__ import annotations

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
