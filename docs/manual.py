"""Manual pages: one of the program, one a command, made from the parsers by `docs.generate`."""

from __future__ import annotations

import re
from argparse import Action, ArgumentParser
from collections.abc import Iterator

from kimi_memory import __version__
from kimi_memory.cli.command_table import EXAMPLES, GROUPS
from kimi_memory.cli.command_tree import Node, build_tree, choices_of, find_help, takes_value

NAME = "kimi-memory"
SHARED = ("json", "memory", "help")
"""Options of every command, which the page of the program explains."""


def manuals(parser: ArgumentParser) -> dict[str, str]:
    """Return the text of every manual page by file name."""
    tree = build_tree(parser)
    pages = {f"{NAME}.1": "\n".join(program(tree))}
    for step in tree.steps:
        pages[f"{NAME}-{step.path}.1"] = "\n".join(command(step))
    return {name: f"{text}\n" for name, text in pages.items()}


def mask(text: str) -> str:
    """Return a text that roff prints as it is."""
    masked = text.replace("\\", "\\e").replace("-", "\\-")
    # A dot or an apostrophe at the beginning of a line would be a request.
    return re.sub(r"^(?=[.'])", r"\\&", masked, flags=re.MULTILINE)


def sentence(text: str) -> str:
    """Return a help text as a sentence."""
    plain = text.strip().rstrip(".")
    return mask(f"{plain[0].upper()}{plain[1:]}.") if plain else ""


def head(title: str, about: str) -> Iterator[str]:
    """Yield what every page begins with."""
    # No date: a page changes when the program does.
    yield '.\\" Made by `python -m docs.generate` from the parsers; change those.'
    yield f'.TH "{title.upper()}" "1" "" "kimi_memory {__version__}" "User Commands"'
    yield ".SH NAME"
    yield f"{mask(title)} \\- {mask(about)}"


def program(tree: Node) -> Iterator[str]:
    """Yield the page of the program."""
    yield from head(NAME, "git for beliefs: an agent's memory as a folder of Markdown you own")
    yield ".SH SYNOPSIS"
    yield f".B {mask(NAME)}"
    yield ".I COMMAND"
    yield "[arguments] [\\-\\-memory PATH] [\\-\\-json]"
    yield ".SH DESCRIPTION"
    yield "Without a command it shows how the memory above this folder is, and what to do next."
    yield "Each command has a page of its own:"
    yield f".BR {mask(NAME)}\\-COMMAND (1)."
    grouped = {name: group for group, held in GROUPS.items() for name in held}
    for group in dict.fromkeys([*GROUPS, ""]):
        steps = [one for one in tree.steps if grouped.get(one.path, "") == group]
        if steps:
            yield f'.SS "{mask((group or "by plugins").capitalize())}"'
        for step in steps:
            yield ".TP"
            yield f".B {mask(step.path)}"
            yield sentence(step.about)
    yield ".SH OPTIONS"
    for action in tree.options:
        yield from option(action)
    yield ".SH ENVIRONMENT"
    yield from ENVIRONMENT
    yield ".SH EXIT STATUS"
    yield "0 where all went well; each kind of error has a number of its own, see docs/errors.md."
    yield ".SH EXAMPLES"
    for example in EXAMPLES:
        yield ".PP"
        yield ".nf"
        yield mask(f"{NAME} {example}")
        yield ".fi"


ENVIRONMENT = (
    ".TP",
    ".B KIMI_MEMORY",
    "The memory folder, where none is named.",
    ".TP",
    ".B NO_COLOR, PAGER, EDITOR",
    "Output without colours; the program that shows long output; the one that edits texts.",
)


def command(node: Node) -> Iterator[str]:
    """Yield the page of a command, with the steps below it."""
    title = f"{NAME}-{node.path}"
    yield from head(title, node.about)
    yield ".SH SYNOPSIS"
    for one in node.walk():
        if not one.steps:
            yield from synopsis(one)
    if node.steps:
        yield from arguments(node)
        yield ".SH STEPS"
        for step in node.walk():
            if step is not node:
                yield f'.SS "{mask(step.path)}"'
                yield sentence(step.about)
                yield from arguments(step)
    else:
        yield ".SH DESCRIPTION"
        yield sentence(node.about)
        yield ".SH ARGUMENTS"
        yield from arguments(node)
        yield f"Every command takes what {mask(NAME)}(1) takes: \\-\\-json and \\-\\-memory."
    yield ".SH SEE ALSO"
    yield f".BR {mask(NAME)} (1)"


def synopsis(node: Node) -> Iterator[str]:
    """Yield how a command is written."""
    words = [f"[{name_of(one)}]" for one in own_options(node)]
    words += [name_of(one) if one.nargs is None else f"[{name_of(one)}]" for one in node.arguments]
    yield ".PP"
    yield f".B {mask(f'{NAME} {node.path}')}"
    if words:
        yield mask(" ".join(words))


def own_options(node: Node) -> list[Action]:
    """Return the options that not every command has."""
    return [one for one in node.options if one.dest not in SHARED]


def name_of(action: Action) -> str:
    """Return an argument as it is written."""
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if not action.option_strings:
        return metavar
    return f"{action.option_strings[-1]} {metavar}" if takes_value(action) else (
        action.option_strings[-1]
    )  # fmt: skip


def arguments(node: Node) -> Iterator[str]:
    """Yield what an own argument of a command means."""
    for action in [*node.arguments, *own_options(node)]:
        yield from option(action)
    if node.arguments or own_options(node):
        yield ".PP"


def option(action: Action) -> Iterator[str]:
    """Yield an argument and what it means."""
    yield ".TP"
    yield f".B {mask(name_of(action))}"
    choices = ", ".join(choices_of(action))
    said = sentence(find_help(action))
    yield f"{said} One of {mask(choices)}." if choices else said or "\\&"
