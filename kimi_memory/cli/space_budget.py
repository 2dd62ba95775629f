"""The step of ``space`` about tokens: what its memories may spend in a day, and what they did."""

from __future__ import annotations

from argparse import Namespace

from kimi_memory.cli.shared import foretell, say, show_result
from kimi_memory.domain.ids import utcnow
from kimi_memory.errors import UsageError
from kimi_memory.spaces.budget import SpaceBudgets
from kimi_memory.spaces.space_folder import SpaceFolder


def add_budget_step(steps) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001  argparse names no such type
    """Declare the arguments."""
    budget = steps.add_parser(
        "budget", help="show or bound the tokens that jobs of all its memories spend in a day"
    )
    budget.add_argument("tokens", nargs="?", type=int, help="so many; 0 for no bound")
    budget.add_argument("--dry-run", action="store_true", help="only say what would be done")


def keep_budget(arguments: Namespace, space: SpaceFolder) -> int:
    """Bound the tokens of a day, or say what was spent today, on the clocks of this machine."""
    tokens = arguments.tokens
    if tokens is not None and tokens < 0:
        raise UsageError(f"{tokens} is no number of tokens. Give one; 0 for no bound.")
    if tokens is not None and arguments.dry_run:
        line = "Would let {space} spend {count} tokens a day."
        return foretell(arguments, say(line, space=space.name, count=tokens))
    if tokens is not None:
        space.bound(tokens)
    budgets, now, about = SpaceBudgets(), utcnow().astimezone(), space.about
    spent = {name: budgets.count(space.root_of(id)[1], now) for id, name in about.memories.items()}
    most, whole = about.tokens_per_day, sum(spent.values())
    line = "{space}: {spent} tokens today, of {most}." if most else "{space}: {spent} tokens today."
    lines = [say(line, space=space.name, spent=f"{whole:,}", most=f"{most:,}")]
    lines += [f"  {name}  {count:,}" for name, count in spent.items() if count]
    found = {"tokens_per_day": most, "spent": whole, "memories": spent}
    return show_result(arguments, found, lines)
