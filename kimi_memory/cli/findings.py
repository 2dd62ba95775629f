"""How findings of verify and doctor are printed."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from kimi_memory.cli.shared import say, say_check, say_finding, show_result
from kimi_memory.domain.health import Finding, Severity

_SIGN = {Severity.OK: "✓", Severity.WARNING: "!", Severity.ERROR: "✗"}


def show_findings(arguments: Namespace, findings: Sequence[Finding], fine: str) -> int:
    """Print findings; return 1 when one is an error."""
    lines = [_format_finding(finding) for finding in findings]
    if all(finding.severity is Severity.OK for finding in findings):
        lines.append(say_finding(fine))
    show_result(arguments, list(findings), lines)
    return int(any(finding.severity is Severity.ERROR for finding in findings))


def _format_finding(finding: Finding) -> str:
    sign, where = _SIGN[finding.severity], f" ({finding.path})" if finding.path else ""
    message, remedy = say_finding(finding.message), say_finding(finding.remedy)
    form = say("{sign} {check}: {message}{where}. {remedy}")
    check = say_check(finding.check)
    return form.format(sign=sign, check=check, message=message, where=where, remedy=remedy).rstrip()
