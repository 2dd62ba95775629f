"""What a statement names as what it needs or as its cause, in both languages."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.relations import Says, names_in, phrases_of, relations_asked, share_meant

NEEDS = (
    ("The release depends on the signing key being renewed.", "signing key"),
    ("Checkout relies on the currency service.", "currency service"),
    ("Our reports are built on the nightly export.", "nightly export"),
    ("The mobile app requires the v2 login endpoint.", "v2 login endpoint"),
    ("Onboarding needs the badge printer first.", "badge printer"),
    ("The importer only works with the new schema.", "new schema"),
    ("The choir's concert hinges on the hall being free.", "hall"),
    ("The forecast is based on the 2024 harvest figures.", "harvest figures"),
    ("网关的告警依赖短信通道。", "短信通道"),
    ("结算服务依赖于汇率接口。", "汇率接口"),
    ("旅行计划取决于签证下来的时间。", "签证"),
    ("推荐模型基于用户画像。", "用户画像"),
    ("上线前必须先完成压测。", "完成压测"),
    ("这个方案以旧数据迁移为前提。", "旧数据迁移"),
    ("搬家要先退掉老房子。", "退掉老房子"),
)
LEFT = (
    "The release no longer depends on the signing key.",
    "It doesn't rely on the currency service.",
    "Does checkout depend on the currency service?",
    "The report never requires a login.",
    "Ann is dependable.",
    "We like the new schema.",
    "告警不依赖短信通道。",
    "结算服务不再依赖于汇率接口。",
    "这依赖短信通道吗？",
    "他是个有基础的人。",
    "先生你好。",
)


@pytest.mark.parametrize(("text", "what"), NEEDS)
def test_what_a_statement_needs_is_named(text: str, what: str) -> None:
    found = [phrase.words for phrase in phrases_of(text) if phrase.says is Says.NEEDS]
    assert any(what in words for words in found)


@pytest.mark.parametrize("text", LEFT)
def test_what_is_denied_asked_or_only_sounds_so_names_nothing(text: str) -> None:
    assert [one for one in phrases_of(text) if one.says is Says.NEEDS] == []


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("The queue stalled because the disk was full.", "the disk was full"),
        ("我们换了供应商，因为交货总是晚。", "交货总是晚"),
    ],
)
def test_a_reason_is_a_cause(text: str, cause: str) -> None:
    assert [one.words for one in phrases_of(text) if one.says is Says.CAUSE] == [cause]


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("the signing key", "We renewed the signing key in March."),
        ("the Kafka cluster being up", "Kafka runs as a cluster and must be up."),
        ("短信通道", "短信通道由运营商提供。"),
        ("Telegram 消息通知机制", "Telegram 消息通知机制走 sendMessage。"),
    ],
)
def test_a_phrase_means_a_statement_that_holds_most_of_its_words(phrase: str, text: str) -> None:
    assert share_meant(phrase, text) >= 0.6


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("the signing key", "The key to the cellar hangs by the door."),
        ("it", "It rains."),
        ("the new login page", "The old page is slow."),
        ("短信通道", "邮件走另一条线路。"),
        ("", "Anything."),
    ],
)
def test_few_words_in_common_mean_nothing(phrase: str, text: str) -> None:
    assert share_meant(phrase, text) == 0.0


def test_names_are_identifiers_products_and_proper_names_without_days() -> None:
    assert names_in("以后改 Gateway 配置都要检查 plugins.allow。") == {"gateway", "plugins.allow"}
    assert names_in("On Monday we moved to PostgreSQL with Priya, and log4j went.") == {
        "postgresql",
        "priya",
        "log4j",
    }
    assert names_in("The build is slow today.") == frozenset()


@pytest.mark.parametrize(
    ("question", "rel"),
    [
        ("Why did the export stall?", "CAUSED_BY"),
        ("What caused the outage in March?", "CAUSED_BY"),
        ("What did the outage lead to?", "CAUSES"),
        ("上次为什么要换供应商", "CAUSED_BY"),
        ("是什么导致发票延误的？", "CAUSED_BY"),
        ("What does checkout depend on?", "DEPENDS_ON"),
        ("What is required for the release?", "DEPENDS_ON"),
        ("哪些服务依赖汇率接口？", "NEEDED_BY"),
        ("上线的前提是什么", "DEPENDS_ON"),
        ("What is related to the gateway?", "RELATES_TO"),
        ("和网关相关的有哪些", "RELATES_TO"),
        ("Do any of our rules contradict each other?", "CONTRADICTS"),
        ("这两条规定矛盾吗", "CONTRADICTS"),
    ],
)
def test_a_question_asks_for_relations(question: str, rel: str) -> None:
    assert rel in relations_asked(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ann live?",
        "Which database do we use?",
        "When is the release?",
        "Who likes tea?",
        "How many cats are there?",
        "数据库用的是哪个",
        "安娜住在哪里？",
        "发布会是几号",
        "谁喜欢喝茶",
        "一共有几只猫",
    ],
)
def test_most_questions_ask_for_none(question: str) -> None:
    assert relations_asked(question) == frozenset()
