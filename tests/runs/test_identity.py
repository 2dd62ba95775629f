"""Who a memory is: the files of a person are read, changed in place, and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.pages import IDENTITY_PATH
from kimi_memory.errors import FormatError, UsageError
from kimi_memory.runs.identity import Wanted, read_identity, write_identity

PAGE = """# 核心身份: 客服小王

## 我是谁

专业的技术支持助手

- 语气: 友好
- tone: friendly

## 我的使命

回答每个问题。

## 我的爱好

爬山
"""


def test_an_identity_of_a_person_is_read_and_changed_in_place(tmp_path: Path, home: Home) -> None:
    opening = Opening(home=home, background=False)
    with Memory.create(tmp_path / "m", name="小王", language="zh", opening=opening) as memory:
        (memory.root / IDENTITY_PATH).write_text(PAGE, encoding="utf-8")
        found = read_identity(memory)
        assert found.persona == {
            "role": "专业的技术支持助手", "mission": "回答每个问题。", "语气": "友好",
            "tone": "friendly",
        }  # fmt: skip
        assert (found.name, found.version, found.active) == ("小王", 1, True)
        wanted = Wanted(
            description="Support for shop", persona={"tone": "", "mission": "Solve it."},
            default_model="qwen3", default_skills=("python", "sql"),
        )  # fmt: skip
        write_identity(memory, wanted)
    with Memory.open(tmp_path / "m", opening) as memory:
        found = read_identity(memory)
        assert found.persona == {
            "role": "专业的技术支持助手", "mission": "Solve it.", "语气": "友好",
        }  # fmt: skip
        assert (found.description, found.default_model) == ("Support for shop", "qwen3")
        assert found.default_skills == ("python", "sql")
        page = (memory.root / IDENTITY_PATH).read_text(encoding="utf-8")
        assert "## 我的爱好\n\n爬山" in page


def test_a_secret_or_a_broken_page_is_refused(memory: Memory) -> None:
    before = (memory.root / IDENTITY_PATH).read_bytes()
    with pytest.raises(UsageError, match="secret"):
        write_identity(memory, Wanted(persona={"role": "sk-ant-api03-" + "a1B2" * 20}))
    assert (memory.root / IDENTITY_PATH).read_bytes() == before
    with pytest.raises(UsageError, match="several lines"):
        write_identity(memory, Wanted(name="a\nb"))
    (memory.root / IDENTITY_PATH).write_bytes(b"---\nid: [\n---\n# x\n")
    with pytest.raises(FormatError, match="IDENTITY"):
        read_identity(memory)
