"""What a clause is about, and the value it gives."""

from __future__ import annotations

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import regex

_HOURS = frozenset(("wake", "bedtime"))
_SUMS = frozenset(("rent", "fee"))
_MORNING = regex(r"^(?:早上|早晨|清晨|晚上|每天)+| (?:in the (?:morning|evening)|sharp)$")
_MONTHLY = regex(r"^每个?月|^一个月| ?(?:a|per|each|every) month$")
PROJECT = "project"
"""Holder of what is a project's."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What a clause is about, and the value it gives."""

    name: str
    """Of the list: ``home``."""
    holder: str
    """``user``, ``project``, ``user.sister`` or the slug of a name."""
    many: bool
    """Whether it holds any number of values."""
    value: str
    """The value, in the words of the clause."""
    which: str = ""
    """Which of several is meant: the ``api`` of the API port."""
    before: str = ""
    """The value it replaces, where the clause names it."""
    denied: bool = False
    """Whether the clause says that the value does not hold."""
    called: str = ""
    """The name of whom it is said, where the clause has one beside the relation."""
    project: str = ""

    @property
    def comparable(self) -> str:
        """The value as it is compared: an hour is a time of day, a number of years an age."""
        bare = _MORNING.sub("", self.value).strip() if self.name in _HOURS else self.value
        if self.name in _HOURS and bare.isdigit():
            return f"{bare}:00"
        if self.name == "age":
            return f"{bare}岁"
        return _MONTHLY.sub("", bare) if self.name in _SUMS else bare

    @property
    def key(self) -> str:
        """The key of a card about it: ``user.home``, ``project.api-port``, ``tom.birthday``."""
        return f"{self.holder}.{f'{self.which}-' if self.which else ''}{self.name}"
