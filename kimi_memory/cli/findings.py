"""How findings of verify and doctor are printed."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from kimi_memory.cli.shared import show, show_json, show_line
from kimi_memory.domain.health import Finding, Severity

_SIGN = {Severity.OK: "✓", Severity.WARNING: "!", Severity.ERROR: "✗"}


def show_findings(arguments: Namespace, findings: Sequence[Finding], fine: str) -> int:
    """Print findings; return 1 when one is an error."""
    if arguments.json:
        show_json(list(findings))
    else:
        for finding in findings:
            where = f" ({finding.path})" if finding.path else ""
            remedy = f" {finding.remedy}" if finding.remedy else ""
            sign = _SIGN[finding.severity]
            show_line(f"{sign} {finding.check}: {finding.message}{where}.{remedy}")
        if all(finding.severity is Severity.OK for finding in findings):
            show(fine)
    return int(any(finding.severity is Severity.ERROR for finding in findings))
