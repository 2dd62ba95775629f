"""Health on a page: checks, programs, schedule, settings without their keys."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from fakes.pages import Pages, Reader

from kimi_memory.api.options import Home
from kimi_memory.errors import UsageError
from kimi_memory.operations.sealed_folders import close_sealed, create_sealed, open_sealed
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
        '[plugins.ollama]\nurl = "http://lin:hunter22@box.test:1/v1?token=gurke"\nmodel = "m"\n',
        "utf-8",
    )
    said = fresh.read("/ui/health")
    assert "hunter22" not in said
    assert "gurke" not in said
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


def test_health_says_that_a_memory_lies_in_no_sealed_folder(pages: Pages) -> None:
    assert "in no sealed folder that is open here" in Reader(pages.read("/ui/health")).said


@pytest.mark.skipif(
    not (shutil.which("gocryptfs") and shutil.which("fusermount3") and Path("/dev/fuse").exists()),
    reason="needs gocryptfs, fuse3 and /dev/fuse",
)
def test_health_names_the_sealed_folder_and_who_can_open_it(filled: Path, tmp_path: Path) -> None:
    pyrage = pytest.importorskip("pyrage", reason="needs the library of kimi-memory[encrypt]")
    mine = pyrage.x25519.Identity.generate()
    key, sealed, mount = tmp_path / "key", tmp_path / "the vault", tmp_path / "open"
    key.write_text(str(mine))
    create_sealed(sealed, [str(mine.to_public())])
    open_sealed(sealed, mount, key)
    try:
        shutil.copytree(filled, mount / "home")
        home = Home(tmp_path / "config", tmp_path / "state")
        with Pages(mount / "home" / "记忆", home) as inside:
            page = inside.read("/ui/health")
    finally:
        with suppress(UsageError):
            close_sealed(mount)
    assert str(sealed) in page and str(mine.to_public()) in page
    assert "in no sealed folder" not in page
