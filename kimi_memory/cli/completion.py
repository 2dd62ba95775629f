"""``completion``: print what lets a shell complete commands, steps, options and their values."""

from __future__ import annotations

import shlex
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Callable, Iterator

from kimi_memory.cli import parser as whole_parser
from kimi_memory.cli.command_table import ALIASES
from kimi_memory.cli.command_tree import (
    Node,
    build_tree,
    choices_of,
    find_help,
    takes_file,
    takes_value,
)
from kimi_memory.cli.shared import say

PROGRAMS = ("kimi-memory", "kmem")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", choices=[*_SHELLS], help="the shell the text is for")


def run(arguments: Namespace) -> int:
    """Print the text; the shell reads it once and asks the program no more."""
    tree = build_tree(whole_parser())
    # One option of a plugin is not worth a second process at every key: all is written out here.
    print("\n".join(_SHELLS[arguments.shell](tree)))
    return 0


def _words_after(node: Node) -> list[str]:
    """Return what may follow a command: steps, or the words its arguments know, and options."""
    steps = [step.words[-1] for step in node.steps]
    known = [choice for action in node.arguments for choice in choices_of(action)]
    aliases = [name for name, meant in ALIASES.items() if " " not in meant] if steps else []
    options = [name for action in node.options for name in action.option_strings]
    return [*steps, *known, *(aliases if not node.words else []), *options]


def _wants_files(node: Node) -> bool:
    return any(takes_file(action) for action in node.arguments)


def _options_with_values(tree: Node) -> Iterator[tuple[str, Action]]:
    """Yield what a value follows, each behind its command, as a `case` of a shell names it."""
    for node in tree.walk():
        for action in filter(takes_value, node.options):
            words = (f"{node.path}|{name}" for name in action.option_strings)
            yield "|".join(map(shlex.quote, words)), action


def _paths(tree: Node) -> list[str]:
    """Return all that leads somewhere, with other words for the same."""
    paths = [node.path for node in tree.walk() if node.words]
    return [*paths, *(name for name, meant in ALIASES.items() if meant in paths)]


def _meant(path: str) -> str:
    return ALIASES.get(path, path)


def _write_bash(tree: Node) -> Iterator[str]:
    yield "# bash completion of kimi-memory: kimi-memory completion bash > FILE, then source it."
    yield "_kimi_memory() {"
    yield '  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path="" i'
    yield "  for ((i = 1; i < COMP_CWORD; i++)); do"
    yield '    case "${path:+$path }${COMP_WORDS[i]}" in'
    for path in _paths(tree):
        yield f"      {shlex.quote(path)}) path={shlex.quote(_meant(path))} ;;"
    yield "    esac"
    yield "  done"
    yield "  COMPREPLY=()"
    yield '  case "$path|$prev" in'
    for names, action in _options_with_values(tree):
        yield f"    {names}) {_complete_bash(action)}; return ;;"
    yield "  esac"
    yield '  case "$path" in'
    for node in tree.walk():
        words = shlex.quote(" ".join(_words_after(node)))
        files = ' COMPREPLY+=($(compgen -f -- "$cur"))' if _wants_files(node) else ""
        yield f"    {shlex.quote(node.path)}) " + (
            f'COMPREPLY=($(compgen -W {words} -- "$cur"));{files} ;;'
        )
    yield "  esac"
    yield "}"
    yield f"complete -o filenames -F _kimi_memory {' '.join(PROGRAMS)}"


def _complete_bash(action: Action) -> str:
    if choices := choices_of(action):
        return f'COMPREPLY=($(compgen -W {shlex.quote(" ".join(choices))} -- "$cur"))'
    return 'COMPREPLY=($(compgen -f -- "$cur"))' if takes_file(action) else ":"


