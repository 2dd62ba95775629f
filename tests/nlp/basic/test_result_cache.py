"""Results of pure functions of one text are kept for a while."""

from __future__ import annotations

from kimi_memory.nlp.basic.result_cache import LONGEST, keep_results

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
    long = "长" * (LONGEST + 1)
    assert length_of(long) == length_of(long) == LONGEST + 1
    assert asked[4:] == [long, long]
