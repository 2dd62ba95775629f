"""What a text looks like: letters of other alphabets, wide forms and unseen signs folded away."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_LIKE = str.maketrans(
    {
        **dict(zip("абвгԁеһіјкӏмнорԛѕтуѵԝхүґє", "abbrdehijklmhopqstyvwxyre", strict=True)),
        **dict(zip("αβγεηικνορτυχωμ", "abyenikvoptuxwm", strict=True)),
        **dict(zip("ıɩɡɑɪʏᴍᴇᴏʀᴋꜱօոհյսց", "iigaiymeorksonhjug", strict=True)),
        **dict.fromkeys("‹〈⟨《﹤˂ᐸ❮❬⟪≺〈«", "<"),
        **dict.fromkeys("›〉⟩》﹥˃ᐳ❯❭⟫≻〉»", ">"),
        **dict.fromkeys("∕⁄⧸╱⟋᜵〳", "/"),
        **dict.fromkeys("∣│ǀ❘┃丨ⵏ¦ㅣ", "|"),
        **dict.fromkeys("‐‑‒–—―−﹣⁃", "-"),
        **dict.fromkeys("▁＿‿", "_"),
        **dict.fromkeys("【［〔", "["),
        **dict.fromkeys("】］〕", "]"),
    }
)
_UNSEEN = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800")
"""Letters by name that nobody sees."""


def appearance(text: str) -> tuple[str, list[int]]:
    """Return how a text looks, in small Latin letters, and where each sign of that stands.

    ``＜∕кimi‑memory`` looks like ``</kimi-memory``.
    """
    signs = [(seen, place) for place, sign in enumerate(text) for seen in _fold_sign(sign)]
    return "".join(seen for seen, _ in signs), [place for _, place in signs]


@lru_cache(maxsize=4096)
def _fold_sign(sign: str) -> str:
    if sign in _UNSEEN:
        return ""
    # Twice: a mathematical 𝛼 becomes a plain Greek α first, which looks like an "a" then.
    parts = unicodedata.normalize("NFKD", sign.translate(_LIKE)).casefold().translate(_LIKE)
    return "".join(part for part in parts if unicodedata.category(part) not in ("Cf", "Mn", "Me"))
