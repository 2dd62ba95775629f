"""The adapters, each with its framework in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hosts.programs import CACHE

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[2]
TESTS = ("pytest", "pytest-timeout", "hypothesis")
EXTRAS = {
    "langchain": ("langchain-tests>=1.1,<2",),
    "openai-agents": (),
    "pydantic-ai": (),
    "llama-index": (),
    "google-adk": (),
    "agent-framework": (),
    "strands": (),
    "autogen": ("autogen-agentchat>=0.7.5,<0.8", "autogen-ext>=0.7.5,<0.8"),
    "crewai": (),
}
"""Frameworks that the test extra does not bring, and what their tests need besides."""


def environment(extra: str) -> Path:
    """The interpreter of an environment with one framework; made once."""
    place = CACHE / f"framework-{extra}"
    python = place / "bin/python"
    done = place / "done"
    # Made for another checkout, it would look for ours where that one was.
    if not done.exists() or done.read_text() != str(ROOT):
        wanted = [f"{ROOT}[{extra}]", *TESTS, *EXTRAS[extra]]
        for argv in (
            [sys.executable, "-m", "venv", str(place)],
            [str(python), "-m", "pip", "install", "--quiet", "--editable", *wanted],
        ):
            told = subprocess.run(argv, capture_output=True, text=True, check=False)
            if told.returncode:
                pytest.skip(f"{extra} cannot be installed: {told.stderr.strip()[-300:]}")
        done.write_text(str(ROOT))
    return python


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_adapter_works_with_the_real_framework(extra: str) -> None:
    python = environment(extra)
    module = f"tests/frameworks/test_{extra.replace('-', '_')}.py"
    quiet = ["-p", "no:cacheprovider", "-p", "no:asyncio"]
    argv = [str(python), "-m", "pytest", "-q", *quiet, module]
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    told = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout[-3000:]
    assert "skipped" not in told.stdout.splitlines()[-1]
