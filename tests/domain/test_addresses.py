"""Addresses of this machine."""

from __future__ import annotations

import pytest

from kimi_memory.domain.addresses import is_local_url, is_loopback


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:11434", True),
        ("localhost:11434", True),
        ("http://[::1]:11434", True),
        ("https://example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("192.168.1.5", False),
    ],
)
def test_a_url_of_this_machine_is_told_from_others(url: str, local: bool) -> None:
    assert is_local_url(url) is local


def test_an_address_of_this_machine_needs_no_brackets() -> None:
    assert is_loopback("::1") and is_loopback("localhost") and not is_loopback("example.com")
