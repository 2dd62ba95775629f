"""A session that goes on: each turn is found at once, and costs what a turn costs."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path

from folders import NOW, Folder
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_memory.domain.note import Role
from kimi_memory.domain.session import Session, Turn
from kimi_memory.formats.jsonl import session_line, state_line, turn_line
from kimi_memory.index import build, sync
from kimi_memory.index import index as indexing

PATH = "short-term/session_long.jsonl"
HEADER = session_line(Session(id="long", started=NOW))
WORDS = ("heron", "部署", "capybara", "端口", "Tuesday")


def said(n: int, text: str) -> bytes:
    return turn_line(Turn(n=n, at=NOW + timedelta(minutes=n), role=Role.USER, text=text))


def turn(n: int) -> bytes:
    return said(n, f"{WORDS[n % len(WORDS)]} number {n} 第 {n} 条")


ACTS = st.lists(
    st.sampled_from(
        ("turn", "two", "state", "edit", "cut", "torn", "return", "header", "other", "write")
    ),
    min_size=1,
    max_size=14,
)


def change(act: str, lines: list[bytes], folder: Folder) -> None:
    """Do to the lines of the session what a program or a person might."""
    n = sum(line.startswith(b'{"kind":"turn"') for line in lines) + 1
    if act in {"turn", "two", "return"}:
        end = {"return": b"\r\r\n"}.get(act, b"\n")
        lines += [turn(n + more).replace(b"\n", end) for more in range(1 + (act == "two"))]
    elif act == "state":
        lines.append(state_line({"goal": "x"}, {}))
    elif act == "edit" and n > 1:
        at = next(i for i, line in enumerate(lines) if line.startswith(b'{"kind":"turn"'))
        lines[at] = said(1, "edited heron")
    elif act == "cut" and n > 2:
        lines.pop()
    elif act == "torn":
        lines.append(turn(n)[:20])
    elif act == "header":
        lines[0] = session_line(Session(id="long", started=NOW, project="atlas"))
    elif act == "other":
        folder.session("other", [("user", f"heron {n}")])


@settings(max_examples=40)
@given(ACTS)
def test_however_it_grows_the_view_is_that_of_the_files(acts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder, lines = Folder(Path(root)), [HEADER]
        folder.session("other", [("user", "A heron stands still.")])
        index = folder.index()
        try:
            for act in acts:
                change(act, lines, folder)
                folder.write(PATH, b"".join(lines))
                if lines[-1].endswith(b"\n"):
                    assert index.verify() == []
                else:
                    lines.pop()
                if act == "write":
                    index.refresh()
                assert _units(index) == _units(folder.index())
        finally:
            index.close()
            folder.store.close()


def _units(index):
    searcher = index.searcher()
    return {unit.id: unit for unit in searcher.units(searcher.living()).values()}


def test_a_long_session_is_not_written_to_the_index_at_every_turn(folder: Folder) -> None:
    count = 2 * indexing.FLUSH_UNITS
    lines = [HEADER, *(turn(n) for n in range(1, count + 1))]
    folder.write(PATH, b"".join(lines))
    index = folder.index()
    index.refresh()
    name = index.status().generation
    for n in range(count + 1, count + 30):
        lines.append(said(n, f"zebra{n} on the road"))
        folder.write(PATH, b"".join(lines))
        (hit,) = folder.ask(f"zebra{n}", index, limit=1).hits
        assert (hit.unit.n, hit.unit.first, hit.unit.last) == (n, n + 1, n + 1)
    assert index.status().generation == name
    assert index.status().pending == 29
    lines += [turn(n) for n in range(count + 30, count + 31 + indexing.FLUSH_UNITS)]
    folder.write(PATH, b"".join(lines))
    index.searcher()
    assert index.status().generation != name
    assert index.status().pending == 0


def test_only_what_a_session_gained_is_parsed(folder: Folder, monkeypatch) -> None:
    parsed = []
    whole = sync.guard

    def counting(path, content, split):
        parsed.append(content.count(b"\n"))
        return whole(path, content, split)

    monkeypatch.setattr(sync, "guard", counting)
    lines = [HEADER, *(turn(n) for n in range(1, 101))]
    index = folder.index()
    for n in range(101, 104):
        lines.append(turn(n))
        folder.write(PATH, b"".join(lines))
        index.searcher()
    assert parsed == [102, 2, 2]


def test_after_a_large_build_the_folder_is_looked_at_anew(folder: Folder, monkeypatch) -> None:
    rested = []
    rest = sync.Sync.rest

    def counting(self):
        rest(self)
        rested.append(len(self.stats))

    monkeypatch.setattr(build, "BATCH_UNITS", 4)
    monkeypatch.setattr(sync.Sync, "rest", counting)
    folder.write(PATH, b"".join([HEADER, *(turn(n) for n in range(1, 9))]))
    folder.session("other", [("user", "A heron stands still.")])
    index = folder.index()
    index.refresh(full=True)
    assert rested == [0]
    assert _units(index) == _units(folder.index())
    folder.session("more", [("user", "An osprey dives.")])
    (folder.root / PATH).unlink()
    assert _units(index) == _units(folder.index())
    assert len(_units(index)) == 2
