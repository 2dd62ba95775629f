"""Text made comparable: width, case, white space, and on request marks and script, folded."""

from __future__ import annotations

import unicodedata

from kimi_memory.nlp.basic.cjk import simplify
from kimi_memory.nlp.basic.regex import regex
from kimi_memory.nlp.basic.result_cache import keep_results

_SPACE = regex(r"\s+")
_HAN_SPACE = regex(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])")


def normalise(text: str) -> str:
    """Return `text` with compatibility forms, case and white space folded.

    Two texts that a reader would call the same words normalise to the same
    string; spaces between Chinese characters vanish.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _HAN_SPACE.sub("", _SPACE.sub(" ", folded).strip())


# What changes a meaning stays: the point of 1.5, the minus of -5, the plus of C++.
_MARKS = regex(
    r"[\s_]+|(?<=\d),(?=\d{3})|(?<!\d)[.,:/]|[.,:/](?!\d)|-(?!\d)|(?<=[^\W\d])-"
    r"|[^\w.,:/\-+#%@&$<>=^~|*€£¥]"
)


@keep_results(4096)
def bare(text: str) -> str:
    """Return `text` as it is compared with what must not come back.

    Beyond `normalise`, punctuation and white space go and traditional characters
    become simplified ones, so that no other way to type a text is another text.
    """
    return _MARKS.sub("", simplify(normalise(text)))
