"""How odd a run of letters is: as words of English, names of pinyin and of programs go, or drawn.

The table holds for each pair of letters how surprising the second is behind the first, in
natural logarithms cut to a digit, counted over chats, manuals and code; its first row and column
stand for the edge of a word.
"""

from __future__ import annotations

from itertools import pairwise

from kimi_memory.nlp.basic.patterns import regex

_SURPRISE = (
    "923223333244333325322343546"
    "263226537374231637221344536"
    "125551655246256258234267637"
    "227452672382254148342378758"
    "024531556266445258335366748"
    "134324456575332545222644357"
    "126552367187356168243386848"
    "135551643277353348234367656"
    "126661787288555257452387858"
    "334233338785231236322638484"
    "326651656356665226616255667"
    "135541445266453447523365447"
    "125431466195266259633356738"
    "113531758266425226645467747"
    "126322326374454357621347647"
    "244336346444221338133243567"
    "226542643386244238223366539"
    "245554655466246555453064575"
    "125331536284433257333346838"
    "136352573284455335521365648"
    "127462572287446239333385638"
    "232332547356222528222767367"
    "216560656177545358546467667"
    "126642762186563237335672378"
    "035352455277547526551576426"
    "045553657477344228523475755"
    "225540453265545256545355533"
)
_PIECES = regex(r"[A-Z]?[a-z]+|[A-Z]+")
_LETTERS = "`abcdefghijklmnopqrstuvwxyz"
_WIDTH = len(_LETTERS)
_AT = {sign: place for place, sign in enumerate(_LETTERS)}


def oddness_of(value: str) -> int:
    """Return how odd the letters of a value are, from 0 for words to 5 for what is drawn."""
    total = count = 0
    for piece in _PIECES.findall(value):
        places = [0, *(_AT[sign] for sign in piece.lower()), 0]
        for before, after in pairwise(places):
            total += int(_SURPRISE[before * _WIDTH + after])
        count += len(places) - 1
    return min(5, max(0, int(2 * total / count) - 4)) if count else 0
