"""Results as files: the figures of a run and what they were measured with."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"
PACKAGES = ("kimi-memory", "numpy", "whoosh", "usearch", "tantivy", "faiss-cpu", "hnswlib")


def configuration() -> dict[str, Any]:
    """Return machine, load and versions; none of it names a person or a place."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": [round(load, 1) for load in os.getloadavg()],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
    }


def save(path: Path, command: str, figures: Mapping[str, Any]) -> None:
    """Write the figures of a run, the command that makes them and the configuration."""
    path.parent.mkdir(parents=True, exist_ok=True)
    told = {"command": command, "configuration": configuration(), "figures": dict(figures)}
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")
