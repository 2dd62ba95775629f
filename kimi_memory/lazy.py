"""Bundled plugins that are imported when one of their hooks is first asked."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from functools import cache, wraps
from types import ModuleType
from typing import Any

from kimi_memory.hookspecs import SPECS, hookimpl

Find = Callable[[], object]


def stand_in(name: str, hooks: Iterable[str], find: Find) -> ModuleType:
    """Return a plugin that has the hooks of another, and finds it at the first call.

    Args:
        name: what the stand-in is called.
        hooks: each hook by name, with ``trylast`` or ``wrapper`` after it.
        find: returns the plugin itself; called once.
    """
    module, find = ModuleType(name), cache(find)
    for stated in hooks:
        hook, *options = stated.split()
        wraps_others = "wrapper" in options
        mark = hookimpl(trylast="trylast" in options, wrapper=wraps_others)
        make = _wrapping if wraps_others else _calling
        setattr(module, hook, mark(make(hook, find)))
    return module


def _calling(hook: str, find: Find) -> Callable[..., Any]:
    # It takes the arguments of the specification, which is what pluggy looks at.
    @wraps(SPECS[hook])
    def call(*arguments: Any, **named: Any) -> Any:
        return _real(call, hook, find)(*arguments, **named)

    return call


def _wrapping(hook: str, find: Find) -> Callable[..., Any]:
    @wraps(SPECS[hook])
    def call(*arguments: Any, **named: Any) -> Generator[None, Any, Any]:
        return (yield from _real(call, hook, find)(*arguments, **named))

    return call


def _real(call: Any, hook: str, find: Find) -> Callable[..., Any]:
    """Return the plugin's own function, and let tracebacks be traced to it."""
    call.__wrapped__ = found = getattr(find(), hook)
    return found  # type: ignore[no-any-return]  # a plugin may be any object
