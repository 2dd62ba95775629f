"""What is a credential, and what only stands where one could."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules import credentials


@pytest.mark.parametrize("value", ["Kx7#mPq2", "7413", "tr0ub4dor", "qW9!rt", "88886666"])
def test_a_password_is_a_password(value: str) -> None:
    assert credentials.is_password(value, 0, len(value))


@pytest.mark.parametrize(
    "value",
    [
        "incorrect",
        "${DB_PASS}",
        "!vault",
        "os.environ[X]",
        "sha256",
        "OAuth2",
        "bcrypt",
        "1password",
        "/run/secrets/db",
        "changed",
        "*****",
        "<your-password>",
    ],
)
def test_words_placeholders_code_and_methods_are_none(value: str) -> None:
    assert not credentials.is_password(value, 0, len(value))


@pytest.mark.parametrize("text", ["8-16 characters", "1024 bits", "12 位以上", "90天换一次"])
def test_a_number_of_things_is_no_password(text: str) -> None:
    end = next(place for place, sign in enumerate(text) if sign not in "0123456789-")
    assert not credentials.is_password(text, 0, end)


@pytest.mark.parametrize("value", ["500GB", "2.5x", "12%", "HTTP", "v1.2.3", "100k"])
def test_a_quantity_is_not_strong(value: str) -> None:
    assert not credentials.is_strong(value, 0, len(value))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("birch lagoon grove dune", True),
        ("birch-lagoon-grove-dune", True),
        ("easier to remember than digits", False),
        ("birch lagoon grove", True),
        ("birch lagoon", False),
        ("ask somebody else", False),
    ],
)
def test_drawn_words_are_told_from_a_sentence(words: str, expected: bool) -> None:
    assert credentials.is_phrase(words, 0, len(words)) is expected


def test_a_constant_is_a_name_and_not_a_value() -> None:
    assert not credentials.is_value("= SLACK_WEBHOOK_URL_2", 2, 21)
    assert credentials.is_value("= k7Qz-19xa-22pl", 2, 16)
