"""``attest``: sign what the memory holds at a point, or check such a statement."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.cli.shared import open_memory, say, show, show_json, show_text
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
            if arguments.json:
                show_json({"statement": statement, "principal": told.principal})
            else:
                point = f"v{statement.version} ({statement.head[:10]})"
                text = "{path} is right: {name} signed {point}."
                show(say(text, path=arguments.check, name=told.principal, point=point))
            return 0
        statement, signature = attest(memory, arguments.point)
    if arguments.output:
        write_statement(arguments.output, statement, signature)
    if arguments.json:
        show_json({"statement": statement, "signature": signature.decode("ascii")})
    elif arguments.output:
        show(say("Wrote {path} and {path}.sig", path=arguments.output))
    else:
        show_text(statement.encode().decode() + signature.decode("ascii"))
    return 0
