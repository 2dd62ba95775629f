"""Choices in a plugin's settings, and keys from the environment or the keyring."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Mapping
from typing import Any

from kimi_memory.errors import ModelError, UsageError

SERVICE = "kimi_memory"


class Choices:
    """One ``[plugins.<name>]`` table."""

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        self.name, self._settings = name, settings

    def __contains__(self, key: str) -> bool:
        """Whether a setting was given."""
        return key in self._settings

    def text(self, key: str, default: str = "") -> str:
        """Return a text; UsageError names a value of another type."""
        value = self._settings.get(key, default)
        if not isinstance(value, str):
            raise UsageError(f"plugins.{self.name}.{key} is {value!r}. Give a text.")
        return value

    def number(self, key: str, default: float) -> float:
        """Return a number above 0; UsageError names any other value."""
        value = self._settings.get(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
            raise UsageError(f"plugins.{self.name}.{key} is {value!r}. Give a number above 0.")
        return float(value)

    def whole(self, key: str, default: int) -> int:
        """Return a whole number from 1; UsageError names any other value."""
        value = self._settings.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UsageError(f"plugins.{self.name}.{key} is {value!r}. Give a whole number.")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false; UsageError names any other value."""
        value = self._settings.get(key, default)
        if not isinstance(value, bool):
            raise UsageError(f"plugins.{self.name}.{key} is {value!r}. Give true or false.")
        return value


def find_key(variable: str, entry: str) -> str:
    """Return a key; empty when neither place is named.

    Args:
        variable: name of an environment variable.
        entry: user name of an entry of the service ``kimi_memory`` in the keyring.

    Raises:
        ModelError: a place is named and holds no key.
    """
    if variable:
        key = os.environ.get(variable, "").strip()
        if not key:
            raise ModelError(f"The environment variable {variable} is empty. Put the key there.")
        return key
    return _of_keyring(entry) if entry else ""


def _of_keyring(entry: str) -> str:
    if importlib.util.find_spec("keyring") is None:
        raise ModelError("The keyring package is missing. Install it, or use key_env.")
    keyring = importlib.import_module("keyring")
    try:
        key = keyring.get_password(SERVICE, entry)
    except keyring.errors.KeyringError as error:
        raise ModelError(f"The keyring is closed: {error}. Open it, or use key_env.") from error
    if not key:
        raise ModelError(f"No key {entry!r}. Run 'keyring set {SERVICE} {entry}'.")
    return str(key)
