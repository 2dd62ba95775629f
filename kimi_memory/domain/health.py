"""A finding of the doctor: what is wrong where, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from kimi_memory.domain.prompt import Prompt
from kimi_memory.errors import KimiMemoryError

CHECK_SECONDS = 10.0
"""So long the doctor waits for one word of a model; a large one may take longer to load."""
# The least that shows a model is loaded: a list of models is answered by a server that cannot run
# one.
PING = Prompt(text="Say: ok", max_tokens=8)


class Severity(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of ``kimi-memory doctor``."""

    check: str
    severity: Severity
    message: str
    remedy: str = ""
    path: str = ""
    fixable: bool = False
    """Whether ``doctor --fix`` mends it; fixing only adds or moves files."""


def check_models(plugin: str, models: Iterable[tuple[str, Callable[[], object]]]) -> list[Finding]:
    """Ask each model once, and say which of them do not answer.

    Args:
        plugin: whose models they are.
        models: names, and what asks each; one without a name is not configured.
    """
    found = []
    for name, ask in models:
        if name:
            try:
                ask()
                found.append(Finding("model", Severity.OK, f"{plugin}: {name} answers"))
            # A warning and no error: rules do all the work of a model, only not so well.
            except KimiMemoryError as error:
                remedy = f"Start the server, or correct [plugins.{plugin}]; rules work meanwhile."
                message = f"{plugin}: {name} does not answer: {str(error).rstrip('.')}"
                found.append(Finding("model", Severity.WARNING, message, remedy))
    return found
