"""Cleaning of JSON values: secrets masked in every text, the shape as it was."""

from __future__ import annotations

from math import isfinite
from typing import Any

from kimi_memory.errors import UsageError
from kimi_memory.operations.agent_files import Folder

# Deeper nesting comes from no program, and would exhaust Python's stack.
_DEEPEST = 100


def clean_json(folder: Folder, value: Any, name: str = "", depth: int = 0) -> Any:
    """Return a JSON value as it may be kept.

    Args:
        folder: where it is to be kept.
        value: the value.
        name: the name it stands under; ``password`` makes a secret of a plain word.
        depth: how deep it lies.

    Raises:
        UsageError: it is no JSON, or too long to be kept whole.
    """
    match value:
        # Else a value could end the process with a RecursionError in any later reader.
        case _ if depth > _DEEPEST:
            raise UsageError(f"The value of {name!r} is nested too deep to be kept.")
        case str():
            return _mask_value(folder, folder.clean(value), name)
        case None | bool() | int():
            return value
        # NaN and infinity are no JSON for any other program.
        case float() if isfinite(value):
            return value
        case dict():
            below = depth + 1
            return {
                folder.clean(_require_text(key)): clean_json(folder, one, _require_text(key), below)
                for key, one in value.items()
            }
        case list() | tuple():
            return [clean_json(folder, one, name, depth + 1) for one in value]
    raise UsageError(f"{type(value).__name__} under {name!r} is no JSON. Keep texts and numbers.")


def _require_text(key: object) -> str:
    if isinstance(key, str):
        return key
    raise UsageError(f"The name {key!r} is no text. Name what you keep by texts.")


def _mask_value(folder: Folder, text: str, name: str) -> str:
    """Return a text masked as it would be right behind its name."""
    label = f"{name}: "
    masked, _ = folder.memory.screen.mask(f"{label}{text}")
    return masked.removeprefix(label) if masked.startswith(label) else masked
