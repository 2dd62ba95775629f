"""The packages people install: what is in them, and that they work away from the sources."""

from __future__ import annotations

import configparser
import io
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

# one worker runs them all, so that the packages are built once
pytestmark = pytest.mark.xdist_group("packaging")

ROOT = Path(__file__).parent.parent
LEFT_OUT = shutil.ignore_patterns(
    *(".git", ".venv", ".*_cache", ".hypothesis", ".benchmarks", "__pycache__"),
    *("*.egg-info", "build", "dist", "demo-memory", ".kimi"),
)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, and the wheel built from it, of a copy of the sources."""
    work = tmp_path_factory.mktemp("packaging")
    shutil.copytree(ROOT, work / "source", ignore=LEFT_OUT)
    argv = [sys.executable, "-m", "build", "--no-isolation", "--outdir", work / "dist"]
    built = subprocess.run([*argv, work / "source"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout[-500:] + built.stderr[-1500:]
    return work / "dist"


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return next(dist.glob("*.whl"))


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def shipped(folder: str, *patterns: str) -> set[str]:
    paths = {path for pattern in patterns for path in (ROOT / folder).rglob(pattern)}
    return {path.relative_to(ROOT).as_posix() for path in paths}


def test_the_wheel_holds_every_module(names: set[str]) -> None:
    assert shipped("kimi_memory", "*.py", "py.typed") <= names


@pytest.mark.parametrize("folder", ["plugins", "templates", "integrations"])
def test_the_wheel_holds_plugins_templates_and_packages(folder: str, names: set[str]) -> None:
    # The extension for VS Code is a package of its own.
    without = ("__pycache__", "integrations/vscode/")
    found = {p for p in shipped(folder, "*.*") if not any(part in p for part in without)}
    files = {path for path in found if (ROOT / path).is_file()}
    wanted = {f"kimi_memory/{path}" for path in files}
    assert len(wanted) > 1, f"{folder}/ is empty"
    assert wanted <= names


def test_the_wheel_holds_nothing_else(names: set[str]) -> None:
    tops = {name.split("/")[0] for name in names}
    # Beside the package: manual pages.
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == {"kimi_memory"}
    beside = {name.partition(".data/")[2] for name in names if ".data/" in name}
    assert beside == {f"data/share/man/man1/{Path(name).name}" for name in shipped("docs", "*.1")}


def test_the_wheel_installs_both_commands(wheel: Path, names: set[str]) -> None:
    place = next(name for name in names if name.endswith("entry_points.txt"))
    points = configparser.ConfigParser()
    with zipfile.ZipFile(wheel) as archive:
        points.read_file(io.TextIOWrapper(archive.open(place), "utf-8"))
    assert dict(points["console_scripts"]) == {
        "kimi-memory": "kimi_memory.__main__:main",
        "kmem": "kimi_memory.__main__:main",
    }


def test_the_wheel_carries_the_licence(wheel: Path, names: set[str]) -> None:
    place = next(name for name in names if name.endswith("/LICENSE"))
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(place) == (ROOT / "LICENSE").read_bytes()


def run(wheel: Path, folder: Path, *arguments: str) -> str:
    """Run Python in `folder` with the wheel unpacked there, and an empty home."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(folder / "site")}
    ran = subprocess.run(
        [sys.executable, *arguments],
        env=environ,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


def test_the_wheel_works_away_from_the_sources(wheel: Path, tmp_path: Path) -> None:
    code = (
        "import kimi_memory, kimi_memory.plugins, kimi_memory.templates;"
        "from kimi_memory.hooks.host import Host;"
        "print(kimi_memory.__file__, *(p.name for p in Host(entry_points=False).loaded))"
    )
    place, *plugins = run(wheel, tmp_path, "-c", code).split()
    assert place.startswith(str(tmp_path))
    assert plugins, "no bundled plugin"


def test_the_demonstration_runs_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    run(wheel, tmp_path, "-m", "kimi_memory", "demo", "shown")
    assert (tmp_path / "shown/memory.toml").is_file()


def test_the_sdist_can_be_tested(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "kimi_memory/hooks/host.py"} <= names
    assert {"plugins/__init__.py", "templates/__init__.py", "tests/conftest.py"} <= names
