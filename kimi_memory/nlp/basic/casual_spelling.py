"""What people leave out when they type fast: the apostrophes of contractions."""

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex

_WORDS = {
    **{f"{verb}nt": f"{verb}n't" for verb in ("do", "does", "did", "is", "are", "was", "were")},
    **{f"{verb}nt": f"{verb}n't" for verb in ("have", "has", "had", "would", "could", "should")},
    **{"cant": "can't", "wont": "won't", "aint": "ain't", "mustnt": "mustn't", "lets": "let's"},
    **{"im": "i'm", "ive": "i've", "youre": "you're", "youve": "you've", "youll": "you'll"},
    **{"theyre": "they're", "theyve": "they've", "weve": "we've", "hes": "he's", "shes": "she's"},
    **{"thats": "that's", "theres": "there's", "heres": "here's", "whats": "what's"},
    **{"wheres": "where's", "whos": "who's", "hows": "how's", "whens": "when's"},
}
"""Words that are nothing but a contraction; "its", "were", "well" and "ill" are words."""
_LEFT_OUT = regex(rf"(?<![\w'-])(?:{'|'.join(sorted(_WORDS))})(?![\w'-])")


def restore_apostrophes(low: str) -> str:
    """Return a text in lower case with the apostrophes of contractions: "dont" is "don't"."""
    return _LEFT_OUT.sub(lambda found: _WORDS[found[0]], low)
