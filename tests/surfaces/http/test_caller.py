"""Namespaces: a caller is never given a wider one than its token has."""

from __future__ import annotations

import pytest

from kimi_memory.errors import ServerError
from kimi_memory.model.unit import Query
from kimi_memory.surfaces.http.caller import Caller, Namespace, Scope


@pytest.mark.parametrize(
    ("bound", "asked", "given"),
    [
        (("", ""), ("b", "c"), ("b", "c")),
        (("a", ""), ("", ""), ("a", "")),
        (("a", ""), ("a", "c"), ("a", "c")),
        (("a", ""), ("b", ""), None),
        (("", "c"), ("a", ""), ("a", "c")),
        (("", "c"), ("a", "d"), None),
        (("a", "c"), ("a", "c"), ("a", "c")),
        (("a", "c"), ("", "d"), None),
    ],
)
def test_a_namespace_only_narrows(
    bound: tuple[str, str], asked: tuple[str, str], given: tuple[str, str] | None
) -> None:
    space, query = Namespace(*bound), Query(text="x", project=asked[0], agent=asked[1])
    if given is None:
        with pytest.raises(ServerError, match="another project or agent"):
            space.narrowed(query)
    else:
        narrowed = space.narrowed(query)
        assert (narrowed.project, narrowed.agent) == given


def test_admin_includes_the_other_scopes_but_not_the_whole_memory() -> None:
    caller = Caller("a", frozenset({Scope.ADMIN}), Namespace("a"))
    for scope in Scope:
        caller.need(scope)
    with pytest.raises(ServerError, match="whole memory"):
        caller.need(Scope.READ, whole=True)
    with pytest.raises(ServerError, match="no scope 'write'"):
        Caller("a", frozenset({Scope.READ})).need(Scope.WRITE)
