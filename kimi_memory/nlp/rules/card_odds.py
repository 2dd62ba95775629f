"""How likely a careful reader keeps a card: by its words, by what it is, and by its talk.

Rules find what was ordered, decided or stated; most of that is of one piece of work. Readers
who saw no rule judged cards of other people's sessions one by one, and a logistic regression
over few signs says which of the others are worth to be held without asking.
"""

from __future__ import annotations

from collections.abc import Mapping

from kimi_memory.nlp.basic.characters import language_of
from kimi_memory.nlp.rules.lasting import is_lasting
from kimi_memory.nlp.rules.odds import best_odds_of
from kimi_memory.nlp.rules.slots import slot_of
from kimi_memory.nlp.rules.stands_alone import holds_on
from kimi_memory.nlp.rules.utterance import Act, clauses

LEAST = -1.1
"""A card whose log odds are lower waits for a person."""
_WORDS = 0.66
_CHAT, _HOLDS, _ORDER, _SLOT, _LASTING, _SELF = -1.09, 1.21, 1.28, 0.9, 1.54, 0.79
_TYPES: Mapping[str, float] = {"preference": 1.98, "entity": 3.46}
_LENGTH, _EVEN = -0.41, -0.5
_UNIT, _LONGEST = {"zh": 20, "en": 60}, 4.0
"""Characters that count as one of length, and the most of those that count."""


def card_odds(text: str, type: str, *, chat: bool, of_user: bool = False) -> float:
    """Return the log odds that a reader keeps a card.

    Args:
        text: what it says.
        type: its type.
        chat: whether it is from a chat with an assistant that only talks.
        of_user: whether it tells of the user.
    """
    length = min(len(text) / _UNIT[language_of(text)], _LONGEST)
    odds = _EVEN + _WORDS * best_odds_of(text) + _LENGTH * length + _TYPES.get(type, 0.0)
    odds += _CHAT * chat + _HOLDS * holds_on(text) + _LASTING * is_lasting(text) + _SELF * of_user
    orders = any(one.act is Act.ORDER for one in clauses(text))
    return odds + _ORDER * orders + _SLOT * (slot_of(text) is not None)
