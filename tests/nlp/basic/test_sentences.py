"""Sentences of Chinese and English text, as spans, and the run of them that answers a query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic import sentences as module
from kimi_memory.nlp.basic.sentences import is_remnant, marks, pieces, sentences, snippet


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("我们用它。因为快！你呢？", 3),
        ("他说：“好的。”然后走了。", 2),
        ("先部署；再测试……最后发布", 3),
        ("One. Two! Three? Four", 4),
        ('He said "Stop." Then he left.', 2),
        ("Use e.g. Postgres 3.14 or v2.3.1. See https://a.b/c.d now.", 2),
        ("Dr. Smith and J. R. Lee met at 5 p.m. on Monday.", 1),
        ("Ask Mr. Wang etc. about it.", 1),
        ("1. First item\n2. Second item", 2),
        ("- a\n- b\n\nc", 3),
        ("版本 2.3.1 发布了。Price is 3.5 dollars.", 2),
        ("well… maybe. OK", 2),
        ("Really?! Yes.", 2),
        ("", 0),
        (" \n ", 0),
    ],
)
def test_sentences_are_counted_as_a_reader_does(text: str, count: int) -> None:
    assert len(split(text)) == count, split(text)


def test_quotes_stay_with_their_sentence() -> None:
    assert split("他说：“好的。”然后走了。") == ["他说：“好的。”", "然后走了。"]


@given(st.text(st.sampled_from("ab. !?。！\n“”'\"1,，中文…; ")))
def test_spans_cover_all_that_is_not_white_space(text: str) -> None:
    spans = sentences(text)
    covered = "".join(text[start:end] for start, end in spans)
    assert "".join(covered.split()) == "".join(text.split())
    assert spans == sorted(spans)
    assert all(text[a:b] == text[a:b].strip() and a < b for a, b in spans)


@given(st.text(min_size=1), st.integers(1, 20))
def test_pieces_join_to_the_whole(text: str, limit: int) -> None:
    spans = pieces(text, 0, len(text), limit)
    assert "".join(text[a:b] for a, b in spans) == text
    assert all(0 < b - a <= limit for a, b in spans)


def test_pieces_never_tear_what_is_seen_as_one() -> None:
    family = "👨‍👩‍👧"
    text = family * 20 + "é" * 30
    for start, end in pieces(text, 0, len(text), 12):
        assert text[start] not in "\u0301\u200d"
        assert text[end - 1] != "\u200d"


@given(st.text(st.sampled_from("ab1. !?\n\t\x1c\"'()]*_…")))
def test_what_is_written_in_ascii_alone_ends_where_it_does_beside_chinese(text: str) -> None:
    spans = sentences(f"{text}\n中")
    assert spans[-1] == (len(text) + 1, len(text) + 2)
    assert spans[:-1] == sentences(f"{text}\n")


FILLER = "Nothing of interest was said here at all. "
FILLER_ZH = "这里没有说什么有意思的事情。"


def test_short_text_comes_whole() -> None:
    assert snippet("  We use Postgres. 就这样。 ", ["postgr"]) == (
        "We use Postgres. 就这样。",
        2,
        23,
    )


def test_the_sentence_with_the_words_is_shown() -> None:
    text = FILLER * 40 + "We chose Postgres for its replication. " + FILLER * 40
    shown, start, end = snippet(text, ["postgr", "replic", "here"], 200)
    assert "We chose Postgres for its replication." in shown
    assert shown == text[start:end] and len(shown) <= 200


def test_chinese_sentences_are_found_and_whole() -> None:
    text = FILLER_ZH * 60 + "数据库最后选了达梦。" + FILLER_ZH * 60
    shown, start, end = snippet(text, ["数据", "据库", "达梦", "数"], 80)
    assert "数据库最后选了达梦。" in shown and shown.endswith("。")
    assert text[start:end] == shown


PHRASES = [
    "We chose Postgres.",
    "Nothing here.",
    "数据库选了达梦。",
    "deploydeploy" * 9,
    "The deploy failed; the deploy was retried, and then it worked again at last.",
    "Undeployed!",
    "café ﬁn",
    " \n\n ",
]


@given(
    st.lists(st.sampled_from(PHRASES), min_size=1, max_size=30),
    st.lists(st.sampled_from(["deploy", "postgr", "数据", "达", "fin", "cafe", "noth", "d:2026"])),
    st.sampled_from([12, 40, 90, 200]),
)
def test_no_other_run_of_sentences_holds_more(
    parts: list[str], words: list[str], limit: int
) -> None:
    text = " ".join(parts)
    if len(text.strip()) <= limit:
        return
    units = module._split_units(text, sentences(text), limit)
    folded = [module.simplify(module.normalise(text[start:end])) for start, end in units]
    patterns = {word: module._word_pattern(word) for word in words if ":" not in word}
    held = [{w for w, found in patterns.items() if found.search(part)} for part in folded]
    weights = module._weigh_words([frozenset(words) for words in held])
    best, place = (-1.0, -1.0), (0, 0)
    for first, (start, _) in enumerate(units):
        within = [at for at in range(first, len(units)) if units[at][1] - start <= limit - 2]
        run = held[first : (within[-1] if within else first) + 1]
        whole = sum(weights[word] for words in run for word in words)
        score = (round(sum(weights[word] for word in set().union(*run)), 6), round(whole, 6))
        if score > best:
            best, place = score, (start, units[first + len(run) - 1][1])
    assert snippet(text, words, limit)[1:] == place


def test_traditional_text_answers_simplified_words() -> None:
    text = FILLER_ZH * 60 + "資料庫選了達夢。" + FILLER_ZH * 60
    assert "資料庫選了達夢。" in snippet(text, ["资料", "料库"], 80)[0]


def test_rare_words_weigh_more_than_common_ones() -> None:
    text = ("The server restarted again today. " * 30) + "The server key is zebra. " + FILLER * 30
    assert "zebra" in snippet(text, ["server", "today", "restart", "zebra"], 120)[0]


def test_stems_match_the_beginning_of_words_only() -> None:
    text = "Unhappy redeploy. " * 30 + "A happy end. " + FILLER * 20
    assert "A happy end." in snippet(text, ["happi"], 60)[0]


def test_one_long_sentence_is_cut_with_marks() -> None:
    text = "很长的话" * 300 + "密钥是斑马" + "很长的话" * 300
    shown, start, end = snippet(text, ["斑马"], 100)
    assert "斑马" in shown and shown[0] == shown[-1] == "…"
    assert shown[1:-1] == text[start:end] and len(shown) <= 100


def test_empty_text_has_an_empty_snippet() -> None:
    assert snippet(" \n", ["a"]) == ("", 0, 0)


@given(st.text(), st.lists(st.text(max_size=4), max_size=4), st.integers(5, 60))
def test_offsets_point_at_what_is_shown(text: str, words: list[str], limit: int) -> None:
    shown, start, end = snippet(text, words, limit)
    assert len(shown) <= limit
    assert shown.removeprefix("…").removesuffix("…").strip("…") == text[start:end].strip().strip(
        "…"
    )


def test_words_of_a_query_are_marked_where_they_stand() -> None:
    def marked(text: str, *words: str) -> list[str]:
        return [text[first:last] for first, last in marks(text, words)]

    assert marked("We deployed it; deployments fail.", "deploy") == ["deployed", "deployments"]
    assert marked("资料库选了达梦，数据备份。", "数据", "资", "料", "资料", "数") == [
        "资料",
        "数据",
    ]
    assert marked("資料庫", "资料", "料库") == ["資料庫"]
    assert marked("我喝茶", "茶") == ["茶"]
    assert marked("undeployed d:2026-02-27", "deploy", "d:2026-02-27", "") == []


@given(st.text(), st.lists(st.text(min_size=1, max_size=4), max_size=4))
def test_marks_stand_in_order_within_the_text(text: str, words: list[str]) -> None:
    places = [at for span in marks(text, words) for at in span]
    assert places == sorted(set(places))
    assert all(0 <= at <= len(text) for at in places)


@pytest.mark.parametrize("text", ["30），会导致编译失败", "the parser) and more", "](x.md)"])
def test_what_closes_a_bracket_it_did_not_open_is_a_remnant(text: str) -> None:
    assert is_remnant(text)


@pytest.mark.parametrize("text", ["1) Do it", "先建，2）导入", "I like it :)", "f(x) and [y](z)"])
def test_numbers_of_items_smiles_and_pairs_are_no_remnants(text: str) -> None:
    assert not is_remnant(text)
