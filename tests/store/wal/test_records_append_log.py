"""Appended lines: torn ends are cut off, whole lines are found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kimi_memory.domain.job import (
    Actor,
    Append,
)
from kimi_memory.errors import (
    DiskError,
    StoreError,
)
from kimi_memory.formats.jsonl import seal
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.store import Store

KEY = b"a key of this machine"
LINE = seal({"n": 1, "text": "你好"})


LINE2 = seal({"n": 2, "text": "hello"})


@pytest.mark.parametrize("lines", [(b"x",), (b"x\ny\n",), (b"",)])
def test_lines_are_whole(lines: tuple[bytes, ...], store: Store, actor: Actor) -> None:
    with pytest.raises(StoreError, match="ends in a newline"):
        store.append("short-term/s.jsonl", lines, actor)
    with pytest.raises(StoreError, match="ends in a newline"):
        store.apply([Append("short-term/s.jsonl", lines)], actor)


def test_turns_are_appended(store: Store, actor: Actor) -> None:
    store.append("short-term/s.jsonl", [LINE], actor)
    store.append("short-term/s.jsonl", [LINE2, LINE], actor)
    assert store.read("short-term/s.jsonl") == LINE + LINE2 + LINE
    after = store.journal.known()["short-term/s.jsonl"]
    assert after == f"{LINE[-15:-3].decode()}@{len(LINE + LINE2 + LINE)}"


def test_a_torn_turn_is_cut_off_into_lost_and_found(
    store: Store, folder: Path, actor: Actor
) -> None:
    path = folder / "short-term/s.jsonl"
    for how in ("append", "apply", "open"):
        shutil.rmtree(folder / "short-term", ignore_errors=True)
        shutil.rmtree(folder / ".kimi/lost+found")
        store.append("short-term/s.jsonl", [LINE], actor)
        path.write_bytes(LINE + LINE2[:-5])
        if how == "append":
            store.append("short-term/s.jsonl", [LINE2], actor)
        elif how == "apply":
            store.apply([Append("short-term/s.jsonl", (LINE2,))], actor)
        else:
            Store.open(folder, key=KEY).close()
        assert path.read_bytes() == (LINE if how == "open" else LINE + LINE2)
        (lost,) = (folder / ".kimi/lost+found").iterdir()
        assert lost.read_bytes() == LINE2[:-5]


def test_a_persons_last_line_is_not_torn(store: Store, folder: Path, actor: Actor) -> None:
    cases = {
        "short-term/s.jsonl": LINE.rstrip(),
        "short-term/t.jsonl": b'{"by":"hand"}',
        "日记.md": "没有换行".encode(),
    }
    (folder / "short-term").mkdir()
    for path, content in cases.items():
        (folder / path).write_bytes(content)
        store.append(path, [LINE2], actor)
        assert store.read(path) == content + b"\n" + LINE2
        (folder / path).write_bytes(content)
        store.apply([Append(path, (LINE2,))], actor)
        assert store.read(path) == content + b"\n" + LINE2
    assert list((folder / ".kimi/lost+found").iterdir()) == []


def test_the_same_torn_bytes_are_lost_once(store: Store, folder: Path, actor: Actor) -> None:
    for _ in range(2):
        shutil.rmtree(folder / "short-term", ignore_errors=True)
        (folder / "short-term").mkdir()
        (folder / "short-term/s.jsonl").write_bytes(b"torn" * 4000)
        store.append("short-term/s.jsonl", [LINE], actor)
        assert store.read("short-term/s.jsonl") == LINE
    assert len(list((folder / ".kimi/lost+found").iterdir())) == 1


def test_long_lines_are_found_from_the_end(store: Store, actor: Actor) -> None:
    long = seal({"text": "长" * 20_000})
    store.append("short-term/s.jsonl", [LINE, long], actor)
    store.append("short-term/s.jsonl", [LINE2], actor)
    assert store.read("short-term/s.jsonl") == LINE + long + LINE2


def test_a_log_whose_end_cannot_be_read_is_left_alone(folder: Path, actor: Actor) -> None:
    class Unreadable(Disk):
        broken = False

        def perform(self, name, call, *args, **kwargs):
            if self.broken and name == "read":
                raise OSError(5, "Input/output error")
            return super().perform(name, call, *args, **kwargs)

    disk = Unreadable()
    with Store.open(folder, key=KEY, disk=disk) as store:
        store.append("short-term/s.jsonl", [LINE], actor)
        disk.broken = True
        with pytest.raises(DiskError):
            store.append("short-term/s.jsonl", [LINE2], actor)
        disk.broken = False
        assert store.read("short-term/s.jsonl") == LINE
        store.append("short-term/s.jsonl", [LINE2], actor)
        assert store.read("short-term/s.jsonl") == LINE + LINE2
