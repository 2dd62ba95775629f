"""Scopes: whose something is; everybody's, or one agent's, one user's, one session's."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kimi_memory.domain.session import Session

SHARED = ""
"""The scope of what is everybody's."""
AREAS = ("agent", "user", "session")
"""Private areas of a session; without one, what is said in it is shared."""
_PART = re.compile(r"(.+)\.(?:[2-9]|[1-9]\d+)")


def root_of(session: Session) -> str:
    """Return the id a session shares with those it continues."""
    id = session.continues or session.id
    found = _PART.fullmatch(id)
    return found[1] if found and session.continues else id


def scope_of(session: Session) -> str:
    """Return the scope of what is said in a session.

    An area that cannot be understood, or that lacks its name, is the session's own:
    what was meant to be private must not become shared.
    """
    if not session.area:
        return SHARED
    name = {"agent": session.agent, "user": session.user}.get(session.area, "")
    return named(session.area, name) or f"session:{root_of(session)}"


def in_scope(session: Session, scope: str) -> Session:
    """Return a header under which what is said has a private scope."""
    area, _, name = scope.partition(":")
    match area:
        case "agent":
            return replace(session, area=area, agent=name)
        case "user":
            return replace(session, area=area, user=name)
        case "session":
            return replace(session, area=area, continues=name)
    return replace(session, area="session")


def named(area: str, name: str) -> str:
    """Return the scope of an area and a name; none without a name."""
    line = " ".join(name.split())
    return f"{area}:{line}" if line else SHARED


def problem_of(session: Session) -> str:
    """Return what is wrong with the area of a new session, or an empty string."""
    if session.area and session.area not in AREAS:
        return f"{session.area!r} is no area. Use {', '.join(AREAS)}, or none for shared."
    if session.area == "agent" and not session.agent.strip():
        return "The area of an agent needs its name. Give agent, or leave out area."
    if session.area == "user" and not session.user.strip():
        return "The area of a user needs its name. Give user, or leave out area."
    return ""


def owner(scope: str, area: str) -> str:
    """Return the name behind a scope of this area, or an empty string."""
    kind, _, name = scope.partition(":")
    return name if kind == area else ""


def is_private(scope: str) -> bool:
    """Whether the scope of a tombstone is one that notes have too."""
    return scope.partition(":")[0] in AREAS


def owned(scope: str) -> dict[str, str]:
    """Return the fields of a unit that tell whose it is."""
    line = " ".join(scope.split())
    return {"scope": line, "agent": owner(line, "agent"), "user": owner(line, "user")}


def visible(scope: str, within: Container[str] | None) -> bool:
    """Whether something of a scope may be shown.

    Args:
        scope: whose it is.
        within: the private scopes that the reader may see; None for the owner, who sees all.
    """
    return within is None or scope == SHARED or scope in within
