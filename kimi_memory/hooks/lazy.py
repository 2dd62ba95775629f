"""Bundled plugins that are imported when one of their hooks is first asked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable
from functools import cache, wraps
from typing import Any

from kimi_memory.hooks.specs import SPECS, hookimpl

Find = Callable[[], object]
_MARK, _BEHIND = "_is_silent", "_behind"


class StandIn:
    """A plugin that has the hooks of another, and nothing else that pluggy could look at."""

    def __dir__(self) -> Iterable[str]:
        return vars(self)


def stand_in(hooks: Iterable[str], find: Find) -> StandIn:
    """Return a plugin that has the hooks of another, and finds it at the first call.

    Args:
        hooks: each hook by name, with ``trylast`` or ``wrapper`` after it, or ``configured``
            where the plugin does nothing without settings, so that it need not be found.
        find: returns the plugin itself; called once.
    """
    # One plugin, however many of its hooks are called.
    made, find = StandIn(), cache(find)
    for stated in hooks:
        hook, *options = stated.split()
        wraps_others = "wrapper" in options
        mark = hookimpl(trylast="trylast" in options, wrapper=wraps_others)
        make = (
            _make_wrapping_hook
            if wraps_others
            else _make_silent_hook
            if "configured" in options
            else _make_calling_hook
        )
        setattr(made, hook, mark(make(hook, find)))
    return made


def _make_silent_hook(hook: str, find: Find) -> Callable[..., Any]:
    @wraps(SPECS[hook])
    def call(*_: Any, **__: Any) -> None:
        """Pass on: a plugin with settings is imported and has no stand-in."""

    setattr(call, _MARK, True)
    return call


def is_silent(function: Callable[..., Any]) -> bool:
    """Whether a function stands in for a plugin that never answers without settings."""
    return getattr(function, _MARK, False)


def found_behind(function: Callable[..., Any]) -> tuple[Callable[..., Any], tuple[str, ...]] | None:
    """Return what a stand-in calls and the names of its arguments; None for no stand-in."""
    find: Callable[[], tuple[Callable[..., Any], tuple[str, ...]]] | None
    find = getattr(function, _BEHIND, None)
    return find() if find is not None else None


def _make_calling_hook(hook: str, find: Find) -> Callable[..., Any]:
    # It takes the arguments of the specification, which is what pluggy looks at.
    @wraps(SPECS[hook])
    def call(*arguments: Any, **named: Any) -> Any:
        found, wanted = real(call)
        return found(**_pick_arguments(hook, wanted, arguments, named))

    real = _make_hook_finder(hook, find)
    setattr(call, _BEHIND, lambda: real(call))
    return call


def _make_wrapping_hook(hook: str, find: Find) -> Callable[..., Any]:
    @wraps(SPECS[hook])
    def call(*arguments: Any, **named: Any) -> Generator[None, Any, Any]:
        found, wanted = real(call)
        return (yield from found(**_pick_arguments(hook, wanted, arguments, named)))

    real = _make_hook_finder(hook, find)
    return call


def _make_hook_finder(
    hook: str, find: Find
) -> Callable[[Any], tuple[Callable[..., Any], tuple[str, ...]]]:
    """Return what finds the plugin's own function and the names of its arguments."""

    @cache
    def real(call: Any) -> tuple[Callable[..., Any], tuple[str, ...]]:
        # Tracebacks are traced to the plugin by this.
        call.__wrapped__ = found = getattr(find(), hook)
        return found, tuple(inspect.signature(found).parameters)

    return real


def _pick_arguments(
    hook: str, wanted: tuple[str, ...], arguments: tuple[Any, ...], named: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments a plugin takes: it may leave out what it does not need."""
    every = dict(zip(_argument_names(hook), arguments, strict=False)) | named
    return {name: every[name] for name in wanted}


@cache
def _argument_names(hook: str) -> tuple[str, ...]:
    return tuple(inspect.signature(SPECS[hook]).parameters)
