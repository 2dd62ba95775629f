"""Keys of servers: from the environment or the keyring, never from a file of ours."""

from __future__ import annotations

import importlib
import importlib.util
import os

from kimi_memory.errors import ModelError

SERVICE = "kimi_memory"


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
