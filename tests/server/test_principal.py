"""Namespaces: a caller is never given a wider one than its token has."""

from __future__ import annotations

from typing import Any

import pytest

from kimi_memory import Memory
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import ServerError
from kimi_memory.server.principal import Caller, Namespace, Scope


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
        (("", "", "u"), ("a", "c"), ("a", "c")),
        (("", "", "u"), ("", "", "u"), ("", "")),
        (("", "", "u"), ("", "", "v"), None),
    ],
)
def test_a_namespace_only_narrows(
    bound: tuple[str, ...], asked: tuple[str, ...], given: tuple[str, str] | None
) -> None:
    names = ("project", "agent", "user")
    space, query = Namespace(*bound), Query(text="x", **dict(zip(names, asked, strict=False)))
    if given is None:
        with pytest.raises(ServerError, match="another project or agent"):
            space.narrowed(query)
    else:
        narrowed = space.narrowed(query)
        assert (narrowed.project, narrowed.agent) == given


def test_admin_includes_the_other_scopes_but_not_the_whole_memory() -> None:
    caller = Caller("a", frozenset({Scope.ADMIN}), Namespace("a"))
    for scope in (Scope.READ, Scope.WRITE, Scope.ADMIN):
        caller.need(scope)
    with pytest.raises(ServerError, match="no scope 'person'"):
        caller.need(Scope.PERSON)
    with pytest.raises(ServerError, match="whole memory"):
        caller.need(Scope.READ, whole=True)
    with pytest.raises(ServerError, match="no scope 'write'"):
        Caller("a", frozenset({Scope.READ})).need(Scope.WRITE)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "asked",
    [
        {"agent": "b"},
        {"user": "v"},
        {"project": "q"},
        {"session": ("t",)},
        {"session": ("s", "t")},
        {"within": ("agent:b",)},
        {"within": ("agent:a", "user:v")},
    ],
)
def test_nobody_asks_for_what_is_another_ones(asked: dict[str, Any], shared: bool) -> None:
    space = Namespace("p", "a", "u", "s", shared)
    with pytest.raises(ServerError, match="bound to another") as told:
        space.narrowed(Query(text="x", **asked))
    assert told.value.status == 403


def test_what_is_bound_sees_its_own_scopes_and_with_shared_what_is_shared() -> None:
    strict = Namespace("p", "a", "u").narrowed(Query(text="x"))
    assert (strict.project, strict.agent, strict.user) == ("p", "a", "u")
    assert strict.within == ("agent:a", "user:u")
    shared = Namespace("p", "a", "u", shared=True).narrowed(Query(text="x"))
    assert (shared.project, shared.agent, shared.user) == ("p", "", "")
    assert shared.within == strict.within
    assert Namespace("p").narrowed(Query(text="x")).within == ()
    assert Namespace().narrowed(Query(text="x")).within is None
    narrower = Namespace(agent="a", shared=True).narrowed(Query(text="x", within=("",)))
    assert narrower.within == ("",)


def test_a_caller_writes_to_an_area_of_its_own(memory: Memory) -> None:
    space = Namespace(agent="a", session="s")
    assert space.area(memory, "agent") == "agent"
    assert space.area(memory, "") == "session"
    memory.session("s")
    assert space.area(memory, "") == ""
    assert Namespace().area(memory, "user") == "user"
    with pytest.raises(ServerError, match="bound to no user"):
        space.area(memory, "user")
