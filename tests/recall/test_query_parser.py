"""The query line: marks are read, questions are left alone, errors name place and remedy."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from folders import NOW
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.domain.search_types import Query
from kimi_memory.errors import UsageError
from kimi_memory.recall.query_parser import FIELDS, looking_back, parse


def at(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ("green tea", {"text": "green tea"}),
        ('"green tea" cups', {"text": "green tea cups", "phrases": ("green tea",)}),
        ("「乌龙茶」 杯子", {"text": "乌龙茶 杯子", "phrases": ("乌龙茶",)}),
        ("“主从复制”", {"text": "主从复制", "phrases": ("主从复制",)}),
        ('"is it over?"', {"text": "is it over?", "phrases": ("is it over?",)}),
        ("tea -coffee", {"text": "tea", "excluded": ("coffee",)}),
        ("茶 -咖啡", {"text": "茶", "excluded": ("咖啡",)}),
        ('tea -"iced coffee"', {"text": "tea", "excluded": ("iced coffee",)}),
        ("deploy* fails", {"text": "deploy fails", "phrases": ("deploy*",)}),
        ("部署* 失败", {"text": "部署 失败", "phrases": ("部署*",)}),
        ("tea -deploy*", {"text": "tea", "excluded": ("deploy*",)}),
        ("tier:semantic port", {"text": "port", "tier": ("semantic",)}),
        ("端口 kind:card kind:event", {"text": "端口", "kind": ("card", "event")}),
        ("which port? kind:card", {"text": "which port?", "kind": ("card",)}),
        ("kind:card 端口是多少？", {"text": "端口是多少？", "kind": ("card",)}),
        ('tag:"read later" x', {"text": "x", "tag": ("read later",)}),
        ("project:menu agent:claude soup", {"text": "soup", "project": "menu", "agent": "claude"}),
        ("speaker:Bob key:db path:semantic", {"speaker": ("Bob",), "key": ("db",)}),
        ("since:2026-02-01 until:2026-02-03 x", {"text": "x", "since": at("2026-02-01")}),
        ("until:2026-02-03 x", {"text": "x", "until": at("2026-02-04")}),
        ("since:上个月 茶", {"text": "茶", "since": at("2026-01-01")}),
        ('since:"last week" tea', {"text": "tea", "since": at("2026-02-16")}),
        (
            "valid-at:2026-02-03 tea",
            {"text": "tea", "valid_at": at("2026-02-04") - timedelta.resolution},
        ),
        ("valid-at:上个月 茶", {"text": "茶", "valid_at": at("2026-02-01") - timedelta.resolution}),
        ("valid-at:7d tea", {"valid_at": datetime(2026, 2, 20, 9, tzinfo=UTC)}),
        ("since:7d tea", {"since": datetime(2026, 2, 20, 9, tzinfo=UTC)}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_marks_are_read(line: str, query: dict[str, object]) -> None:
    found = parse(line, NOW, limit=7)
    assert found.limit == 7
    for name, value in query.items():
        assert getattr(found, name) == value, name
    if (
        "path:" not in line
        and "until" not in line
        and "since" not in line
        and "valid-at" not in line
    ):
        assert found == Query(limit=7, **query)


@pytest.mark.parametrize(
    "line",
    [
        "what happened at 10:30",
        "see http://example.org/a-b?c=d*e for more",
        "C:\\x\\y is full",
        "tea?",
        "茶？",
        "what does rm -rf do",
        "npm -g --force install",
        "it was -5 degrees",
        "- buy milk",
        "a well-known e-mail",
        "5* hotel, C* and a*b",
        "**bold** *words*",
        'a 12" record',
        'he said "hello',
        "他说“好的”就走了",
        "「唐音」的「唐」都指什么",
        "为什么叫“矮冬瓜”？",
        'When did Jon read "The Lean Startup"?',
        "note: this",
        "Re:tea",
        "status:500 in the log",
        "Which is it, tier:gold or tier:silver?",
        "kind: of",
        "-coffee",
        "tag:",
        "key : value",
        "时间：十点",
        "don't 'quote' me",
        "…",
        "\x00\ud800",
    ],
)
def test_questions_stay_as_they_are(line: str) -> None:
    assert parse(line, NOW) == Query(text=" ".join(line.split()))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "budget tier:gold",
            "'tier:gold' at character 8: there is no tier 'gold'. "
            "Use short-term, episodic, mid-term, semantic, long-term or page.",
        ),
        (
            "since:someday x",
            "'since:someday' at character 1: 'someday' is no date. "
            "Write 2026-02-27, 2026-02-27T09:30, 7d, 'last week' or 上个月.",
        ),
        (
            "project:a project:b",
            "'project:b' at character 11: project: stands twice. Give it once.",
        ),
    ],
)
def test_errors_name_place_and_remedy(line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(line, NOW)
    assert str(caught.value) == message


ODD = """
we the tea deploy* -rf -v well-known 10:30 http://a.b/c?d=e C:\\x "yes" 'no' it's e.g. 5% (maybe)
-- - * ** ? ! note: Re: a/b x=y @bob #tag $5 3,000 status:500 q&a
"""
WORD = st.one_of(st.sampled_from(ODD.split()), st.text("abcdefghij", min_size=1, max_size=8))
HAN = st.one_of(
    st.sampled_from(
        ["我们", "“好”", "「茶」", "：", "，", "《书》", "昨天", "10:30", "部署*", "——", "-"]
    ),
    st.text("数据库部署失败茶喝的了吗", min_size=1, max_size=6),
)
SENTENCES = st.one_of(
    st.builds(
        lambda words, end: " ".join(words) + end,
        st.lists(WORD, min_size=1, max_size=12),
        st.sampled_from(["", "?", ".", "!", "…", '."']),
    ),
    st.builds(
        lambda words, end: "".join(words) + end,
        st.lists(HAN, min_size=1, max_size=12),
        st.sampled_from(["", "？", "。", "！", "。”"]),
    ),
)


@given(SENTENCES)
def test_no_sentence_is_refused(line: str) -> None:
    query = parse(line, NOW)
    assert all(not getattr(query, name.replace("-", "_")) for name in FIELDS)
    if line.endswith(("?", "？", "。", "!")):
        assert query == Query(text=" ".join(line.split()))


@given(st.text(max_size=60))
def test_only_fields_can_be_wrong(line: str) -> None:
    try:
        query = parse(line, NOW)
    except UsageError as error:
        assert any(f"{name}:" in line for name in FIELDS)
        assert "\n" not in str(error)
    else:
        assert set("".join(query.text.split())) <= set(line)


@pytest.mark.parametrize(
    ("day", "moment"),
    [
        (date(2026, 2, 3), at("2026-02-04") - timedelta.resolution),
        ("2026-02-03", at("2026-02-04") - timedelta.resolution),
        ("2026-01", at("2026-02-01") - timedelta.resolution),
        ("昨天", at("2026-02-27") - timedelta.resolution),
        ("2026-02-03T09:30", datetime(2026, 2, 3, 9, 30, tzinfo=UTC)),
        (
            datetime(2026, 2, 3, 9, 30, tzinfo=UTC).replace(tzinfo=None),
            datetime(2026, 2, 3, 9, 30, tzinfo=UTC),
        ),
        (
            datetime(2026, 2, 3, 9, 30, tzinfo=timezone(timedelta(hours=8))),
            datetime(2026, 2, 3, 1, 30, tzinfo=UTC),
        ),
    ],
    ids=str,
)
def test_a_day_looked_back_to_counts_to_its_end(
    day: datetime | date | str, moment: datetime
) -> None:
    assert looking_back(day, NOW) == moment


def test_no_date_to_look_back_to_is_named() -> None:
    with pytest.raises(UsageError, match="valid_at: 'someday' is no date"):
        looking_back("someday", NOW)
