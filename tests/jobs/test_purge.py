"""Purging: afterwards no byte of the folder holds the text, and the rest lives on."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.health import Severity
from kimi_memory.domain.note import Lang, Role
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import GateError, HistoryError, NotFoundError, ReadOnlyError, UsageError
from kimi_memory.formats.page_lines import is_generated
from kimi_memory.formats.session_page import transcript_markdown
from kimi_memory.hooks.host import Host
from kimi_memory.operations import forget as forgetting
from kimi_memory.operations.doctor import doctor
from kimi_memory.operations.forget import Doomed, forget, purge
from kimi_memory.store.git.rewrite import Rewrite
from kimi_memory.store.notes import sessions
from tests.jobs.test_runner import tree

ZH, EN = "蓝鲸七号码头", 'Violet-Harbor "7741"'
CANARIES = (ZH, EN)


def git(root: Path, *words: str, feed: bytes = b"") -> bytes:
    done = subprocess.run(["git", "-C", root, *words], input=feed, capture_output=True, check=True)
    return done.stdout


def every_byte(root: Path) -> Iterator[tuple[str, bytes]]:
    """Read everything below a folder without any code of ours; loose objects decompressed."""
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        yield f"name {name}", name.encode()
        if path.is_file():
            raw = path.read_bytes()
            yield name, raw
            if ".git/objects" in name:
                with contextlib.suppress(zlib.error):
                    yield f"inflated {name}", zlib.decompress(raw)
    if (root / ".git").exists():
        yield "objects", git(root, "cat-file", "--batch-all-objects", "--batch")


def traces(root: Path, text: str) -> list[str]:
    escaped = text.encode("unicode_escape").replace(b'"', rb"\"")
    slug = "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())
    forms = {text, text.lower(), text.upper(), text.replace('"', '\\"'), slug}
    wanted = {form.lower().encode() for form in forms} | {escaped.lower()}
    return [
        name
        for name, content in every_byte(root)
        if any(form in content.lower() for form in wanted)
    ]


def live(memory: Memory) -> None:
    """Let the canaries go everywhere a text can go."""
    session = memory.session("s", project="菜谱", title=f"关于{ZH}")
    session.turn(Role.USER, f"数据库我们决定用 {ZH}，因为免费额度够用。")
    session.turn(Role.ASSISTANT, "好的。")
    session.turn(Role.USER, f"We decided to use {EN} for the boat because it is easy.")
    session.turn(Role.USER, f"规矩：周五不要去{ZH}。")
    session.state(task={"name": f"open {EN}"}, variables={"where": ZH})
    session.end()
    other = memory.session("t", project="菜谱")
    other.turn(Role.USER, "规矩：周五不要发版。")
    other.turn(Role.ASSISTANT, "好的。")
    other.end()
    memory.remember(f"The berth is {EN}.")
    memory.remember("My dentist is Doctor Abernathy in Oslo.", key="health.dentist")
    memory.consolidate("daily")
    memory.consolidate("weekly")
    for text in CANARIES:
        memory.recall(text)
        memory.context("task", text)
    memory.index.refresh()
    memory.undo(forget(memory, Wanted(session="s", why=ZH)).id)
    first = memory.remember(f"{ZH}开门时间是九点。")
    forget(memory, Wanted(note=first.operations[0].target))
    (memory.root / f"{ZH}.md").write_text(f"# 我的页\n\n{EN}\n", encoding="utf-8")
    (memory.root / ".kimi" / "lost+found" / "torn").write_text(f'{{"text":"{ZH}', encoding="utf-8")
    memory.store.reconcile()
    memory.history.commit(f"A note on {ZH}", trailers={"Kind": "note"})
    talking = memory.session("open")
    talking.turn(Role.USER, f"明天再谈{ZH}。")
    talking.turn(Role.ASSISTANT, "Fine.")


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Opening]:
    """A memory the canaries have been through, and how to open it or a copy of it."""
    base = tmp_path_factory.mktemp("grown")
    home = Home(base / "config", base / "state")
    now = datetime(2026, 2, 27, 9, 0, tzinfo=UTC)
    host = Host(entry_points=False)
    opening = Opening(home=home, clock=lambda: now, host=host, background=False)
    with Memory.create(base / "memory", opening=opening) as memory:
        live(memory)
    for text in CANARIES:
        assert len(traces(base / "memory", text)) > 10, "a canary that is nowhere proves nothing"
    return base / "memory", opening


@pytest.fixture
def opened(grown: tuple[Path, Opening]) -> Opening:
    return grown[1]


@pytest.fixture
def lived(tmp_path: Path, grown: tuple[Path, Opening]) -> Iterator[Memory]:
    shutil.copytree(grown[0], tmp_path / "lived", symlinks=True)
    with Memory.open(tmp_path / "lived", grown[1]) as memory:
        yield memory


def test_no_byte_of_the_folder_holds_a_purged_text(lived: Memory) -> None:
    commits = len(lived.history.log(limit=1000))
    later = lived.remember("The boat leaves at nine from pier four.", key="boat.time")
    preview = purge(lived, Doomed(CANARIES))
    assert preview.files and preview.objects and preview.commits and not preview.done
    report = purge(lived, Doomed(CANARIES), yes=True)
    assert report.done
    for text in CANARIES:
        assert traces(lived.root, text) == []
    # Everything else lives on.
    assert len(lived.history.log(limit=1000)) >= commits
    assert lived.history.find("Job", later.id)
    hits = lived.recall("Abernathy dentist", limit=20).hits
    card = next(hit.unit.id for hit in hits if hit.unit.kind == "card")
    trace = lived.trace(card)
    assert [evidence.verified for evidence in trace.evidence] == [True]
    assert trace.commits
    assert [f for f in doctor(lived) if f.severity is Severity.ERROR] == []
    for place in sessions.places(lived.store):
        assert sessions.chain_problems(lived.store, place.path) == []
    assert is_generated(lived.store.read("MEMORY.md").decode())
    assert lived.undo(later.id).id == later.id
    # A session that was open goes on.
    lived.session("open").turn(Role.USER, "And on we go.")
    place = sessions.find(lived.store, "open")
    assert sessions.chain_problems(lived.store, place.path) == []
    assert lived.store.reconcile() == []


def test_a_purge_is_one_receipt_and_no_undo(lived: Memory) -> None:
    report = purge(lived, Doomed((ZH,)), yes=True)
    commit = lived.history.log(limit=1)[0]
    assert (commit.trailers["Job"], commit.subject) == (report.id, "purge: 1 text")
    job = lived.jobs.load(report.id)
    assert job.kind == "purge"
    before = tree(lived.root)
    with pytest.raises((GateError, HistoryError)):
        lived.undo(report.id)
    assert tree(lived.root) == before
    with pytest.raises((GateError, HistoryError), match=r"changed since|git does not hold"):
        lived.undo(next(c.trailers["Job"] for c in lived.history.log() if c.subject == "distil: s"))


def test_a_second_purge_finds_nothing(lived: Memory) -> None:
    purge(lived, Doomed(CANARIES), yes=True)
    head, before = lived.history.head(), tree(lived.root)
    again = purge(lived, Doomed(CANARIES), yes=True)
    assert again.empty and not again.done
    assert (lived.history.head(), tree(lived.root)) == (head, before)


def test_what_was_purged_does_not_come_back(lived: Memory) -> None:
    purge(lived, Doomed(CANARIES), yes=True)
    for id in lived.waiting():
        lived.distil(id)
    lived.consolidate("daily")
    assert traces(lived.root, ZH) == []
    cards = [lived.store.read(p).decode() for p in lived.store.files("semantic")]
    assert not [text for text in cards if "⟦purged⟧" in text]
    again = lived.remember(EN)
    assert not again.operations


def test_readable_pages_fit_their_transcripts(lived: Memory) -> None:
    purge(lived, Doomed(CANARIES), yes=True)
    for place in sessions.places(lived.store):
        if not place.open:
            transcript = sessions.read(lived.store, place.path)
            page = lived.store.read(place.path.removesuffix("jsonl") + "md").decode()
            assert page in {transcript_markdown(transcript, lang) for lang in Lang}


def test_every_word_of_a_purged_session_goes(lived: Memory) -> None:
    spoken = [
        turn.text for turn in sessions.read(lived.store, sessions.find(lived.store, "s").path).turns
    ]
    purge(lived, Doomed(sessions=("s",)), yes=True)
    for text in spoken:
        if len(text) > 8:
            assert traces(lived.root, text) == []
    turns = sessions.read(lived.store, sessions.find(lived.store, "s").path).turns
    assert {turn.text for turn in turns} == {"⟦purged⟧"}
    assert "Abernathy" in lived.recall("Abernathy").hits[0].snippet
    assert [f for f in doctor(lived) if f.severity is Severity.ERROR] == []


def test_a_persons_staged_work_and_stashes_stay(lived: Memory) -> None:
    root = lived.root
    page = root / "USER.md"
    text = page.read_text(encoding="utf-8")
    for n in range(2):
        page.write_text(f"{text}\nstash {n} {ZH}\n", encoding="utf-8")
        git(root, "-c", "user.name=p", "-c", "user.email=p@x", "stash", "-q")
    page.write_text(f"{text}\nstaged {ZH}\n", encoding="utf-8")
    git(root, "add", "USER.md")
    page.write_text(f"{text}\nonly on disk\n", encoding="utf-8")
    purge(lived, Doomed((ZH,)), yes=True)
    assert traces(root, ZH) == []
    assert "staged ⟦purged⟧" in git(root, "show", ":USER.md").decode()
    assert "only on disk" in page.read_text(encoding="utf-8")
    assert "stash 1 ⟦purged⟧" in git(root, "show", "stash@{0}:USER.md").decode()
    assert "stash 0 ⟦purged⟧" in git(root, "show", "stash@{1}:USER.md").decode()


class Killed(BaseException):
    """Nothing of the project catches it, as nothing catches a kill."""


@pytest.mark.parametrize(
    "step",
    [
        *(
            pytest.param(step, marks=pytest.mark.faults)
            for step in ("_make_repository", "_import_history", "_commit_purge")
        ),
        "_swap_repositories",
        "_clear_private",
    ],
)
def test_an_interrupted_purge_can_be_run_again(
    lived: Memory, opened: Opening, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def killed(*_: object) -> None:
        raise Killed

    owner = Rewrite if hasattr(Rewrite, step) else forgetting._Purge
    with monkeypatch.context() as patch:
        patch.setattr(owner, step, killed)
        with pytest.raises(Killed):
            purge(lived, Doomed(CANARIES), yes=True)
    with Memory.open(lived.root, opened) as again:
        assert again.history.log(limit=1)
        assert again.recall("Abernathy").hits
        purge(again, Doomed(CANARIES), yes=True)
        assert [c.trailers["Kind"] for c in again.history.log(limit=1)] == ["purge"]
    for text in CANARIES:
        assert traces(lived.root, text) == []
    assert not (lived.root / ".kimi" / "purge").exists()


@pytest.mark.parametrize("text", ["", "ab", " 的 ", "a b", "…………"])
def test_a_text_that_is_too_short_is_refused(memory: Memory, text: str) -> None:
    with pytest.raises(UsageError, match="too short"):
        purge(memory, Doomed((text,)), yes=True)


def test_what_is_not_found_changes_nothing(memory: Memory) -> None:
    before, head = tree(memory.root), memory.history.head()
    report = purge(memory, Doomed(("nowhere to be seen",)), yes=True)
    assert report.empty and not report.done
    assert (tree(memory.root), memory.history.head()) == (before, head)
    with pytest.raises(NotFoundError):
        purge(memory, Doomed(sessions=("none",)))
    with pytest.raises(UsageError):
        purge(memory, Doomed())


def test_a_text_that_dates_are_made_of_is_refused(lived: Memory) -> None:
    before = tree(lived.root)
    with pytest.raises(UsageError, match="dates or ids"):
        purge(lived, Doomed(("2026",)), yes=True)
    assert tree(lived.root) == before


def test_a_preview_writes_no_byte(lived: Memory) -> None:
    before, head = tree(lived.root), lived.history.head()
    report = purge(lived, Doomed((ZH,)))
    assert any(ZH in path for path in report.files)
    assert (tree(lived.root), lived.history.head()) == (before, head)


def test_without_history_files_are_purged(lived: Memory, opened: Opening) -> None:
    toml = lived.root / "memory.toml"
    toml.write_text(toml.read_text(encoding="utf-8") + "[history]\ngit = false\n", encoding="utf-8")
    shutil.rmtree(lived.root / ".git")
    with Memory.open(lived.root, opened) as plain:
        assert purge(plain, Doomed(CANARIES), yes=True).done
    for text in CANARIES:
        assert traces(lived.root, text) == []


def test_without_git_a_history_is_not_touched(lived: Memory, monkeypatch, tmp_path: Path) -> None:
    before = tree(lived.root)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HistoryError, match="git is not installed"):
        purge(lived, Doomed((ZH,)), yes=True)
    assert tree(lived.root) == before


def test_a_read_only_memory_is_refused(memory: Memory) -> None:
    memory.store.read_only = "the disk is broken"
    with pytest.raises(ReadOnlyError):
        purge(memory, Doomed(("some text",)), yes=True)


def test_remotes_are_named(lived: Memory) -> None:
    git(lived.root, "remote", "add", "backup", "https://example.org/backup.git")
    assert purge(lived, Doomed((ZH,)), yes=True).remotes == ("backup",)
    assert git(lived.root, "remote").split() == [b"backup"]


def test_a_linked_worktree_is_refused_before_anything(lived: Memory, tmp_path: Path) -> None:
    git(lived.root, "worktree", "add", "-q", "--detach", str(tmp_path / "beside"))
    before = tree(lived.root)
    with pytest.raises(HistoryError, match="worktree"):
        purge(lived, Doomed((ZH,)), yes=True)
    assert tree(lived.root) == before
