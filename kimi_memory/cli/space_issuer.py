"""Steps of ``space`` about people of an issuer: believe one, log in there."""

from __future__ import annotations

from argparse import Namespace

from kimi_memory.cli.shared import foretell, say, show_note, show_result
from kimi_memory.errors import UsageError
from kimi_memory.spaces import issuers
from kimi_memory.spaces.people import asking_of
from kimi_memory.spaces.space_folder import SpaceFolder


def add_issuer_steps(steps) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001  argparse names no such type
    """Declare the arguments of these steps."""
    issuer = steps.add_parser("issuer", help="let people in whom an OpenID Connect issuer signs")
    issuer.add_argument("url", nargs="?", default="", help="of the issuer; none: believe nobody")
    issuer.add_argument("--audience", default="", help="for whom it has to sign")
    issuer.add_argument("--claim", default="sub", help="which claim names a person; default: sub")
    issuer.add_argument(
        "--groups", default="groups", help="which claim names groups; default: groups"
    )
    issuer.add_argument(
        "--client", default="", help="under which name the pages and 'space login' are known there"
    )
    issuer.add_argument("--dry-run", action="store_true", help="only say what would be done")
    steps.add_parser("login", help="print a token of the issuer, once you said yes in a browser")


def set_issuer(arguments: Namespace, space: SpaceFolder) -> int:
    """Believe an issuer, or none any more."""
    asking = issuers.Asking("", "")
    if arguments.url:
        asking = issuers.Asking(
            arguments.url, arguments.audience, arguments.claim, arguments.groups
        )
    space.believe(asking, arguments.client)
    if arguments.dry_run:
        line = "Would let in whom {issuer} signs."
        return foretell(arguments, say(line, issuer=asking.issuer or "-"))
    if asking.issuer:
        line = say(
            "Whom {issuer} signs for {audience} comes into {space}, as the member of that name or "
            "with the roles of a group.",
            issuer=asking.issuer, audience=asking.audience, space=space.name,
        )  # fmt: skip
    else:
        line = say("No issuer is believed in {space} any more.", space=space.name)
    return show_result(arguments, asking, line)


def log_in(arguments: Namespace, space: SpaceFolder) -> int:
    """Print a token of the issuer for the person who signs in with a browser."""
    about = space.about
    if not (about.issuer and about.client):
        raise UsageError(
            f"The space {space.name} names no issuer with a client. Use 'kimi-memory space issuer'."
        )

    def ask(url: str, code: str) -> None:
        show_note(say("Open {url} and type {code} there.", url=url, code=code))

    token = issuers.log_in(asking_of(about), about.client, ask)
    return show_result(arguments, {"token": token}, token)
