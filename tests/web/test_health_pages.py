"""Health on a page: checks, programs, schedule, settings without their keys."""

from __future__ import annotations

import re

import pytest
from fakes.pages import Pages, Reader

from kimi_memory.web.health_pages import MASKED, _mask


def test_health_says_what_every_check_found(pages: Pages) -> None:
    assert "Every check passed" not in pages.read("/ui/health")
    checked = Reader(pages.read("/ui/health?check=1"))
    assert "Every check passed" in checked.said or [t for t, _ in checked.tags if t == "table"]


def test_health_shows_programs_schedule_and_settings(pages: Pages) -> None:
    said = " ".join(Reader(pages.read("/ui/health")).said.split())
    assert "None uses this memory yet" in said
    assert "– claude" in said
    assert re.search(r"Daily ?03:15", said)
    assert "context_tokens" in said


def test_keys_of_the_user_are_masked(fresh: Pages) -> None:
    fresh.home.config.mkdir(exist_ok=True)
    (fresh.home.config / "config.toml").write_text(
        '[plugins.ollama]\nurl = "http://lin:hunter22@box.test:1/v1?token=abc"\nmodel = "m"\n',
        "utf-8",
    )
    said = fresh.read("/ui/health")
    assert "hunter22" not in said
    assert "abc" not in said
    assert "box.test:1" in said


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("api_key", "sk-1234", MASKED),
        ("context_tokens", 900, "900"),
        ("key", "", ""),
        ("headers", {"Authorization": "Bearer x", "accept": "json"}, None),
        ("url", "https://u:p@h.test/v1", f"https://{MASKED}@h.test/v1"),
        ("url", "https://[broken/v1", MASKED),
        ("stop", ["a", "b"], "a, b"),
    ],
)
def test_what_may_be_a_key_is_masked(name: str, value: object, shown: str | None) -> None:
    found = _mask(name, value)
    assert found == shown if shown is not None else "Bearer" not in found


def test_mending_is_asked_for_by_name(fresh: Pages) -> None:
    fresh.read("/ui/")
    assert fresh.post("/ui/health", {"do": "all"}).status_code == 400
    mended = fresh.post("/ui/health", {"do": "fix"})
    assert mended.status_code == 200
