"""Regular expressions that are compiled when they are first used.

Compiling all of ours takes longer than answering a question, and most processes use few.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


def regex(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern like `re.compile`; a mistake in it shows at its first use."""
    return cast("re.Pattern[str]", _Regex(source, flags))  # it has every attribute of one


class _Regex:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, and keep it for the next time."""
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found
