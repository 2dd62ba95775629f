"""Keep compiled patterns from one process to the next, as Python keeps compiled modules.

Compiling what one sentence needs takes longer than all else that a command does with it.
The file lies in ``__pycache__`` and may vanish at any moment. What Python offers here has
no public name: where it changes, patterns are compiled as ever.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import importlib.util
import marshal
import os
import re
import sys
import zlib
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

_MOST = 4096
"""A file with more rows holds those of many versions of the program, and begins anew."""
_SUM = 4
"""Bytes of the checksum at the start of the file."""
_UNKNOWN = (AttributeError, ImportError, OverflowError, RuntimeError, TypeError, ValueError)
"""What a Python with other inner parts raises, and a row that is not ours."""


class PatternCache:
    """The compiled patterns of a file: read at the first question, written at the end.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[Any, Any] | None = None
        self._is_changed = False

    def compile_pattern(self, source: str, flags: int) -> re.Pattern[str]:
        """Return a compiled pattern.

        Args:
            source: the pattern. It is kept, so it must not come from anybody's memory.
            flags: its flags.
        """
        try:
            row = self.compute_once(("code", source, int(flags)), lambda: _encode(source, flags))
            return _decode(source, row)
        except _UNKNOWN:
            return re.compile(source, flags)

    def compute_once(self, key: tuple[str, str, int], compute: Callable[[], Any]) -> Any:
        """Return what was computed of a pattern before, or compute it now.

        Args:
            key: what was computed, the pattern and its flags.
            compute: returns numbers, texts and tuples of them.
        """
        if self._rows is None:
            self._rows = self._read_rows()
        if key not in self._rows:
            self._rows[key] = compute()
            self._is_changed = True
        return self._rows[key]

    def write_file(self) -> None:
        """Write what was computed since the file was read, if Python may write its caches."""
        if not self._is_changed or self._rows is None or sys.dont_write_bytecode:
            return
        content = marshal.dumps((sys.version, self._rows))
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(exist_ok=True)
            try:
                beside.write_bytes(zlib.crc32(content).to_bytes(_SUM, "big") + content)
                beside.replace(self._path)
            finally:
                beside.unlink(missing_ok=True)

    def _read_rows(self) -> dict[Any, Any]:
        """Return what the file holds; nothing where it is damaged or of another Python."""
        with contextlib.suppress(OSError, EOFError, TypeError, ValueError):
            content = self._path.read_bytes()
            # A flipped bit could let a pattern of secrets find nothing.
            if zlib.crc32(content[_SUM:]).to_bytes(_SUM, "big") == content[:_SUM]:
                version, rows = marshal.loads(content[_SUM:])  # noqa: S302  who writes here writes the bytecode beside it
                if version == sys.version and len(rows) <= _MOST:
                    return dict(rows)
        return {}


def _encode(source: str, flags: int) -> tuple[Any, ...]:
    """Return what `re.compile` hands to the engine, as it may be stored."""
    compiler = importlib.import_module("re._compiler")
    tree = importlib.import_module("re._parser").parse(source, flags)
    order: list[str | None] = [None] * tree.state.groups
    for name, number in tree.state.groupdict.items():
        order[number] = name
    code = array("I", compiler._code(tree, flags)).tobytes()
    names = tuple(tree.state.groupdict.items())
    return code, int(flags) | int(tree.state.flags), tree.state.groups - 1, names, tuple(order)


def _decode(source: str, row: tuple[Any, ...]) -> re.Pattern[str]:
    code, flags, groups, names, order = row
    numbers = array("I", code).tolist()
    engine = importlib.import_module("_sre")
    pattern: re.Pattern[str] = engine.compile(source, flags, numbers, groups, dict(names), order)
    return pattern


PATTERNS = PatternCache(Path(importlib.util.cache_from_source(__file__)).with_suffix(".patterns"))
atexit.register(PATTERNS.write_file)
