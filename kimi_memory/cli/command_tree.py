"""The commands as a tree: what completion, manual pages and tests read out of the parsers."""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Node(NamedTuple):
    """A command, or a step below one."""

    words: tuple[str, ...]
    """What leads to it: ``session``, ``start``; none for the program."""
    about: str
    """What it does, in one line."""
    parser: ArgumentParser
    steps: tuple[Node, ...]

    @property
    def path(self) -> str:
        """Its words as one text."""
        return " ".join(self.words)

    @property
    def options(self) -> list[Action]:
        """What begins with hyphens."""
        return [one for one in self.parser._actions if one.option_strings and one.help != SUPPRESS]

    @property
    def arguments(self) -> list[Action]:
        """What stands at a place of its own."""
        return [
            one
            for one in self.parser._actions
            if not one.option_strings and not isinstance(one, _SubParsersAction)
        ]

    def walk(self) -> Iterator[Node]:
        """Yield it and all below it."""
        yield self
        for step in self.steps:
            yield from step.walk()


def build_tree(parser: ArgumentParser, words: tuple[str, ...] = (), about: str = "") -> Node:
    """Return the tree below a parser."""
    return Node(
        words, about or parser.description or "", parser, tuple(_build_steps(parser, words))
    )


def _build_steps(parser: ArgumentParser, words: tuple[str, ...]) -> Iterator[Node]:
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            about = {one.dest: one.help or "" for one in action._choices_actions}
            # An alias has no line of its own, and leads nowhere new.
            for name, below in action.choices.items():
                if name in about:
                    yield build_tree(below, (*words, name), about[name])


def takes_value(action: Action) -> bool:
    """Whether words follow an option."""
    return action.nargs != 0


def choices_of(action: Action) -> list[str]:
    """Return the words that an argument may be, where they are known."""
    return [str(one) for one in action.choices or () if str(one)]


def takes_file(action: Action) -> bool:
    """Whether an argument names a file or a folder."""
    return action.type is Path


def find_help(action: Action) -> str:
    """Return the help of an argument as it is read."""
    return " ".join((action.help or "").replace("%%", "%").split())
