"""The screen: masks, injected blocks, cuts."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kimi_memory import hookimpl
from kimi_memory.capture.log import MASK, Screen
from kimi_memory.domain.note import Quote, Source
from kimi_memory.domain.screen import Span
from kimi_memory.domain.session import Json, Session
from kimi_memory.errors import UsageError
from kimi_memory.formats import codec
from kimi_memory.hooks.host import Host
from tests.jobs.notes import card, event

BUNDLED = Screen(Host(entry_points=False), b"k" * 32)
IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,30}[A-Za-z0-9]", fullmatch=True)


class Digits:
    """Wants every run of digits masked, and every run that is longer twice."""

    @hookimpl
    def screen_text(self, text: str) -> list[Span]:
        import re

        runs = [Span(m.start(), m.end(), "digits") for m in re.finditer(r"[0-9]+", text)]
        return [*runs, *(Span(s.start, s.end + 1, "long") for s in runs if s.end < len(text))]


def screen(key: bytes = b"k" * 32, max_bytes: int = 65536) -> Screen:
    host = Host(entry_points=False, disabled=["privacy"])
    host.register(Digits(), "digits")
    return Screen(host, key, max_bytes)


def test_a_secret_never_passes() -> None:
    passed = screen().pass_text("the code is 4711")
    assert "4711" not in passed.text
    assert passed.masked == 1
    assert MASK.search(passed.text)


def test_overlapping_spans_become_one_mask_named_by_the_longest() -> None:
    text, count = screen().mask("a 12 b")
    assert count == 1
    assert text.startswith("a ⟦redacted:long:")
    assert text.endswith("⟧b")


def test_equal_secrets_get_equal_tags_and_other_keys_other_tags() -> None:
    first = screen().pass_text("a 77").text
    assert first == screen().pass_text("a 77").text
    others = {screen(bytes([n]) * 32).pass_text("a 77").text for n in range(8)}
    assert len(others) > 1


def test_masked_text_passes_unchanged() -> None:
    once = screen().pass_text("pin 123456 end").text
    again = screen().pass_text(once)
    assert again.text == once
    assert again.masked == 0


def test_recalled_blocks_are_not_captured_again() -> None:
    text = "before\n<relevant-memories>\n1. old\n</relevant-memories>\nafter"
    passed = screen().pass_text(text).text
    assert "old" not in passed
    assert "before" in passed
    assert "after" in passed


def test_a_long_turn_is_cut_at_a_character_and_says_so() -> None:
    passed = screen(max_bytes=100).pass_text("记" * 200)
    assert passed.cut == 500
    assert passed.text.startswith("记" * 33 + "\n⟦cut: 500 bytes⟧")


@pytest.mark.parametrize("raw", ["a\x00b", "a\x1b[31mb", "a\U000e0041b"])
def test_control_and_tag_characters_vanish(raw: str) -> None:
    text = screen().pass_text(raw).text
    assert not any(ord(c) < 9 or ord(c) == 27 or 0xE0000 <= ord(c) <= 0xE007F for c in text)


@given(st.text())
def test_whatever_comes_in_can_be_stored_as_utf8(text: str) -> None:
    passed = screen().pass_text(text).text
    assert passed.encode("utf-8").decode("utf-8") == passed


def test_a_lone_surrogate_is_replaced() -> None:
    assert screen().pass_text("a\ud800b").text == "a?b"


def test_ids_and_names_pass_unless_they_hold_a_secret() -> None:
    assert screen().pass_id("chat-x") == "chat-x"
    hidden = screen().pass_id("chat-4711")
    assert hidden and "4711" not in hidden and hidden == screen().pass_id("chat-4711")
    assert screen().pass_name("") == "" and screen().pass_name("tea shop") == "tea shop"


def test_calls_are_kept_as_far_as_there_is_room() -> None:
    calls = [{"name": "read"}, {"name": "write", "pin": "4711"}]
    sizes = [
        len(json.dumps(one, ensure_ascii=False).encode()) for one in screen().pass_calls(calls)
    ]
    assert screen().pass_calls([]) == ()
    first, second = screen(max_bytes=sum(sizes)).pass_calls(calls)
    assert first == {"name": "read"} and "4711" not in str(second) and second["name"] == "write"
    assert screen(max_bytes=sum(sizes) - 1).pass_calls(calls) == (first, {"cut": "1 calls"})
    assert screen(max_bytes=sizes[0] - 1).pass_calls(calls) == ({"cut": "2 calls"},)


def test_values_of_every_kind_pass_and_secrets_in_them_do_not() -> None:
    given = {"n": 5, "x": 0.5, "no": float("inf"), "many": ["4711", True, None], "in": {"k": "81"}}
    passed = screen().pass_fields(given)
    assert (passed["n"], passed["x"], passed["no"]) == (5, 0.5, None)
    assert passed["many"][1:] == [True, None]
    assert "4711" not in str(passed) and "81" not in str(passed["in"])


def test_joined_spans_are_named_by_the_longest_wherever_it_stands() -> None:
    class Two:
        @hookimpl
        def screen_text(self, text: str) -> list[Span]:
            return [Span(0, 10, "first"), Span(8, 14, "second")]

    host = Host(entry_points=False, disabled=["privacy"])
    host.register(Two(), "two")
    text, count = Screen(host, b"k" * 32, 65536).mask("abcdefghijklmnopqrstuvwxyz")
    assert count == 1 and text.startswith("⟦redacted:first:") and text.endswith("⟧opqrstuvwxyz")


def test_what_was_not_cut_or_stripped_is_said_to_be_whole() -> None:
    assert screen().pass_text("plain") == ("plain", 0, 0, 0)
    assert screen().pass_text("") == ("", 0, 0, 0)


def test_a_header_passes_with_its_secrets_masked() -> None:
    header = Session("s", datetime(2026, 2, 1, tzinfo=UTC), title="pin 4711", project="plain")
    passed = screen().pass_session(header)
    assert passed.id == "s" and passed.project == "plain"
    assert MASK.search(passed.title) and "4711" not in passed.title


class Labelled:
    """Wants masked what is called a password."""

    @hookimpl
    def screen_text(self, text: str) -> list[Span]:
        label = "password: "
        return [Span(len(label), len(text), "label")] if text.startswith(label) else []


def test_a_bare_answer_is_masked_where_it_was_asked_for_and_a_plugin_knows_it() -> None:
    host = Host(entry_points=False, disabled=["privacy"])
    asked = ["What is the password?", "One moment."]
    assert Screen(host, b"k" * 32).pass_turn("it's hunter2-x", asked).text == "it's hunter2-x"
    host.register(Labelled(), "labelled")
    passed = Screen(host, b"k" * 32).pass_turn("it's hunter2-x", asked)
    assert MASK.sub("*", passed.text) == "it's *" and "redacted:label:" in passed.text
    assert passed.masked == 1
    assert Screen(host, b"k" * 32).pass_turn("hunter2-x", ["Which file?"]).masked == 0


def test_what_its_owner_wrote_before_stays_and_what_is_new_is_masked() -> None:
    text = screen().mask_new("a 4711 b 12", known="x 4711 ")
    assert text.startswith("a 4711 ") and MASK.sub("*", text).endswith("b *")


@given(IDS | st.sampled_from(["conv-26-D7", "Ab3-Cd4x", "run7.Xy9"]), st.integers(1, 4000))
def test_turns_that_a_note_rests_on_keep_their_names_whatever_a_session_is_called(
    id: str, n: int
) -> None:
    assume(BUNDLED.pass_id(id) == id)
    quote = Quote(id, n, "We ship on Fridays.")
    rests = {"sources": (Source.from_quote(quote), Source(id, n, n + 2)), "quotes": (quote,)}
    for note in (card("a", quote.text, **rests), event("b", quote.text, **rests)):
        text = codec.render(note)
        assert BUNDLED.mask_new(text, known="") == text


@pytest.mark.parametrize("wrap", [lambda one: [one], lambda one: {"in": one}], ids=["list", "dict"])
def test_what_is_nested_a_hundred_deep_passes_and_deeper_is_refused(
    wrap: Callable[[Json], Json],
) -> None:
    value: Json = "x"
    for _ in range(100):
        value = wrap(value)
    assert screen().pass_fields({"v": value}) == {"v": value}
    assert screen().pass_calls([value]) == (value,)
    with pytest.raises(UsageError, match="too deep"):
        screen().pass_fields({"v": wrap(value)})
    assert screen().pass_calls([wrap(value)]) == ({"cut": "nested too deep"},)


@pytest.mark.parametrize("sign", ["\u200b", "\u00ad", "\u2060", "\ufeff", "\u202e", "\ufe0f"])
def test_what_nobody_sees_between_its_letters_hides_no_secret(sign: str) -> None:
    told = f"the token {sign}is ghp_{sign}{'a1B2c3D4e5F6' * 3}, the pass{sign}word: hunter{sign}22x"
    passed = Screen(Host(entry_points=False), b"k" * 32).pass_text(told)
    assert passed.masked == 2
    assert "hunter" not in passed.text and "F6" not in passed.text
    assert passed.text.startswith(f"the token {sign}is ")


def test_a_number_is_screened_by_its_name() -> None:
    fields: dict[str, Json] = {"pin": 4831, "otp": [739184], "port": 8080, "ok": True, "n": 1.5}
    passed = Screen(Host(entry_points=False), b"k" * 32).pass_fields(fields)
    assert {name: passed[name] for name in ("port", "ok", "n")} == {
        "port": 8080, "ok": True, "n": 1.5
    }  # fmt: skip
    assert MASK.fullmatch(str(passed["pin"]))
    assert "739184" not in str(passed["otp"])
