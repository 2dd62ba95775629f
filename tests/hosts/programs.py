"""The pinned agent programs: installed once into a cache outside of the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

PINS = tomllib.loads(Path(__file__).with_name("programs.toml").read_text(encoding="utf-8"))
CACHE = Path(os.environ.get("KIMI_MEMORY_HOSTS") or Path.home() / ".cache/kimi_memory/hosts")
PATIENCE_SECONDS = 900


@dataclass(frozen=True)
class Program:
    """An installed program."""

    path: Path
    search: str
    """The PATH it is to run with."""

    def version(self) -> str:
        env = {**os.environ, "PATH": self.search}
        argv = [self.path, "--version"]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
        return (done.stdout or done.stderr).strip()


def program(name: str) -> Program:
    """Return a pinned program; skip the test where it cannot be installed, and say why."""
    pin = PINS[name]
    folder = CACHE / f"{name}-{pin['version']}"
    search = os.environ["PATH"]
    if pin.get("node"):
        search = f"{program('node').path.parent}{os.pathsep}{search}"
    inside = "bin" if "pip" in pin else "node_modules/.bin"
    runs = folder / inside / pin["runs"]
    if not runs.exists():
        _install(name, pin, folder, search)
    return Program(runs, search)


def _install(name: str, pin: dict[str, str], folder: Path, search: str) -> None:
    needed = "npm" if "npm" in pin else sys.executable
    if not shutil.which(needed):
        pytest.skip(f"{name} needs {needed}, which is not here")
    part = folder.with_name(f"{folder.name}.{os.getpid()}")
    part.mkdir(parents=True)
    for argv in _steps(pin, part):
        env = {**os.environ, "PATH": search}
        done = subprocess.run(
            argv,
            cwd=part,
            env=env,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        if done.returncode:
            shutil.rmtree(part)
            pytest.skip(
                f"{name} {pin['version']} cannot be installed: {done.stderr.strip()[-300:]}"
            )
    if "pip" in pin:
        return  # A virtual environment knows its place: it is made there.
    part.rename(folder)


def _steps(pin: dict[str, str], folder: Path) -> list[list[str]]:
    if "npm" in pin:
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        return [["npm", "install", *quiet, "--prefix", ".", f"{pin['npm']}@{pin['version']}"]]
    place = folder.with_name(folder.name.rpartition(".")[0])
    return [
        [sys.executable, "-m", "venv", str(place)],
        [str(place / "bin/pip"), "install", "--quiet", f"{pin['pip']}=={pin['version']}"],
    ]
