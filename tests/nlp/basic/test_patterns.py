"""Patterns: compiled when they are first used, made of named parts, found by their literals."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import kimi_memory.plugins
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kimi_memory.nlp
from kimi_memory.nlp.basic.patterns import (
    LONGEST_KEPT,
    PatternCache,
    Phrases,
    folded,
    keep_results,
    literals,
    rare,
    regex,
)

MODULES = [
    found.name
    for package in (kimi_memory.nlp, kimi_memory.plugins)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]

COMPILED = [
    (r"(?P<verb>deploy|部署)(?i:\s{1,3}Now)?", re.IGNORECASE),
    (r"(?<![A-Za-z])a{2,4}?(?=b)|^x*+$", re.MULTILINE),
    (r"[\u3400-\u9fff]{2}(?P<a>.)(?P=a)", re.DOTALL),
]


def lazy(value: object) -> list[object]:
    """Find the lazy patterns in a module's value."""
    if isinstance(value, Phrases):
        return list(value._each)
    if type(value) is type(regex("")):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    return [one for each in value for one in lazy(each)] if isinstance(value, tuple | list) else []


def patterns() -> list[re.Pattern[str]]:
    """Return every lazy pattern of the project."""
    modules = map(importlib.import_module, MODULES)
    found = {id(one): one for each in modules for v in vars(each).values() for one in lazy(v)}
    return list(found.values())  # type: ignore[arg-type]  # told by what they are


def test_every_pattern_comes_back_from_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    sources = [(one.pattern, one.flags & ~re.UNICODE) for one in patterns()]
    first = PatternCache(tmp_path / "x.patterns")
    made = [first.compile_pattern(*each) for each in sources]
    first.write_file()
    again = PatternCache(tmp_path / "x.patterns")
    # A pattern equals another when all of its code does.
    for each, before in zip(sources, made, strict=True):
        assert again.compile_pattern(*each) == before == re.compile(*each), each[0]
    assert len(made) > 500
    assert not again._new


def test_a_lazy_pattern_finds_what_a_compiled_one_finds() -> None:
    text, source = "周五 Deploy, deploy 部署", r"(?P<verb>deploy|部署)"
    ours, theirs = regex(source, re.IGNORECASE), re.compile(source, re.IGNORECASE)
    for _ in range(2):
        assert ours.findall(text) == theirs.findall(text)
        assert [m.span("verb") for m in ours.finditer(text)] == [
            m.span("verb") for m in theirs.finditer(text)
        ]
        assert ours.sub("x", text) == theirs.sub("x", text)
        assert ours.fullmatch("部署") and not ours.match("周五")
    assert (ours.pattern, ours.flags, ours.groupindex) == (
        theirs.pattern,
        theirs.flags,
        theirs.groupindex,
    )


def test_a_mistake_in_a_lazy_pattern_shows_at_its_first_use() -> None:
    broken = regex("(")
    with pytest.raises(re.error):
        broken.search("(")


def test_an_attribute_that_no_pattern_has_is_refused() -> None:
    with pytest.raises(AttributeError, match="serach"):
        regex("x").serach  # type: ignore[attr-defined]  # meant  # noqa: B018  the access itself fails


@pytest.mark.parametrize("name", MODULES)
def test_every_pattern_of_a_module_compiles(name: str) -> None:
    for value in vars(importlib.import_module(name)).values():
        for each in lazy(value):
            assert re.compile(each.pattern, each.flags)  # type: ignore[attr-defined]  # told by what it is


def test_no_pattern_has_a_number_of_times_that_is_none() -> None:
    wrong = re.compile(r"[({]\d+, \d+[)}]")
    assert [one.pattern for one in patterns() if wrong.search(one.pattern)] == []


SOURCES = (
    r"\b(?:is|are) now\b|mov(?:ed?|ing)|(?=x)记住",
    r"(?:ab|cd)+x?|(?:q{2,3}r)*?uv",
    r"(?P<a>ab(?:c|d))(?P=a)|(?>ef)g",
    r"a(?i:bc)d|(?-i:EF)",
    r"[换改]成|[^x]yz|[a-c]de",
    r"[\u202a-\u202e]|[换改a-z]记|[\s换]住|[①-⑳]",
    r"(?<!no )yes|ab(?!c)d",
    r"straße|ΣΙΓΜΑ|kelvin|six",
    r"",
    r"a|b",
    r"(?:abc)?|de",
)
LETTERS = "\u202b①换abcdefgqruvxyz BCDEFısſKkieln ßΣσςİ记住换改成no"


@given(st.sampled_from(SOURCES), st.sampled_from((0, re.IGNORECASE)), st.data())
def test_a_lazy_pattern_searches_like_a_compiled_one(
    source: str, flags: re.RegexFlag, data: st.DataObject
) -> None:
    theirs = re.compile(source, flags)
    text = data.draw(st.text(LETTERS, max_size=12) | st.from_regex(theirs))
    wanted = theirs.search(text)
    for ours in (regex(source, flags), rare(source, flags)):
        found = ours.search(text)
        assert (found and found.span()) == (wanted and wanted.span())


def test_a_rare_pattern_is_not_compiled_for_a_text_without_its_words() -> None:
    pattern = rare(r"\bforget (?:that|this)\b")
    assert not pattern.search("Nothing of the kind.") and "_compiled_pattern" not in vars(pattern)
    assert pattern.search("Please forget this.") and "_compiled_pattern" in vars(pattern)


