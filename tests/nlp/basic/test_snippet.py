"""Snippets: the sentences that answer."""

from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic import snippet as module
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.basic.snippet import marks, snippet

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
