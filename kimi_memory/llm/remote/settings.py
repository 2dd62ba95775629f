"""Choices in a plugin's settings, checked as they are taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kimi_memory.errors import UsageError


class Choices:
    """One ``[plugins.<name>]`` table.

    Args:
        name: of the plugin.
        settings: what stands in the table.
    """

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        self._name, self._settings = name, settings

    def __contains__(self, key: str) -> bool:
        """Whether a setting was given."""
        return key in self._settings

    def text(self, key: str, default: str = "") -> str:
        """Return a text; UsageError says what stands there instead."""
        value = self._settings.get(key, default)
        if not isinstance(value, str):
            raise UsageError(f"plugins.{self._name}.{key} is {value!r}. Give a text.")
        return value

    def number(self, key: str, default: float) -> float:
        """Return a number above 0; UsageError says what stands there instead."""
        value = self._settings.get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
            raise UsageError(f"plugins.{self._name}.{key} is {value!r}. Give a number above 0.")
        return float(value)

    def whole(self, key: str, default: int) -> int:
        """Return a whole number from 1; UsageError says what stands there instead."""
        value = self._settings.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UsageError(f"plugins.{self._name}.{key} is {value!r}. Give a whole number.")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false; UsageError says what stands there instead."""
        value = self._settings.get(key, default)
        if not isinstance(value, bool):
            raise UsageError(f"plugins.{self._name}.{key} is {value!r}. Give true or false.")
        return value
