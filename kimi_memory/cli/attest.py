"""``attest``: sign what the memory holds at a point, or check such a statement."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.cli.shared import open_memory, say, show_result
from kimi_memory.operations.attest import attest, check_statement, write_statement


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "point",
        nargs="?",
        default="HEAD",
        help="a date, commit, version, name or job; default: the last commit",
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="write it to FILE, its signature to FILE.sig"
    )
    parser.add_argument(
        "--check", type=Path, metavar="FILE", help="check a statement against this history"
    )


def run(arguments: Namespace) -> int:
    """State and sign, or check."""
    with open_memory(arguments) as memory:
        if arguments.check:
            statement, told = check_statement(memory, arguments.check)
            point = f"v{statement.version} ({statement.head[:10]})"
            text = "{path} is right: {name} signed {point}."
            line = say(text, path=arguments.check, name=told.principal, point=point)
            found = {"statement": statement, "principal": told.principal}
            return show_result(arguments, found, [line])
        statement, signature = attest(memory, arguments.point)
    signed = signature.decode("ascii")
    shown: str | list[str] = statement.encode().decode() + signed
    if arguments.output:
        write_statement(arguments.output, statement, signature)
        shown = [say("Wrote {path} and {path}.sig", path=arguments.output)]
    return show_result(arguments, {"statement": statement, "signature": signed}, shown)
