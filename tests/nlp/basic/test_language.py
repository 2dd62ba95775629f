"""Chinese or English, in mixed text."""

import pytest

from kimi_memory.nlp.basic.language import language_of


@pytest.mark.parametrize(
    "text",
    [
        "我们周五部署",
        "我们用 Kubernetes 部署 API Gateway",
        "把 src/main.py 里的 get_user_by_id 改成 async",
        "用 PostgreSQL 不用 MySQL，因为 JSONB 好用",
        "好的",
        "資料庫連線失敗",
        "`kubectl get pods` 报错",
        "看 https://example.com/a/very/long/path/with/words 这个链接",
        "部署前先跑 pytest -n 2，再看 Grafana Dashboard 和 Sentry Alerts",
    ],
)
def test_chinese_with_english_names_is_chinese(text: str) -> None:
    assert language_of(text) == "zh"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1234 !!",
        "Deploy on Fridays",
        "I met 王小明 in Beijing yesterday",
        "Please translate 我喜欢你 into English",
        "The word 部署 means deploy",
        "print('hello')",
    ],
)
def test_english_that_quotes_chinese_is_english(text: str) -> None:
    assert language_of(text) == "en"


@pytest.mark.parametrize("tail", ["…", "。", " ⟦cut: 7 bytes⟧"])
def test_a_word_without_an_end_takes_no_time(tail: str) -> None:
    assert language_of("x" * 300_000 + tail) == "en"
    assert language_of("a-" * 150_000 + "://" + tail) == "en"
