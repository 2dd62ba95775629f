"""How a benchmark prints its figures: a line each for people, one JSON object for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping


def print_figures(found: Mapping[str, float], *, as_json: bool) -> None:
    """Print figures by their names."""
    if as_json:
        print(json.dumps(dict(found)))
        return
    for name, value in found.items():
        print(f"{name:28}{value:>12}")
