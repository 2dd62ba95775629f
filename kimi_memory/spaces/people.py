"""People of an issuer in a space: which member somebody is, and which roles groups add."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple, Protocol

from kimi_memory.domain.space_types import Claims, Kind, Member, Space
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.spaces.code_flow import Begun, CodeFlow
from kimi_memory.spaces.issuers import Asking
from kimi_memory.spaces.space_files import is_name


class Roster(Protocol):
    """What a space says of itself and of its members, as its folder has it now."""

    @property
    def about(self) -> Space:
        """Its name, and whom it believes."""

    @property
    def members(self) -> Mapping[str, Member]:
        """Its members, by their names."""

    @property
    def host(self) -> Host:
        """The plugins, which say whom a token names."""


class Person(NamedTuple):
    """Somebody whom an issuer vouches for."""

    sub: str
    """The member; for who can be none, a name that no member can have."""
    groups: tuple[str, ...]


class Signer(NamedTuple):
    """Who signs people in at the pages."""

    asking: Asking
    client: str
    """The name by which this program is known there."""


class People:
    """Identifies the people behind tokens of the issuer that a space names.

    Args:
        space: the space; what changes in its folder holds from the next token on.
    """

    def __init__(self, space: Roster) -> None:
        self._space = space
        self._flow: tuple[Signer, CodeFlow] | None = None

    def known(self) -> bool:
        """Whether tokens may count that we did not make: of an issuer, or by a plugin."""
        return self._has_issuer or self._space.host.is_answered_by_others("who_is")

    @property
    def _has_issuer(self) -> bool:
        about = self._space.about
        return bool(about.issuer and about.audience)

    def identify(self, token: str) -> Person | None:
        """Return the principal of a token; None where the token is not valid.

        Raises:
            ServerError: the issuer does not answer.
            PluginError: a plugin failed.
            FormatError: a file of the space cannot be understood.
        """
        if not self.known():
            return None
        found = self._space.host.answer("who_is", token=token, space=self._space.about)
        return self._person_of(found)

    @property
    def signer(self) -> Signer | None:
        """Who signs people in at a page, by which name of ours; None where nobody does."""
        about = self._space.about
        return Signer(asking_of(about), about.client) if self._has_issuer and about.client else None

    def begin(self, back: str) -> Begun:
        """Return where to send a browser, and what to keep until it is back at an address of ours.

        Raises:
            UsageError: nobody signs people in, or a library is missing.
            ServerError: the issuer does not answer, or lets nobody in this way.
            FormatError: a file of the space cannot be understood.
        """
        return self._open_flow().begin(back)

    def finish(self, begun: Begun, answered: str) -> Person | None:
        """Return the person who came back with an address; None where it is not valid.

        Raises:
            UsageError, ServerError, FormatError: as in `begin`.
        """
        return self._person_of(self._open_flow().finish(begun, answered))

    def _open_flow(self) -> CodeFlow:
        signer = self.signer
        if signer is None:
            raise UsageError(
                "Nobody signs people in here. Name an issuer and a client with "
                "'kimi-memory space issuer'."
            )
        if self._flow is None or self._flow[0] != signer:
            self._flow = signer, CodeFlow(*signer)
        return self._flow[1]

    def _person_of(self, claims: Claims | None) -> Person | None:
        if claims is None:
            return None
        return Person(_name_member(self._space.members, claims.name), claims.groups)


def asking_of(about: Space) -> Asking:
    """Return whom a space believes."""
    return Asking(about.issuer, about.audience, about.claim, about.groups)


def find_person(
    members: Mapping[str, Member], sub: str, groups: Iterable[str] = ()
) -> Member | None:
    """Return a member, with the roles of its groups; None for who is neither that nor in one."""
    own = members.get(sub)
    of = [one for name in groups if (one := _find_by_identity(members, name, "group"))]
    roles = dict.fromkeys(role for one in of for role in one.roles)
    if own is not None:
        fit = roles and own.kind == "user"
        return replace(own, roles=tuple(dict.fromkeys((*own.roles, *roles)))) if fit else own
    if not roles or not is_name(sub):
        return None
    return Member(sub, "user", sub, tuple(roles), of[0].added, of[0].sub)


def _name_member(members: Mapping[str, Member], identity: str) -> str:
    found = _find_by_identity(members, identity, "user")
    if found is not None:
        return found.sub
    # A name that is somebody else's here makes nobody that one.
    if is_name(identity) and identity not in members:
        return identity
    return f"stranger {hashlib.sha256(identity.encode('utf-8', 'replace')).hexdigest()[:12]}"


def _find_by_identity(members: Mapping[str, Member], identity: str, kind: Kind) -> Member | None:
    for one in members.values():
        if one.kind == kind and one.identity == identity:
            return one
    named = members.get(identity)
    return named if named and named.kind == kind and not named.identity else None
