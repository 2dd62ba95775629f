"""JSON out of what models say: prose, fences, thoughts and trailing commas are forgiven."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.json_repair import salvage, salvage_items

GOOD = {"a": ["部署, ]", {"b": 'say "}" and {'}], "n": 1.5, "t": True}
SAID = json.dumps(GOOD, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        SAID,
        f"  \n{SAID}\n",
        f"Sure! Here it is:\n{SAID}\nLet me know if you need more.",
        f"好的，结果如下：{SAID}。希望有帮助！",
        f"```json\n{SAID}\n```",
        f"Result:\n```\n{SAID}\n```\nDone.",
        f"```json\n{SAID}",
        f'<think>maybe {{"a": 1}}?</think>{SAID}',
        f"<thinking>还要想一想</thinking>\n```json\n{SAID}\n```",
        SAID[:-1] + ",}",
        SAID.replace("]", ",\n ]", 2).replace("部署, ,\n ]", "部署, ]"),
        f"I use {{curly}} words. {SAID}",
    ],
)
def test_the_answer_is_found(text: str) -> None:
    assert salvage(text) == GOOD


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ('[{"op": "ADD"},]', [{"op": "ADD"}]),
        ('{"a": ",]"}', {"a": ",]"}),
        ("nothing [] here", []),
        ("{'a': 'it\\'s', 'b': None, 'c': True}", {"a": "it's", "b": None, "c": True}),
        ("{'a': 'don't do it'}", {"a": "don't do it"}),
        ('{"a": "she said "yes" to it", "b": 1}', {"a": 'she said "yes" to it', "b": 1}),
        ('{a: 1, // one\n "b": 2, # two\n "c": "x" /* three */}', {"a": 1, "b": 2, "c": "x"}),
        ("{“a”：“用“引号””，“b”：［1，2］}", None),
        ("{“a”：“好”，“b”：［1，2］}", {"a": "好", "b": [1, 2]}),
        ('{"url": "http://x/y#z", "t": "a // b"}', {"url": "http://x/y#z", "t": "a // b"}),
    ],
)
def test_small_slips_are_mended(text: str, value: object) -> None:
    if value is None:
        with pytest.raises(ValueError, match="no complete JSON"):
            salvage(text)
    else:
        assert salvage(text) == value


ONE, TWO = '{"op": "ADD", "n": {"text": "a } b"}}', '{"op": "ADD", "n": 2}'


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f'{{"operations": [{ONE}, {TWO}]}}', 2),
        (f"[{ONE}, {TWO}]", 2),
        (f'{{"operations": [{ONE}, {TWO}, {{"op": "AD', 2),
        (f'Sure:\n```json\n{{"operations": [{ONE}, {{"op": ADD" oops}}, {TWO}]}}', 2),
        (f"{ONE}\n{TWO}", 2),
        (ONE, 1),
        ('{"operations": []}', 0),
    ],
)
def test_items_are_read_one_by_one(text: str, count: int) -> None:
    found = salvage_items(text, "operations", "op")
    assert len(found) == count
    assert all(item["op"] == "ADD" for item in found)


@pytest.mark.parametrize("text", ["", "I cannot.", '{"verdict": "agrees"}', "[1, 2", "{" * 5000])
def test_no_items_are_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"empty|no list of operations"):
        salvage_items(text, "operations", "op")


@given(st.text(alphabet="{}[]\",:'“”ab \n\\#/", max_size=200))
def test_any_answer_is_read_or_refused(text: str) -> None:
    try:
        found = salvage_items(text, "a", "b")
    except ValueError:
        return
    assert isinstance(found, list)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        ("<think>only a thought", "empty"),
        ("I cannot help with that.", "no complete JSON"),
        ("7", "no complete JSON"),
        ('"text"', "no complete JSON"),
        ('{"a": [1, 2', "no complete JSON"),
        ('{"a": NaN}', "no complete JSON"),
        ("{]", "no complete JSON"),
        ("[" * 100_000, "no complete JSON"),
        ('{"a"' * 5000, "no complete JSON"),
    ],
)
def test_what_is_no_answer_says_why(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        salvage(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4) | st.lists(VALUES, max_size=4))
def test_whatever_is_said_around_it_comes_back_whole(value: object) -> None:
    said = json.dumps(value, ensure_ascii=False)
    assert salvage(said) == value
    assert salvage(f"Here:\n```json\n{said}\n```\n") == value or "```" in said


@given(st.text(alphabet='{}[]",:\\ab1 \n`<>'))
def test_no_text_breaks_it(text: str) -> None:
    try:
        found = salvage(text)
    except ValueError:
        return
    assert isinstance(found, dict | list)
