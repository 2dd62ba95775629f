"""Compiled patterns come back from their file; a bad file, or none, costs only time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_memory.nlp.basic.pattern_cache import PatternCache

SOURCES = [
    (r"(?P<verb>deploy|部署)(?i:\s{1,3}Now)?", re.IGNORECASE),
    (r"(?<![A-Za-z])a{2,4}?(?=b)|^x*+$", re.MULTILINE),
    (r"[\u3400-\u9fff]{2}(?P<a>.)(?P=a)", re.DOTALL),
]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file of patterns."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    written = tmp_path / "__pycache__/x.patterns"
    fill(PatternCache(written)).write_file()
    return written


def fill(cache: PatternCache) -> PatternCache:
    """Ask for every pattern; each must be what Python makes of it."""
    for source, flags in SOURCES:
        assert cache.compile_pattern(source, flags) == re.compile(source, flags)
    return cache


def test_what_the_file_holds_is_not_compiled_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [re.compile(*each) for each in SOURCES]
    re.purge()
    monkeypatch.setattr("re._parser.parse", lambda *_: pytest.fail("compiled again"))
    cache = PatternCache(path)
    assert [cache.compile_pattern(*each) for each in SOURCES] == made


def test_a_file_with_any_byte_changed_or_cut_is_not_used(path: Path) -> None:
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        for bad in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]):
            path.write_bytes(bad)
            assert PatternCache(path)._read_rows() == {}
    fill(PatternCache(path)).write_file()
    assert len(path.read_bytes()) == len(whole)


def test_a_file_of_another_python_begins_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()
    monkeypatch.setattr(sys, "version", "3.99")
    fill(PatternCache(path)).write_file()
    assert path.read_bytes() != before


def test_a_file_of_many_versions_begins_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kimi_memory.nlp.basic.pattern_cache._MOST", 2)
    assert PatternCache(path)._read_rows() == {}


def test_a_python_without_the_inner_parts_compiles_as_ever(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "_sre", None)
    fill(PatternCache(path))


def test_a_mistake_in_a_pattern_is_an_error_of_the_pattern(path: Path) -> None:
    with pytest.raises(re.error, match="unterminated"):
        PatternCache(path).compile_pattern("(", 0)


def test_nothing_is_written_where_python_may_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    fill(PatternCache(tmp_path / "x")).write_file()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "file").touch()
    fill(PatternCache(tmp_path / "file/x")).write_file()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_command_leaves_patterns_and_no_word_of_the_user(tmp_path: Path) -> None:
    """A whole session of a project, from its first turn to the weekly job."""
    environment = {key: value for key, value in os.environ.items() if key != "KIMI_MEMORY"}
    environment |= {"PYTHONPYCACHEPREFIX": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(*words: str) -> None:
        command = [sys.executable, "-m", "kimi_memory", "--memory", str(tmp_path / "m"), *words]
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120)

    run("init", str(tmp_path / "m"))
    run("session", "start", "s", "--project", "zorblatt")
    run("session", "turn", "s", "We decided to use Quuxdb for zorblatt. 我住在琥珀城。")
    run("session", "turn", "s", "Zorblatt is finished, we shipped it.")
    run("session", "end", "s")
    run("consolidate", "daily")
    run("consolidate", "weekly")
    run("recall", "zorblatt quuxdb 琥珀城")
    [kept] = (tmp_path / "cache").rglob("*.patterns")
    content = kept.read_bytes().lower()
    assert len(content) > 100_000
    assert not any(word.encode() in content for word in ("zorblatt", "quuxdb", "琥珀城"))
