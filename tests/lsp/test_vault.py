"""What the files of a memory name, while they change."""

from __future__ import annotations

from pathlib import Path

from kimi_memory.lsp.vault import Vault

CARD = """---
id: card-0001
kind: card
key: deploy.port
status: active
sources:
  - session:s1#2 supports 8695bc274b0f
---

# 端口 8080

见 [[小灶]]
"""


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def test_files_are_known_by_id_key_name_and_what_they_name(tmp_path: Path) -> None:
    write(tmp_path, "semantic/a/deploy.port.md", CARD)
    write(tmp_path, "semantic/小灶.md", "# 小灶\n\n- x ^card-0001\n")
    write(tmp_path, ".kimi/hidden.md", CARD)
    vault = Vault(tmp_path)
    assert not vault.filled.is_set()
    vault.fill()
    assert vault.filled.is_set()
    assert vault.path_of("card-0001") == "semantic/a/deploy.port.md"
    assert vault.naming("card-0001") == ["semantic/小灶.md"]
    assert vault.naming("session:s1#2") == vault.naming("小灶") == ["semantic/a/deploy.port.md"]
    assert vault.names_of("semantic/小灶.md") == {"semantic/小灶", "semantic/小灶.md", "小灶"}
    [page] = vault.search("端口", 5)
    assert (page.path, page.title) == ("semantic/a/deploy.port.md", "端口 8080")
    assert vault.keys("port", 5) == ["deploy.port"]


def test_a_search_asks_path_title_and_key_in_letters_of_any_size(tmp_path: Path) -> None:
    write(tmp_path, "semantic/a/Über.md", CARD.replace("key: deploy.port", "key: note.HTTP"))
    write(tmp_path, "notes/b.md", "# The GATE\n")
    vault = Vault(tmp_path)
    vault.fill()
    for words, path in {"über": "semantic/a/Über.md", "http": "semantic/a/Über.md"}.items():
        assert [page.path for page in vault.search(words, 5)] == [path]
    assert [page.path for page in vault.search(" Gate ", 5)] == ["notes/b.md"]
    assert len(vault.search("", 1)) == 1
    # The end of a path and the beginning of a title are no word.
    assert vault.search("b.mdthe", 5) == []
    write(tmp_path, "notes/b.md", "# A door\n")
    vault.update(["notes/b.md"])
    assert vault.search("gate", 5) == []
    assert [page.path for page in vault.search("door", 5)] == ["notes/b.md"]


def test_a_name_that_two_files_have_leads_nowhere(tmp_path: Path) -> None:
    write(tmp_path, "semantic/小灶.md", "# a\n")
    write(tmp_path, "mid-term/projects/小灶.md", "# b\n")
    vault = Vault(tmp_path)
    vault.fill()
    assert vault.resolve("小灶") == ""
    assert vault.resolve("mid-term/projects/小灶") == "mid-term/projects/小灶.md"
    (tmp_path / "semantic/小灶.md").unlink()
    vault.update(["semantic/小灶.md"])
    assert vault.resolve("小灶") == "mid-term/projects/小灶.md"


def test_a_file_that_moves_changes_or_goes_is_followed(tmp_path: Path) -> None:
    write(tmp_path, "semantic/a.md", CARD)
    vault = Vault(tmp_path)
    vault.fill()
    (tmp_path / "semantic/a.md").rename(tmp_path / "semantic/b.md")
    vault.fill()
    assert vault.path_of("card-0001") == "semantic/b.md"
    write(tmp_path, "semantic/b.md", CARD.replace("deploy.port", "release.port") + "more\n")
    vault.update(["semantic/b.md"])
    assert vault.keys("port", 5) == ["release.port"]
    (tmp_path / "semantic/b.md").unlink()
    vault.fill()
    assert vault.path_of("card-0001") == "" and vault.naming("session:s1#2") == []
