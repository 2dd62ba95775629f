"""Which paths a memory takes, and that no race leads out of it."""

from __future__ import annotations

import errno
import os
import threading
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.errors import UnsafePathError
from kimi_memory.store.files import paths

UP = ["..", "../x", "a/../b", "a/..", "a/../../etc/passwd", "....//x", "a//b", "/a", "a/", ""]
HIDDEN = [".git/config", ".kimi/x", "a/.b", ".x", "-rf", "a/-x", "./a", "a/./b", "..\\x"]
ODD = ["a\\b", "C:x", "c:\\x", "a:b", "a\0.md", "a\n.md", "a\x1b[2J", "a\x7f", "a\x85b", "\ud800"]
NAMES = ["con", "CON.md", "nul", "aux.txt", "com1", "LPT9.md", "COM¹", "prn .md", "CONIN$"]
LONG = ["x" * 256, "字" * 86, "a/" + "字" * 86]
FORMS = [unicodedata.normalize("NFD", "é.md"), "가".encode().decode() and "\u1100\u1161"]
ENDS = ["a.", "a ", "b/c. ", "a./b"]
HOSTILE = [*UP, *HIDDEN, *ODD, *NAMES, *LONG, *FORMS, *ENDS]
PLAIN = [
    "a",
    "a.md",
    "记忆/部署.md",
    "a b/c d.md",
    "x" * 255,
    "字" * 85,
    "2026-02-27.md",
    "é",
    "console.md",
]


@pytest.mark.parametrize("path", HOSTILE, ids=ascii)
def test_a_hostile_path_is_refused(path: str) -> None:
    assert not paths.is_plain(path)
    with pytest.raises(UnsafePathError):
        paths.check(path)


@pytest.mark.parametrize("path", PLAIN, ids=ascii)
def test_a_plain_path_is_taken_apart(path: str) -> None:
    assert paths.check(path) == tuple(path.split("/"))


@given(st.text(max_size=40))
def test_what_is_taken_stays_below(path: str) -> None:
    if paths.is_plain(path):
        assert os.path.normpath("/m/" + path) == "/m/" + path
        assert "\0" not in path


@pytest.mark.parametrize(
    "path",
    [
        ".git/x",
        "a/.obsidian/x",
        ".x",
        "short-term/session_1.json",
        "a.md~",
        "4913",
        ".#a",
        "a.swp",
        "#a#",
        "x.tmp",
        "a.md.tmp.1.2",
        "a.md.sb-1-x",
        "~$a.docx",
    ],
)
def test_what_passes_is_no_truth(path: str) -> None:
    assert not paths.is_truth(path)


@pytest.mark.parametrize(
    "path",
    [
        "a.md",
        "short-term/session_1.jsonl",
        "mid-term/jobs/x.json",
        "短期/a.json",
        "a.sync-conflict-20260101-1-X.md",
        "49131",
        "template.md",
    ],
)
def test_what_lasts_is_truth(path: str) -> None:
    assert paths.is_truth(path)


def test_names_meet_where_case_is_ignored() -> None:
    assert paths.fold("Straße.md") == paths.fold("STRASSE.MD")
    assert paths.fold(unicodedata.normalize("NFD", "É")) == paths.fold("é")
    assert paths.fold("部署") != paths.fold("部署2")


@pytest.fixture(params=["openat2", "walk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "walk":
        monkeypatch.setattr(paths, "beneath", None)
    elif paths.beneath is None:
        pytest.skip("this kernel has no openat2")
    return str(request.param)


def _open(root: Path, path: str) -> int:
    fd = os.open(root, os.O_RDONLY)
    try:
        return paths.open_folder(fd, path.split("/") if path else [])
    finally:
        os.close(fd)


@pytest.mark.usefixtures("way")
def test_folders_are_opened_without_following(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "out").symlink_to("/")
    for path in ("", "a", "a/b"):
        fd = _open(tmp_path, path)
        assert os.path.samestat(os.fstat(fd), (tmp_path / path).stat())
        os.close(fd)
    for path in ("link", "link/b", "out", "out/etc", "file", "file/x"):
        with pytest.raises(UnsafePathError):
            _open(tmp_path, path)
    with pytest.raises(FileNotFoundError):
        _open(tmp_path, "a/none/x")
    with pytest.raises(OSError, match="too long"):
        _open(tmp_path, "x" * 300)


@pytest.mark.parametrize("parts", [[".."], ["a/link"], ["a/../.."], ["link"]], ids=str)
def test_one_name_that_leads_out_is_not_opened(tmp_path: Path, parts: list[str]) -> None:
    (tmp_path / "m/a").mkdir(parents=True)
    (tmp_path / "m/a/link").symlink_to("/")
    (tmp_path / "m/link").symlink_to("a")
    fd = os.open(tmp_path / "m", os.O_RDONLY | os.O_DIRECTORY)
    try:
        with pytest.raises(UnsafePathError):
            paths.open_folder(fd, parts)
    finally:
        os.close(fd)


def test_an_old_kernel_is_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def old(root: int, path: str) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(paths, "beneath", old)
    (tmp_path / "a/b").mkdir(parents=True)
    for path in ("", "a", "a/b"):
        os.close(_open(tmp_path, path))


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("path", ["a", "a/b"])
def test_swapping_a_folder_for_a_link_leads_nowhere(tmp_path: Path, path: str) -> None:
    inside, outside = tmp_path / "m", tmp_path / "outside"
    for folder in (inside / "a/b", outside / "b"):
        folder.mkdir(parents=True)
    (inside / "evil").symlink_to(outside)
    for folder in (outside, outside / "b"):
        (folder / "secret").write_bytes(b"secret")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (inside / "a").rename(inside / "kept")
            (inside / "evil").rename(inside / "a")
            (inside / "a").rename(inside / "evil")
            (inside / "kept").rename(inside / "a")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        fates = {_reach(inside, path) for _ in range(4000)}
    finally:
        stop.set()
        thread.join()
    assert fates <= {"opened", "refused"}
    assert _reach(inside, path) == "opened", "nobody swaps any more"


def _reach(inside: Path, path: str) -> str:
    try:
        fd = _open(inside, path)
    except (FileNotFoundError, UnsafePathError):
        return "refused"
    found = os.listdir(fd)  # noqa: PTH208  an open folder, not a path
    os.close(fd)
    return "escaped" if "secret" in found else "opened"


def test_what_is_forgotten_of_names_is_found_anew():
    assert paths.is_kept("semantic/笔记.md")
    paths.forget()
    assert paths.is_kept.cache_info().currsize == 0
    assert paths.is_kept("semantic/笔记.md")
    assert not paths.is_kept("semantic/nul.md")
