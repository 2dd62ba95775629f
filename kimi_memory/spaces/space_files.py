"""The files of a space: ``space.toml`` and ``members.jsonl``, and where spaces lie here."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypedDict

from kimi_memory.agent_hooks.user_files import put, text_at
from kimi_memory.api.options import Home
from kimi_memory.domain.space_types import KINDS, ROLES, Member, Space
from kimi_memory.errors import FormatError, UsageError
from kimi_memory.formats.json_values import plain, revive
from kimi_memory.nlp.basic.safe_text import one_line

ABOUT = "space.toml"
MEMBERS = "members.jsonl"
REGISTRY = "spaces.json"
"""In the user's state directory: the spaces of this machine, and where their memories lie."""
_NAME = re.compile(r"[\w][\w.@+-]{0,63}")


class Registered(TypedDict):
    """Where a space lies on this machine, and where its memories do, by id."""

    folder: str
    memories: dict[str, str]


def check_name(name: str) -> None:
    """Refuse what is no name of a space or a member.

    Raises:
        UsageError: it is none.
    """
    if not is_name(name):
        raise UsageError(f"{name!r} is no name. Use up to 64 letters, digits and . @ + - _.")


def is_name(text: str) -> bool:
    """Whether a space or a member can be called so."""
    return bool(_NAME.fullmatch(text))


def check_roles(roles: Collection[str]) -> None:
    """Refuse roles that do not exist.

    Raises:
        UsageError: one does not, or there is none.
    """
    wrong = sorted(set(roles) - set(ROLES))
    if wrong or not roles:
        what = f"There is no role {wrong[0]!r}" if wrong else "A member needs a role"
        raise UsageError(f"{what}. Use {', '.join(ROLES)}.")


def read_registry(home: Home) -> dict[str, Registered]:
    """Return the spaces of this machine by name; raises as `read_registry_at`."""
    return read_registry_at(home.state)


def read_registry_at(state: Path) -> dict[str, Registered]:
    """Return the spaces of this machine by name.

    Args:
        state: the user's state directory.

    Raises:
        FormatError: the list cannot be understood.
    """
    path = state / REGISTRY
    try:
        found = json.loads(text_at(path) or "{}")
        return {
            str(name): {"folder": str(one["folder"]), "memories": dict(one["memories"])}
            for name, one in found.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise FormatError(str(path), 1, "it is no list of spaces") from error


def find_registered(state: Path, memory: str, root: Path) -> tuple[str, Registered] | None:
    """Return the space that a memory belongs to, with its name; None where it is in none.

    Args:
        state: the user's state directory.
        memory: its id, which goes with it where it moves.
        root: its folder, so that another id in ``memory.toml`` takes no guard away.
    """
    for name, one in read_registry_at(state).items():
        if memory in one["memories"] or str(root.resolve()) in one["memories"].values():
            return name, one
    return None


def write_registry(home: Home, registry: Mapping[str, Registered]) -> None:
    """Keep the list of spaces."""
    put(home.state / REGISTRY, json.dumps(registry, ensure_ascii=False, indent=2) + "\n")


def read_about(root: Path) -> Space:
    """Return what ``space.toml`` says.

    Raises:
        FormatError: it does not say what the space is.
    """
    path = root / ABOUT
    try:
        found = tomllib.loads(text_at(path))
        about = found["space"]
        memories = {str(one["id"]): str(one["name"]) for one in found.get("memories", ())}
        return Space(
            str(about["id"]), str(about["name"]), datetime.fromisoformat(about["created"]),
            str(about.get("issuer", "")), str(about.get("audience", "")),
            str(about.get("claim", "sub")), str(about.get("groups", "groups")),
            str(about.get("client", "")), memories, _read_queries(found.get("audit", {})),
            _read_tokens(found.get("budget", {})),
        )  # fmt: skip
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = f"it does not say what the space is ({describe(error)})"
        raise FormatError(str(path), 1, why, "Restore it from the history of the space") from error


def _read_queries(audit: Mapping[str, object]) -> Literal["hash", "text"]:
    said = audit.get("queries", "hash")
    if said not in ("hash", "text"):
        raise ValueError(f"[audit] queries is {said!r}, and neither hash nor text")
    return "text" if said == "text" else "hash"


def _read_tokens(budget: Mapping[str, object]) -> int:
    said = budget.get("tokens_per_day", 0)
    if type(said) is not int or said < 0:
        raise ValueError(f"[budget] tokens_per_day is {said!r}, and no number of tokens")
    return said


def format_about(about: Space) -> str:
    """Return the text of ``space.toml``."""
    pairs = {"id": about.id, "name": about.name, "created": about.created.isoformat(),
             "issuer": about.issuer, "audience": about.audience}  # fmt: skip
    if about.issuer:
        pairs |= {"claim": about.claim, "groups": about.groups, "client": about.client}
    lines = ["[space]", *_format_pairs(pairs)]
    if about.queries != "hash":
        lines += ["", "[audit]", *_format_pairs({"queries": about.queries})]
    if about.tokens_per_day:
        lines += ["", "[budget]", *_format_pairs({"tokens_per_day": about.tokens_per_day})]
    for id, name in about.memories.items():
        lines += ["", "[[memories]]", *_format_pairs({"id": id, "name": name})]
    return "\n".join(lines) + "\n"


def _format_pairs(pairs: Mapping[str, str | int]) -> list[str]:
    # Texts and numbers of JSON are those of TOML, but for escapes of rare letters.
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in pairs.items()]


def read_members(path: Path) -> dict[str, Member]:
    """Return the members by their names.

    Raises:
        FormatError: a line is no member, or names one that stood above it.
    """
    found: dict[str, Member] = {}
    identities: dict[tuple[str, str], str] = {}
    for number, line in enumerate(text_at(path).splitlines(), 1):
        try:
            member = _parse_member(json.loads(line))
        except (ValueError, TypeError, KeyError, UsageError) as error:
            why = f"it is no member ({describe(error)})"
            raise FormatError(str(path), number, why) from error
        if member.sub in found:
            raise FormatError(str(path), number, f"{member.sub} is a member already, further up")
        other = identities.setdefault((member.kind, member.identity), member.sub)
        if member.identity and other != member.sub:
            raise FormatError(str(path), number, f"{other} has the identity of {member.sub}")
        found[member.sub] = member
    return found


def _parse_member(found: Any) -> Member:
    # The file is for people to edit, and says who may read what: nothing in it is guessed at.
    if not isinstance(found["roles"], list) or not isinstance(found["sub"], str):
        raise TypeError("'roles' must be a list, 'sub' a text")
    member: Member = revive(Member, found)
    check_name(member.sub)
    check_roles(member.roles)
    if type(member.identity) is not str:
        raise TypeError("'identity' must be a text")
    if member.identity and member.kind not in ("user", "group"):
        raise ValueError(f"an issuer knows no {member.kind}: take 'identity' out")
    if member.kind not in KINDS:
        raise ValueError(f"{member.kind!r} is no kind: use {', '.join(KINDS)}")
    return member


def format_members(members: Sequence[Member]) -> str:
    """Return the text of ``members.jsonl``."""
    return "".join(json.dumps(plain(one), ensure_ascii=False) + "\n" for one in members)


def describe(error: object) -> str:
    """Return an error of a library in one line, as a part of a sentence of ours."""
    return one_line(str(error)).rstrip(".")
