"""Modules that somebody imports and nobody needs: they are imported when they are used."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


@contextmanager
def postponed(name: str, *members: str) -> Iterator[None]:
    """Have a module wait that is imported inside of the block, for functions of it alone.

    Args:
        name: the module, such as ``urllib.request``; its package is imported.
        members: functions that are imported from it; each imports it when it is called.
    """
    if name in sys.modules:
        yield
        return
    package, _, last = name.rpartition(".")
    later = _Later(name, members)
    # Another thread may import it meanwhile, and would keep what it found.
    vars(import_module(package))[last] = sys.modules[name] = later
    try:
        yield
    finally:
        if sys.modules.get(name) is later:
            del sys.modules[name]


class _Later(ModuleType):
    """Stands for a module, and imports it when something of it is used."""

    def __init__(self, name: str, members: tuple[str, ...]) -> None:
        super().__init__(name)
        for member in members:
            setattr(self, member, self._calling(member))

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the module itself."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._real(), name)

    def _real(self) -> ModuleType:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return import_module(self.__name__)

    def _calling(self, member: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            return getattr(self._real(), member)(*arguments, **named)

        return call
