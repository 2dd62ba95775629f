"""Who a memory is: read from, and written to, ``IDENTITY.md`` and ``memory.toml``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.config import MARKER
from kimi_memory.domain.change_log import Lease, Unreachable
from kimi_memory.domain.ids import stamp
from kimi_memory.domain.job import Update, digest
from kimi_memory.domain.memory_identity import MemoryIdentity
from kimi_memory.domain.pages import IDENTITY_PATH, Identity
from kimi_memory.errors import FormatError, UsageError
from kimi_memory.formats.codec import parse, patch
from kimi_memory.formats.frontmatter import decode
from kimi_memory.operations.sealed_folders import find_sealed
from kimi_memory.operations.setting_list import change_memory, set_value
from kimi_memory.store.notes import sessions
from kimi_memory.store.relay import Relay

_TRAIT = re.compile(r"^[-*] (?P<name>[^:：\n]{1,40})[:：]\s*(?P<value>\S.*)$", re.MULTILINE)
_OWN = ("role", "mission")


class Wanted(NamedTuple):
    """What of an identity is to be another; None leaves it."""

    name: str | None = None
    description: str | None = None
    persona: Mapping[str, str] | None = None
    """The keys that change; an empty value removes one."""
    default_model: str | None = None
    default_skills: tuple[str, ...] | None = None


def read_identity(memory: Memory) -> MemoryIdentity:
    """Return who a memory is, from the files as they are now.

    Raises:
        FormatError: ``IDENTITY.md`` cannot be read.
    """
    table, page = memory.settings.memory, _read_page(memory)
    graph = memory.points.graph() if memory.history.head() else None
    # From the sessions, and not from a counter, which a copy of the memory would not have.
    begun = sorted(
        stamp(sessions.read(memory.store, place.path).session.started)
        for place in sessions.places(memory.store)
    )
    relay = memory.store.relay
    state = _find_lease(relay) if relay else None
    return MemoryIdentity(
        table.id,
        name=table.name or (page[1].name if page else memory.root.name),
        description=table.description,
        persona=_read_persona(page[1]) if page else {},
        default_model=memory.settings.model.default,
        default_skills=memory.settings.skills.default,
        language=table.language,
        parent=table.parent,
        version=graph.version(graph.head) if graph else 0,
        head=graph.head if graph else "",
        seq=relay.position.place.seq if relay else 0,
        epoch=state.epoch if state else relay.position.known_epoch if relay else 0,
        primary=state.holder if state and state.held else "",
        created_by=table.created_by,
        created=stamp(page[1].created) if page else "",
        updated=stamp(page[1].updated) if page else "",
        last_active=begun[-1] if begun else "",
        interactions=len(begun),
        active=not (memory.store.moved or memory.store.read_only),
        sealed=find_sealed(memory.root) is not None,
    )


def _find_lease(relay: Relay) -> Lease | None:
    """Return who leads; None where the engine does not answer."""
    with suppress(Unreachable):
        return relay.position.log.state(relay.position.place.memory)
    return None


def write_identity(memory: Memory, wanted: Wanted, *, dry_run: bool = False) -> MemoryIdentity:
    """Change who a memory is; all else in the two files stays as it stands there.

    Args:
        memory: opened.
        wanted: what is to be another.
        dry_run: return who it would be, and write nothing.

    Raises:
        UsageError: a text holds a secret, or spans lines where one line fits.
        FormatError: a file cannot be read; nothing was changed.
    """
    for text in (wanted.name, wanted.description, wanted.default_model):
        if text is not None and "\n" in text:
            raise UsageError(f"{text!r} has several lines. Give one.")
    settings = _plan_settings(memory, wanted)
    page = None if wanted.persona is None else _plan_persona(memory, wanted.persona)
    # Both files are looked at before either is written.
    change_memory(memory, settings, dry_run=True)
    if dry_run:
        return _foretell(read_identity(memory), wanted)
    change_memory(memory, settings)
    if page:
        memory.store.apply([page], memory.actor)
        memory.written()
    return read_identity(memory)


def _foretell(now: MemoryIdentity, wanted: Wanted) -> MemoryIdentity:
    persona = {**now.persona, **(wanted.persona or {})}
    given = {name: value for name, value in wanted._asdict().items() if value is not None}
    return now._replace(**{**given, "persona": {k: v for k, v in persona.items() if v}})


def _plan_settings(memory: Memory, wanted: Wanted) -> str:
    text = decode(memory.store.read(MARKER), MARKER)
    values = {
        "memory.name": wanted.name,
        "memory.description": wanted.description,
        "model.default": wanted.default_model,
        "skills.default": None if wanted.default_skills is None else list(wanted.default_skills),
    }
    for name, value in values.items():
        if value is not None:
            text = set_value(text, name, json.dumps(value, ensure_ascii=False))
    return text


def _plan_persona(memory: Memory, persona: Mapping[str, str]) -> Update | None:
    found = _read_page(memory)
    if found is None:
        raise UsageError(f"There is no {IDENTITY_PATH}. 'kimi-memory consolidate daily' makes one.")
    if any(memory.is_secret(value) for value in persona.values()):
        raise UsageError("The persona holds a secret, which git would keep. Leave it out.")
    text, page = found
    now = {**_read_persona(page), **persona}
    traits = [f"- {name}: {value}" for name, value in now.items() if value and name not in _OWN]
    role = now.get("role", "")
    who = "\n\n".join(part for part in (role, "\n".join(traits)) if part)
    new = replace(page, who=who, mission=now.get("mission", ""), updated=memory.clock())
    body = patch(text, page, new, IDENTITY_PATH).encode()
    before = text.encode()
    return None if body == before else Update(IDENTITY_PATH, digest(before), body)


def _read_page(memory: Memory) -> tuple[str, Identity] | None:
    if not memory.store.exists(IDENTITY_PATH):
        return None
    text = decode(memory.store.read(IDENTITY_PATH), IDENTITY_PATH)
    page = parse(text, IDENTITY_PATH)
    if not isinstance(page, Identity):
        raise FormatError(IDENTITY_PATH, 1, f"it is a {page.kind}", "Write kind: identity")
    return text, page


def _read_persona(page: Identity) -> dict[str, str]:
    traits = {one["name"].strip(): one["value"].strip() for one in _TRAIT.finditer(page.who)}
    role = _TRAIT.sub("", page.who).strip()
    own = {"role": role, "mission": page.mission.strip()}
    return {**{name: value for name, value in own.items() if value}, **traits}
