"""Regular expressions that are compiled when they are first used.

Compiling all of ours takes longer than answering a question, and most processes use few.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast

_HAN_SET = re.compile(r"\[(?:\\u3400-\\u9fff|A-Za-z|\\d)+\]")


def regex(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern like `re.compile`; a mistake in it shows at its first use."""
    return cast("re.Pattern[str]", _Regex(source, flags))  # it has every attribute of one


class Phrases:
    """Several patterns that are asked together.

    Args:
        sources: the patterns.
        flags: flags of all of them.
    """

    def __init__(self, *sources: str, flags: int = 0) -> None:
        self._each = [regex(source, flags) for source in sources]

    def found_in(self, text: str) -> bool:
        """Whether a text has a match of one of them."""
        return any(each.search(text) for each in self._each)


class _Regex:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    @cached_property
    def _compiled_pattern(self) -> re.Pattern[str]:
        source = self._source
        if self._flags & re.IGNORECASE:
            # Python asks of each of 27,000 hanzi for its other case: 3 ms for every such set.
            source = _HAN_SET.sub(r"(?-i:\g<0>)", source)
        return re.compile(source, self._flags)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, and keep it for the next time."""
        found = getattr(self._compiled_pattern, name)
        setattr(self, name, found)
        return found
