"""A finding of the doctor: what is wrong where, and what to do."""

from __future__ import annotations

from enum import StrEnum

from kimi_memory.lazy_dataclass import dataclass


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
