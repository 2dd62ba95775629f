"""Text made comparable: width, case and white space folded."""

from __future__ import annotations

import unicodedata

from kimi_memory.text.regex import regex

_SPACE = regex(r"\s+")
_HAN_SPACE = regex(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])")


def normalise(text: str) -> str:
    """Return `text` with compatibility forms, case and white space folded.

    Two texts that a reader would call the same words normalise to the same
    string; spaces between Chinese characters vanish.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _HAN_SPACE.sub("", _SPACE.sub(" ", folded).strip())
