"""How likely a careful reader keeps a card: by its words, by what it is, and by its talk.

Rules find what was ordered, decided or stated; most of that is of one piece of work. Readers
who saw no rule judged cards of other people's sessions one by one, and a logistic regression
over few signs says which of the others are worth to be held without asking.
"""

from __future__ import annotations

from collections.abc import Mapping

from kimi_memory.nlp.basic.patterns import language_of
from kimi_memory.nlp.rules.lasting import is_lasting
from kimi_memory.nlp.rules.odds import best_odds_of
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.slots import slot_of
from kimi_memory.nlp.rules.stands_alone import (
    count_pointers,
    holds_on,
    names_agent,
    says_always,
    speaks_of_moment,
)
from kimi_memory.nlp.rules.utterance import Act, clauses

_LEAST: Mapping[str, float] = {"rule": 0.0, "decision": 0.0, "preference": -1.5}
_LEAST_ELSE = -0.9
"""A card whose log odds are lower waits for a person: by its type.

For rules and decisions as the fit has it; for tastes and facts lower, as 233 cards of chats and of
friends asked for that were judged after it.
"""
_CHANGE = 1.25
"""So much less is enough for what says that something is otherwise, or takes the place of it."""
# A logistic regression over 520 cards of some 380 people; of people left out it tells with auc 0.82
# which active cards a reader keeps.
_WORDS, _EVEN = 0.72, -0.81
_CHAT, _SELF, _SLOT, _LASTING = -0.98, 0.75, 1.0, 1.74
_HOLDS, _ALWAYS, _ORDER = 1.09, 1.06, 0.89
_POINTER, _MOMENT, _BARE = -0.53, -0.2, -0.72
_TYPES: Mapping[str, float] = {"preference": 1.82, "entity": 3.51}
_LENGTH, _UNIT, _LONGEST = -0.15, {"zh": 20, "en": 60}, 4.0
"""What a unit of length weighs, its characters, and the most units that count."""
_POINTERS, _NAMED = 3, 2.0
"""The most words that point elsewhere that count; a text that names less is bare."""


def is_kept(
    text: str, type: str, *, chat: bool, of_user: bool = False, change: bool = False
) -> bool:
    """Whether a reader would more likely than not keep a card of its type.

    Args:
        text: what it says.
        type: its type.
        chat: whether it is from a chat with an assistant that only talks.
        of_user: whether it tells of the user.
        change: whether it says that something is otherwise than it was known.
    """
    if (type == "rule" and says_always(text)) or names_agent(text):
        return True
    odds = card_odds(text, type, chat=chat, of_user=of_user)
    return odds >= _LEAST.get(type, _LEAST_ELSE) - _CHANGE * change


def card_odds(text: str, type: str, *, chat: bool, of_user: bool = False) -> float:
    """Return the log odds that a reader keeps a card; arguments as of `is_kept`."""
    length = min(len(text) / _UNIT[language_of(text)], _LONGEST)
    odds = _EVEN + _WORDS * best_odds_of(text) + _LENGTH * length + _TYPES.get(type, 0.0)
    odds += _CHAT * chat + _SELF * of_user
    odds += _SLOT * (slot_of(text) is not None) + _LASTING * is_lasting(text)
    orders = any(one.act is Act.ORDER for one in clauses(text))
    odds += _HOLDS * holds_on(text) + _ALWAYS * says_always(text) + _ORDER * orders
    odds += _POINTER * min(count_pointers(text), _POINTERS) + _MOMENT * speaks_of_moment(text)
    return odds + _BARE * (traits_of(text).specific < _NAMED)
