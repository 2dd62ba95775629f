"""People by OpenID Connect: the issuer that a space names says whom a token is of.

Why it exists: an organisation knows its people already. A plugin of yours that answers `who_is`
can know them in another way, such as by tokens of a system of your own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.space_types import Claims, Space
from kimi_memory.spaces.issuers import Issuer
from kimi_memory.spaces.people import asking_of

SETTINGS = ()
"""Nothing is to be set: a space names its issuer."""


class Issuers:
    """Asks the issuers of spaces; their keys are kept for a while."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Space, Issuer]] = {}

    @hookimpl(trylast=True)
    def who_is(self, token: str, space: Space) -> Claims | None:
        """Believe what the issuer signed."""
        if not (space.issuer and space.audience):
            return None
        known = self._known.get(space.id)
        if known is None or asking_of(known[0]) != asking_of(space):
            known = self._known[space.id] = space, Issuer(asking_of(space))
        return known[1].identify(token)


def create(settings: Mapping[str, Any]) -> Issuers:
    """Make the plugin."""
    return Issuers()