def _write_zsh(tree: Node) -> Iterator[str]:
    yield f"#compdef {' '.join(PROGRAMS)}"
    yield "# zsh completion of kimi-memory: kimi-memory completion zsh > ~/.zfunc/_kimi-memory"
    yield "_kimi_memory() {"
    yield '  local at="" word prev=${words[CURRENT-1]}'
    yield "  local -a found"
    yield "  for word in ${words[2,CURRENT-1]}; do"
    yield '    case "${at:+$at }$word" in'
    for path in _paths(tree):
        yield f"      ({shlex.quote(path)}) at={shlex.quote(_meant(path))} ;;"
    yield "    esac"
    yield "  done"
    yield '  case "$at|$prev" in'
    for names, action in _options_with_values(tree):
        yield f"    ({names}) {_complete_zsh(action)}; return ;;"
    yield "  esac"
    yield '  case "$at" in'
    for node in tree.walk():
        files = " _files;" if _wants_files(node) else ""
        lines = " ".join(_describe_zsh(node))
        yield f"    ({shlex.quote(node.path)}) found=({lines}); _describe word found;{files} ;;"
    yield "  esac"
    yield "}"
    # Read by the completion system it is the body of a function; read by a person it registers it.
    yield 'if [ "$funcstack[1]" = _kimi-memory ]; then _kimi_memory "$@"'
    yield f"else compdef _kimi_memory {' '.join(PROGRAMS)}; fi"


def _complete_zsh(action: Action) -> str:
    if choices := choices_of(action):
        return f"compadd -- {' '.join(map(shlex.quote, choices))}"
    return "_files" if takes_file(action) else ":"


def _describe_zsh(node: Node) -> Iterator[str]:
    about = {step.words[-1]: say(step.about) for step in node.steps}
    about |= {name: say(find_help(one)) for one in node.options for name in one.option_strings}
    for word in _words_after(node):
        # A colon ends the word, so that one in it is masked.
        yield shlex.quote(f"{word.replace(':', chr(92) + ':')}:{about.get(word, '')}".rstrip(":"))


def _write_fish(tree: Node) -> Iterator[str]:
    yield "# fish completion of kimi-memory:"
    yield "# kimi-memory completion fish > ~/.config/fish/completions/kimi-memory.fish"
    yield "function __kimi_memory_at"
    yield "  set -l at ''"
    yield "  for word in (commandline -opc)[2..-1]"
    yield '    switch (string trim -- "$at $word")'
    for path in _paths(tree):
        yield f"      case {_quote_fish(path)}"
        yield f"        set at {_quote_fish(_meant(path))}"
    yield "    end"
    yield "  end"
    yield '  test "$at" = "$argv[1]"'
    yield "end"
    first, *others = PROGRAMS
    yield f"complete -c {first} -f"
    for node in tree.walk():
        yield from _complete_fish(first, node)
    yield from (f"complete -c {name} -w {first}" for name in others)


def _complete_fish(program: str, node: Node) -> Iterator[str]:
    head = f"complete -c {program} -n {_quote_fish(f'__kimi_memory_at {_quote_fish(node.path)}')}"
    for step in node.steps:
        yield f"{head} -a {step.words[-1]} -d {_quote_fish(say(step.about))}"
    for action in node.options:
        parts = [f"-l {name[2:]}" for name in action.option_strings if name.startswith("--")]
        parts += [f"-s {name[1:]}" for name in action.option_strings if not name.startswith("--")]
        if choices := choices_of(action):
            parts.append(f"-x -a {_quote_fish(' '.join(choices))}")
        elif takes_value(action):
            parts.append("-r -F" if takes_file(action) else "-x")
        yield f"{head} {' '.join(parts)} -d {_quote_fish(say(find_help(action)))}"
    known = [choice for action in node.arguments for choice in choices_of(action)]
    if known:
        yield f"{head} -a {_quote_fish(' '.join(known))}"
    if _wants_files(node):
        yield f"{head} -F"


def _quote_fish(text: str) -> str:
    masked = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{masked}'"


_SHELLS: dict[str, Callable[[Node], Iterator[str]]] = {
    "bash": _write_bash,
    "zsh": _write_zsh,
    "fish": _write_fish,
}
