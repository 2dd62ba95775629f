"""No pattern of ours takes quadratic time, whatever somebody sends."""

from __future__ import annotations

import inspect
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest
from fakes.worst_inputs import patterns, worst_inputs

SIZE, TRIED = 100_000, 1_500
SECONDS = 3.0
"""A quadratic pattern needs minutes for so much, a linear one a fraction of this."""
BOUNDED = {
    "kimi_memory.store.files.paths._PASSING": "the name of a file has at most 255 bytes",
    "kimi_memory.nlp.rules.clause_form._TAIL": "the value in a clause of at most 400 characters",
}
"""Patterns whose text is short by what it is, and why."""
ONCE_SLOW = (
    "kimi_memory.merge.moved_turns._SAID",
    "plugins.skills.mining._ORDER_EN",
    "plugins.skills.mining._SPLIT_ZH",
    "kimi_memory.index.units._NOTE",
    "kimi_memory.nlp.basic.safe_text._TRAILING",
    "kimi_memory.formats.event_form._LINE",
    "kimi_memory.formats.page_lines._BULLET",
    "kimi_memory.formats.page_lines._HEADING",
    "kimi_memory.formats.page_lines._KEY",
    "kimi_memory.formats.page_lines._TAIL",
    "kimi_memory.recall.evidence._SOURCE",
    "kimi_memory.recall.people_pages._UNFILLED",
    "kimi_memory.llm.remote.embeddings._KNOWN[3]",
    "kimi_memory.agent_hooks.respond._ACK",
    "kimi_memory.nlp.rules.amounts._WAN",
    "kimi_memory.nlp.dates.vocabulary._RULES[6]",
    "kimi_memory.nlp.dates.vocabulary._RULES[7]",
    "kimi_memory.nlp.rules.changed_later._FREED",
    "kimi_memory.nlp.rules.changed_later._OBJECT",
    "kimi_memory.nlp.rules.clause_form._STOP",
    "kimi_memory.nlp.rules.credentials._OF_PAGES",
    "kimi_memory.nlp.rules.secret_words._FORMS",
    "kimi_memory.nlp.rules.clause_form._TAIL_ZH",
    "kimi_memory.nlp.rules.documents._FORWARD",
    "kimi_memory.nlp.rules.coreference._TOPIC_ZH",
    "kimi_memory.nlp.rules.grounding._PARTS",
    "kimi_memory.nlp.rules.long_requests._REASON",
    "kimi_memory.nlp.dates.timestamps._FORM",
    "kimi_memory.nlp.rules.possessive_zh._STATES",
    "kimi_memory.nlp.basic.quotes._PARTS",
    "kimi_memory.nlp.rules.reports._COMMENTARY",
    "kimi_memory.nlp.basic.sentences._ASCII_END",
    "kimi_memory.nlp.basic.safe_text._DASHES",
    "kimi_memory.nlp.rules.assertions._AFTER_ZH",
    "kimi_memory.nlp.rules.tasks._HAN_DONE",
    "kimi_memory.nlp.rules.tasks._TAIL",
    "kimi_memory.nlp.rules.topics._TOPICS[6]",
    "kimi_memory.nlp.rules.utterance._BORDER",
    "kimi_memory.nlp.rules.utterance._QUESTION_EN",
    "kimi_memory.nlp.rules.small_talk._PLACE",
    "plugins.import_markdown._SOURCE",
    "plugins.read_markdown._MODEL_DATE",
    "plugins.todos._BOX",
    "plugins.triggers._QUOTED",
    "plugins.weekly._END",
)
READ_TWICE = (
    ("kimi_memory.agent_hooks.respond._ACK", "嗯"),
    ("kimi_memory.agent_hooks.respond._ACK", "yes please"),
    ("kimi_memory.agent_hooks.respond._ACK", "谢谢你好"),
    ("kimi_memory.nlp.dates.timestamps._FORM", "2000-1-1" + " " * 60),
    ("kimi_memory.nlp.rules.possessive_zh._STATES", "后天"),
    ("kimi_memory.nlp.rules.assertions._AFTER_ZH", "如今"),
    ("kimi_memory.nlp.rules.assertions._AFTER_ZH", "刚刚"),
    ("kimi_memory.nlp.rules.settled._REFUSES", "嗯"),
    ("kimi_memory.nlp.rules.small_talk._COURTESY", "嗯"),
    ("kimi_memory.nlp.rules.small_talk._ON_THE_WAY", "1" * 1700),
    ("kimi_memory.nlp.rules.tasks._HAN_DONE", "刚刚"),
    ("plugins.weekly._END", "项目" + "已经" * 60),
)
"""Words that a pattern repeats and could read in two ways: each would double its time."""
PARTS = 16


class _TooLongError(Exception):
    pass


@contextmanager
def within(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def use_of(place: str, pattern: re.Pattern[str]) -> Callable[[str], object]:
    """Return how a pattern is used: one that is only matched needs no search to be quick."""
    module, _, name = place.partition("[")[0].rpartition(".")
    source = inspect.getsource(sys.modules[module])
    used = set(re.findall(rf"\b{name}\.(\w+)\(", source))
    alone = len(re.findall(rf"\b{name}\b(?!\.)", source)) == 1
    if alone and used and used <= {"match", "fullmatch"}:
        return pattern.fullmatch if used == {"fullmatch"} else pattern.match
    return pattern.search


@pytest.mark.faults
@pytest.mark.parametrize("part", range(PARTS))
def test_its_worst_input_takes_no_longer_than_its_length(part: int) -> None:
    """Not a test for each: to know them all takes seconds, which every run would spend."""
    slow = []
    for place in sorted(patterns().keys() - BOUNDED.keys())[part::PARTS]:
        try:
            check(place, TRIED)
        except pytest.fail.Exception as error:
            slow.append(str(error))
    assert not slow


@pytest.mark.parametrize("place", ONCE_SLOW)
def test_what_was_quadratic_once_is_no_more(place: str) -> None:
    check(place, TRIED // 3)


@pytest.mark.parametrize(("place", "words"), READ_TWICE)
def test_words_that_read_in_two_ways_are_read_once(place: str, words: str) -> None:
    with within(SECONDS):
        use_of(place, patterns()[place])(words * 60 + "\0")


def check(place: str, tried: int) -> None:
    """Feed a pattern 100 kB of what costs it most; fail where that takes too long."""
    pattern = patterns()[place]
    use = use_of(place, pattern)
    costs = []
    for text in worst_inputs(pattern, tried):
        begun = time.process_time()
        search_in_time(use, text, place)  # A pattern with two ways to read a word never ends.
        costs.append((time.process_time() - begun, text))
    worst = max(costs)[1][:-1]
    search_in_time(use, (worst * (SIZE // len(worst) + 1))[:SIZE] + "\0", place)


def search_in_time(use: Callable[[str], object], text: str, place: str) -> None:
    """Use a pattern; fail where that takes too long."""
    try:
        with within(SECONDS):
            use(text)
    except _TooLongError:
        pytest.fail(
            f"{place} takes over {SECONDS} s for {len(text)} characters of {text[:20]!r}: "
            f"give it a bound"
        )


def test_a_quadratic_pattern_is_found() -> None:
    bad = re.compile(r"x*$")
    text = max(worst_inputs(bad, SIZE), key=lambda one: one.count("x"))
    with pytest.raises(_TooLongError), within(SECONDS):
        bad.search(text)


def test_patterns_are_found_where_they_are_hidden() -> None:
    assert len(patterns()) > 400
    assert any(place.startswith("plugins.triggers._REMEMBER") for place in patterns())
