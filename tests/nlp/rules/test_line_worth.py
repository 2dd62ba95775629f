"""How likely a careful reader keeps a line of a digest."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.line_worth import LEAST, line_signs, line_worth

WORTH = [
    ("work", "ordered", "never write to the ledger without a lock, always go through `Ledger`"),
    (
        "work",
        "asked",
        "the importer should only support `csv` and `tsv`, because users must never upload"
        " anything else → I've added `check_suffix` in `importer.py`; it raises `SuffixError`",
    ),
    ("chat", "told", "I've lived in Porto since 2019 and usually cycle 40 km to work on Fridays"),
    ("chat", "told", "我在宁波做外贸12年了，每周三晚上都去学日语，女儿今年9岁"),
    ("people", "told", "My sister Ines had twins in March and moved to Faro with her husband"),
]
NOT_WORTH = [
    ("work", "asked", "commit and push → All tests pass, everything works"),
    ("work", "asked", "it still isn't showing"),
    ("work", "asked", "now update the readme and the changelog → You're all set!"),
    ("work", "asked", "现在提交一下代码"),
    ("chat", "told", "I'll definitely give it a try tonight … it sounds so good"),
    ("chat", "told", "那我明天再看看吧"),
    ("people", "told", "I'm so glad it makes you happy, can't wait to see you tomorrow"),
]


@pytest.mark.parametrize(("sort", "part", "text"), WORTH)
def test_what_outlasts_its_session_is_worth_a_line(sort: str, part: str, text: str) -> None:
    assert line_worth(text, part, sort) >= LEAST[sort]


@pytest.mark.parametrize(("sort", "part", "text"), NOT_WORTH)
def test_errands_and_remarks_of_the_hour_are_not(sort: str, part: str, text: str) -> None:
    assert line_worth(text, part, sort) < LEAST[sort]


def test_an_answer_that_names_what_was_found_raises_its_line() -> None:
    asked = "why does the cart lose its items?"
    plain = line_worth(f"{asked} → It works now.", "asked", "work")
    named = line_worth(
        f"{asked} → I fixed `cart.ts`: `useEffect` ran before `loadItems` had read the store.",
        "asked",
        "work",
    )
    assert named > plain + 0.5


@pytest.mark.parametrize("text", ["", " → ", "…", "?" * 5000, "它" * 5000])
def test_any_text_has_finite_signs(text: str) -> None:
    for sort in LEAST:
        assert all(abs(sign) <= 60 for sign in line_signs(text, "told", sort).values())