NAMELESS = [source for source in SOURCES if "(?P" not in source]


@given(st.sampled_from(NAMELESS), st.sampled_from(NAMELESS), st.data())
def test_phrases_are_found_where_one_of_them_is(one: str, other: str, data: st.DataObject) -> None:
    phrases = Phrases(one, other, flags=re.IGNORECASE)
    theirs = [re.compile(each, re.IGNORECASE) for each in (one, other)]
    chance = st.text(LETTERS, max_size=12) | st.from_regex(theirs[0]) | st.from_regex(theirs[1])
    texts = data.draw(st.lists(chance, min_size=1, max_size=20))
    for text in texts:
        assert phrases.found_in(text) == any(each.search(text) for each in theirs)


@cache
def wordy() -> list[re.Pattern[str]]:
    """Return the patterns that have words of their own."""
    found = [one for one in patterns() if literals(one.pattern, one.flags)]
    return found + [re.compile(one) for one in SOURCES if literals(one, 0)]


def test_most_phrases_have_words() -> None:
    assert len(wordy()) > 200


@given(st.data())
def test_what_a_pattern_is_found_in_holds_one_of_its_words(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(wordy()))
    found = data.draw(st.from_regex(re.compile(pattern.pattern, pattern.flags)))
    assert any(word in folded(found) for word in literals(pattern.pattern, pattern.flags))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (r"\bi (?:like|adore)\b", {"like", "adore"}),
        (r"\bmov(?:ed?|ing)\b|记住", {"mov", "记住"}),
        (r"(?:a|b)c?", set()),
        (r"x*", set()),
        (r"the (?:cat|dog)", {"cat", "dog"}),
        ("|".join(f"{n}word" for n in range(300)), set()),
        ("kubernetes [0-9]", {"kubernetes "}),
        (r"\bgo\b", {"go"}),
        (r"\ba[0-9]", set()),
        ("abcd.efghi", {"abcd"}),
        ("the.abcd", {"abcd"}),
    ],
)
def test_words_are_the_ones_that_tell_most(source: str, words: set[str]) -> None:
    assert literals(source, re.IGNORECASE) == words


def test_a_python_that_parses_otherwise_gives_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(re, "_parser")
    assert literals("记住", 0) == frozenset()


def test_what_a_pattern_takes_for_a_letter_is_folded_to_it() -> None:
    taken = [
        (letter, plain)
        for letter in map(chr, range(128, 0x3000))
        for plain in "abcdefghijklmnopqrstuvwxyz"
        if re.fullmatch(plain, letter, re.IGNORECASE)
    ]
    assert {plain for _, plain in taken} >= {"i", "k", "s"}
    assert [folded(letter) for letter, _ in taken] == [plain for _, plain in taken]


asked: list[str] = []


@keep_results(2)
def length_of(text: str) -> int:
    """Return a length, and note that it was asked for."""
    asked.append(text)
    return len(text)


def test_what_was_asked_of_a_text_is_not_worked_out_twice() -> None:
    asked.clear()
    assert [length_of("登录"), length_of("登录"), length_of("login")] == [2, 2, 5]
    assert asked == ["登录", "login"]
    assert length_of.__doc__ == "Return a length, and note that it was asked for."


def test_only_the_latest_results_are_kept_and_none_of_long_texts() -> None:
    asked.clear()
    for text in ("a", "b", "c", "a"):
        length_of(text)
    assert asked == ["a", "b", "c", "a"]
    long = "长" * (LONGEST_KEPT + 1)
    assert length_of(long) == length_of(long) == LONGEST_KEPT + 1
    assert asked[4:] == [long, long]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file of patterns."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    written = tmp_path / "__pycache__/x.patterns"
    fill(PatternCache(written)).write_file()
    return written


def fill(cache: PatternCache) -> PatternCache:
    """Ask for every pattern; each must be what Python makes of it."""
    for source, flags in COMPILED:
        assert cache.compile_pattern(source, flags) == re.compile(source, flags)
    return cache


def test_what_the_file_holds_is_not_compiled_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [re.compile(*each) for each in COMPILED]
    re.purge()
    monkeypatch.setattr("re._parser.parse", lambda *_: pytest.fail("compiled again"))
    cache = PatternCache(path)
    assert [cache.compile_pattern(*each) for each in COMPILED] == made


def test_a_file_with_any_byte_changed_or_cut_gives_no_wrong_pattern(path: Path) -> None:
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        for bad in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]):
            path.write_bytes(bad)
            cache = fill(PatternCache(path))
            # All of them where the head is damaged, else the one that was hit.
            assert len(cache._new) in range(1, len(COMPILED) + 1)
            cache.write_file()
            assert not fill(PatternCache(path))._new
    assert len(path.read_bytes()) == len(whole)


def test_rows_that_nobody_asked_for_stay(path: Path) -> None:
    cache = PatternCache(path)
    cache.compile_pattern("new", 0)
    assert len(cache._new) == 1
    cache.write_file()
    again = fill(PatternCache(path))
    again.compile_pattern("new", 0)
    assert not again._new


def test_a_file_of_another_python_begins_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()
    monkeypatch.setattr(sys, "version", "3.99")
    fill(PatternCache(path)).write_file()
    assert path.read_bytes() != before


def test_a_file_of_many_versions_begins_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kimi_memory.nlp.basic.patterns._MOST", 2)
    assert len(fill(PatternCache(path))._new) == len(COMPILED)


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
