"""``space recall``: ask all memories of a space at once."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from kimi_memory.cli.shared import say, show_result, translate
from kimi_memory.server.federated import FoundIn, recall_space
from kimi_memory.spaces.space_folder import SpaceFolder


def add_recall_step(steps) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001  argparse names no such type
    """Declare the arguments."""
    asked = steps.add_parser("recall", help="ask all memories of the space that lie here")
    asked.add_argument("words", nargs="+", help="what to look for, with filters as in recall")
    asked.add_argument("--member", default="", help="ask as this member; default: as their owner")
    asked.add_argument("-n", type=int, default=10, metavar="N", help="at most N; default: 10")


def recall_memories(arguments: Namespace, space: SpaceFolder) -> int:
    """Ask, and print what was found with the memory that has it; 1 where one failed."""
    words = " ".join(arguments.words)
    found = recall_space(space, words, member=arguments.member, limit=arguments.n, via="cli")
    code = int(bool(found.failed))
    lines = [line for one in found.hits for line in _format_hit(one)]
    missing = (*found.refused.items(), *found.failed.items())
    lines += [f"{name}: {translate(why)}" for name, why in missing]
    show_result(arguments, found, lines or [say("Nothing found.")])
    return code


def _format_hit(one: FoundIn) -> Iterator[str]:
    unit = one.hit.unit
    about = " · ".join(part for part in (say(unit.kind), unit.key or unit.speaker) if part)
    yield f"{one.memory}  {about}  {one.hit.citation}"
    for line in one.hit.snippet.splitlines():
        yield f"    {line}"
