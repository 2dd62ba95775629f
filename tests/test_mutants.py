"""The maker of mutants: which defects it makes, and that a test file meets them."""

from __future__ import annotations

import ast

import pytest

from tests.mutants import ROOT, changed_modules, compile_mutant, find_tests, mutations, run_tests

QUOTES = ROOT / "kimi_memory/nlp/basic/quotes.py"
SOURCE = '''"""A docstring, in which nothing is changed."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    LIMIT = 1
@lru_cache(maxsize=8)
def keep(first: int | None, many=3) -> int | None:
    if first < many and not first:
        note(first)
    return first + 100
'''


def mutants_of(source: str) -> dict[str, str]:
    """Return the text of each mutant of a source by what it is."""
    found = {}
    for number, known in enumerate(mutations(ast.parse(source))):
        tree = ast.parse(source)
        mutations(tree)[number].apply()
        found[f"{known.line}: {known.words}"] = ast.unparse(ast.fix_missing_locations(tree))
    return found


def test_each_place_that_decides_gives_a_mutant() -> None:
    made = mutants_of(SOURCE)
    assert list(made) == [
        "6: 3 becomes 4",
        "7: the test is negated",
        "7: And becomes Or",
        "7: Lt becomes LtE",
        "8: left out: note(first)",
        "9: return None",
        "9: Add becomes Sub",
        "9: 100 becomes 50",
    ]
    assert "if not (first < many and (not first))" in made["7: the test is negated"]
    assert "note(first)" not in made["8: left out: note(first)"]
    assert "first + 50" in made["9: 100 becomes 50"]


def test_types_docstrings_and_sizes_of_caches_stay() -> None:
    for text in mutants_of(SOURCE).values():
        assert "lru_cache(maxsize=8)" in text
        assert "first: int | None" in text
        assert "LIMIT = 1" in text


NOTES = "tests/store/notes/test_notes.py tests/store/notes/test_notes_speakers.py"


@pytest.mark.parametrize(
    ("module", "tests"),
    [
        ("kimi_memory/recall/evidence.py", "tests/recall/test_evidence.py"),
        ("kimi_memory/recall/bm25.py", "tests/recall/test_bm25.py tests/recall/test_bm25_wand.py"),
        ("kimi_memory/store/notes/notes.py", NOTES),
        ("plugins/words.py", "tests/plugins/test_words.py"),
        ("plugins/skills/__init__.py", "tests/plugins/skills/test_skills.py"),
        ("kimi_memory/domain/command.py", ""),
    ],
)
def test_a_module_has_its_own_test_files(module: str, tests: str) -> None:
    found = find_tests(ROOT / module)
    assert [one.relative_to(ROOT).as_posix() for one in found] == tests.split()


def test_the_tests_of_a_module_meet_its_mutant_and_leave_nothing() -> None:
    tests = find_tests(QUOTES)
    assert tests is not None
    before = QUOTES.read_bytes()
    known = mutations(ast.parse(before))
    at = next(at for at, one in enumerate(known) if one.words.startswith("left out: spans.append"))
    compile_mutant(QUOTES, at)
    assert run_tests(tests, "", None)
    assert not run_tests(tests, f"{QUOTES}:{at}", None)
    assert QUOTES.read_bytes() == before


def test_what_changed_is_seen_from_a_commit() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("needs the history of the project")
    assert all(path.suffix == ".py" and path.exists() for path in changed_modules("HEAD"))
