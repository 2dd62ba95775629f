"""Frozen data classes whose methods are compiled when the first of them is called.

A command defines a hundred such classes and makes instances of thirty. To compile the methods of
all of them took a fifth of its processor time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

_METHODS = ("__init__", "__eq__", "__hash__", "__repr__")

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        *, frozen: bool = False, slots: bool = False, kw_only: bool = False
    ) -> Callable[[type], type]:
        """Return what decorates a class as `dataclasses.dataclass` does.

        Args:
            frozen: instances cannot be changed; the methods of other classes are not postponed.
            slots: instances have no attributes but their fields.
            kw_only: instances are made of named arguments alone.
        """

        def decorate(cls: type) -> type:
            if not frozen:
                return dataclasses.dataclass(slots=slots, kw_only=kw_only)(cls)
            how = {"slots": slots, "kw_only": kw_only}
            made = dataclasses.dataclass(init=False, repr=False, eq=False, **how)(cls)
            postponed = {name: _postpone(made, name) for name in _METHODS}
            for name, method in (_FROZEN | postponed).items():
                setattr(made, name, method)
            return made

        return decorate


def _postpone(cls: type, name: str) -> Callable[..., Any]:
    """Return a method that puts the compiled ones in its place and calls the one of its name."""

    def method(self: object, *args: object, **named: object) -> Any:
        _compile_methods(cls)
        return getattr(cls, name)(self, *args, **named)

    return method


def _compile_methods(cls: Any) -> None:
    fields = dataclasses.fields(cls)
    body: dict[str, Any] = {one.name: one for one in fields}
    body |= {"__annotations__": {one.name: one.type for one in fields}, "__doc__": ""}
    if hasattr(cls, "__post_init__"):
        body["__post_init__"] = cls.__post_init__
    # The methods of a class of the same fields fit this one: they ask for nothing but fields.
    twin: Any = dataclasses.dataclass(frozen=True)(type(cls.__name__, (), body))
    for name in _METHODS:
        setattr(cls, name, twin.__dict__[name])


def _set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[object]:
    return [getattr(self, one.name) for one in dataclasses.fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    for one, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


# They are the same for all classes; the state is for copies and pickles.
_FROZEN = {
    **{"__setattr__": _set, "__delattr__": _delete},
    **{"__getstate__": _get_state, "__setstate__": _set_state},
}
