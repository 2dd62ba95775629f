"""Pages of the identity: read in both languages, with a head and without."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kimi_memory.domain.note import (
    Lang,
)
from kimi_memory.domain.pages import Identity
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec

AT = datetime(2026, 2, 27, 9, 10, tzinfo=UTC)


def test_the_documents_identity_is_read_in_english_and_chinese(doc):
    """
    ---
    id: identity-1
    kind: identity
    created: 2026-02-27
    ---
    # Core Identity: Kimi Claw

    Some words of a person.

    ## Who I Am
    An agent.

    With two paragraphs.

    ## 我相信什么
    - honesty
    1. 清晰

    ## My own section
    - kept, not read

    ## 我的成长
    Born in February.
    """
    identity = codec.parse(doc, "x.md")
    assert isinstance(identity, Identity)
    assert identity.name == "Kimi Claw"
    assert identity.who == "An agent.\n\nWith two paragraphs."
    assert identity.beliefs == ("honesty", "清晰")
    assert identity.growth == ("Born in February.",)
    assert identity.mission == ""


def test_the_page_of_the_identity_needs_no_head(doc):
    """
    # 核心身份: Kimi Claw

    ## 我是谁
    替林夏写后端的助手。

    ## 我的成长
    2026-02 第一次独立上线。
    """
    identity = codec.parse(doc, "long-term/IDENTITY.md")
    assert isinstance(identity, Identity)
    assert (identity.id, identity.name, identity.lang) == ("identity", "Kimi Claw", Lang.ZH)
    assert identity.growth == ("2026-02 第一次独立上线。",)
    grown = replace(identity, growth=(*identity.growth, "这一周：1 个决策"), updated=AT)
    text = codec.patch(doc, identity, grown, "long-term/IDENTITY.md")
    assert text.endswith(f"{doc.rstrip()}\n- 这一周：1 个决策\n")
    assert codec.parse(text, "long-term/IDENTITY.md") == grown
    with pytest.raises(FormatError):
        codec.parse(doc, "x.md")
