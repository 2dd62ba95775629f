"""The sample memory: made from the sources, and a memory like any other."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.note import Origin, Quote
from kimi_memory.errors import UsageError
from kimi_memory.formats import codec
from kimi_memory.operations.doctor import verify
from kimi_memory.operations.memory_state import status

ROOT = Path(__file__).parent.parent
FAKES = ("Tr41lhead-fake", "Xz-fake-92", "FAKEfake", "900123", "13800001")
"""Parts of the secrets that the conversations hold."""


@pytest.fixture(scope="module")
def sample() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_sample", ROOT / "docs/sample.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copied(tmp_path: Path, opening: Opening) -> Path:
    """The sample as git hands it out: without empty folders."""
    for path in sorted((ROOT / "memory").rglob("*")):
        if path.is_file() and not any(part.startswith(".") for part in path.parts):
            target = tmp_path / "copied" / path.relative_to(ROOT / "memory")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return tmp_path / "copied"


def contents(folder: Path) -> dict[str, bytes]:
    """Every file that belongs to the sample; short-term is what a visitor leaves there."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".kimi" not in path.parts and "short-term" not in path.parts
    }


LONELY = """
import sys
from pathlib import Path

def listen(event, arguments):
    if event.startswith("socket.") and event != "socket.gethostname":
        raise RuntimeError(f"{event} {arguments}")

sys.addaudithook(listen)
from docs import sample
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home

folder, home = Path(sys.argv[1]), Path(sys.argv[2])
sample.write(folder)
with Memory.open(folder, Opening(home=Home(home, home))) as memory:
    print(memory.recall("数据库 database").hits[0].snippet)
    memory.index.refresh(full=True)
    print(memory.context("task", "数据库").text)
if "listening" in sys.argv:
    import socket
    socket.create_server(("127.0.0.1", 0))
"""
"""The life of a memory in a process that may not open a socket."""


def alone(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Make and ask the sample in another zone, locale and process, without sockets."""
    environ = os.environ | {"TZ": "Asia/Shanghai", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    environ |= {"PYTHONIOENCODING": "utf-8"}
    argv = [sys.executable, "-c", LONELY, str(folder), str(folder.with_name("home")), *more]
    return subprocess.run(
        argv, cwd=ROOT, env=environ, capture_output=True, text=True, encoding="utf-8", check=False
    )


def test_the_sample_is_what_the_sources_make_without_a_network(tmp_path: Path) -> None:
    ran = alone(tmp_path / "made")
    assert ran.returncode == 0, ran.stderr[-1000:]
    assert "SQLite" in ran.stdout
    made, kept = contents(tmp_path / "made"), contents(ROOT / "memory")
    assert sorted(made) == sorted(kept), "run python -m docs.sample"
    stale = [path for path in made if made[path] != kept[path]]
    assert not stale, "run python -m docs.sample"


def test_a_socket_would_be_noticed(tmp_path: Path) -> None:
    ran = alone(tmp_path / "made", "listening")
    assert ran.returncode == 1
    assert "RuntimeError: socket." in ran.stderr


def test_only_the_sample_is_replaced(sample: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "diary.md").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="not the sample"):
        sample.main(["--folder", str(tmp_path)])
    assert [path.name for path in tmp_path.iterdir()] == ["diary.md"]


def test_a_changed_sample_is_made_anew(sample: ModuleType, copied: Path) -> None:
    (copied / "USER.md").write_text("changed", encoding="utf-8")
    (copied / "more.md").write_text("more", encoding="utf-8")
    sample.main(["--folder", str(copied)])
    assert contents(copied) == contents(ROOT / "memory")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("我们最后决定用什么数据库？", "改用 SQLite"),
        ("What must never happen on a Friday?", "never deploy on Friday"),
        ("提交信息用什么语言写？", "提交信息一律用中文写"),
        ("Which editor do I use?", "Helix"),
    ],
    ids=["zh-database", "en-friday", "zh-commits", "en-editor"],
)
def test_the_sample_answers(copied: Path, opening: Opening, question: str, words: str) -> None:
    with Memory.open(copied, opening) as memory:
        hits = memory.recall(question, limit=3).hits
    assert words in "\n".join(hit.snippet for hit in hits)


def test_the_sample_is_sound(copied: Path, opening: Opening) -> None:
    with Memory.open(copied, opening) as memory:
        assert verify(memory) == []
        counted = status(memory)
    assert (counted.ended_sessions, counted.open_sessions, counted.broken) == (6, 0, ())
    kinds = {"agent", "card", "day", "digest", "event", "identity", "project", "proposal"}
    assert set(counted.notes) == kinds


def test_a_changed_quote_of_the_sample_is_found(copied: Path, opening: Opening) -> None:
    card = copied / "semantic/trailhead/rule.deploy-time.md"
    text = card.read_text("utf-8").replace("> One more rule: never", "> One more rule: always")
    card.write_text(text, encoding="utf-8")
    with Memory.open(copied, opening) as memory:
        assert [found.check for found in verify(memory)] == ["quotes"]


def test_the_sample_is_bilingual(copied: Path, opening: Opening) -> None:
    languages = [
        line
        for path in (copied / "semantic").rglob("*.md")
        for line in path.read_text("utf-8").splitlines()
        if line in {"lang: zh", "lang: en"}
    ]
    assert min(languages.count("lang: zh"), languages.count("lang: en")) > 20


def test_no_secret_of_the_conversations_is_in_the_sample(copied: Path, opening: Opening) -> None:
    texts = [content.decode() for content in contents(copied).values()]
    said = "".join(path.read_text("utf-8") for path in (ROOT / "templates").rglob("*.jsonl"))
    assert all(fake in said for fake in FAKES)
    assert not [fake for fake in FAKES for text in texts if fake in text]
    assert sum(text.count("⟦redacted:") for text in texts) >= len(FAKES)
    with Memory.open(copied, opening) as memory:
        assert not [memory.screen.spans(text) for text in texts if memory.screen.spans(text)]


def test_no_secret_is_in_any_byte_or_git_object(sample: ModuleType, tmp_path: Path) -> None:
    root = tmp_path / "memory"
    sample.grow(root, tmp_path / "home")
    with Memory.open(root, Opening(home=Home(tmp_path / "home", tmp_path / "home"))) as memory:
        told = ROOT / "templates/starter/transcripts/en.jsonl"
        for line in told.read_text("utf-8").splitlines():
            if any(fake in line for fake in FAKES):
                memory.recall(json.loads(line)["content"])
        memory.index.refresh(full=True)
    argv = ["git", "-C", str(root), "cat-file", "--batch", "--batch-all-objects"]
    objects = subprocess.run(argv, capture_output=True, check=True).stdout
    bodies = [objects, *(path.read_bytes() for path in root.rglob("*") if path.is_file())]
    assert "改用 SQLite".encode() in objects and any((root / ".kimi/index").rglob("*"))
    # Six figures stand by chance inside of some hash.
    alone = [re.compile(rb"(?<![0-9a-f])%b(?![0-9a-f])" % fake.encode()) for fake in FAKES]
    assert not [one.pattern for one in alone for body in bodies if one.search(body)]


def test_the_sample_keeps_its_undecided_lines_for_a_person(copied: Path) -> None:
    proposals = [path.read_text("utf-8") for path in (copied / "review").glob("*.md")]
    assert proposals
    assert all("target: long-term/IDENTITY.md" in text for text in proposals)


def test_people_said_what_the_sample_believes(copied: Path, opening: Opening) -> None:
    with Memory.open(copied, opening) as memory:
        for hit in memory.recall("数据库 database", limit=20).hits:
            if hit.unit.kind == "card":
                evidence = memory.trace(hit.unit.id).evidence
                assert evidence and all(each.verified for each in evidence)
                assert {turn.origin for each in evidence for turn in each.turns} == {Origin.HUMAN}


_PAGES = ("semantic", "entities")
"""Folders of pages that are made from cards, in which no card lies."""


def test_every_note_of_the_sample_says_what_its_values_say() -> None:
    """What was written once reads back to the same bytes; what was patched, to the same note."""
    for path in (ROOT / "memory").glob("[el]*/*.md"):
        text = path.read_text("utf-8")
        assert codec.render(codec.parse(text, path.name)) == text
    cards = (p for p in (ROOT / "memory/semantic").rglob("*.md") if p.parent.name not in _PAGES)
    for path in cards:
        note = codec.parse(path.read_text("utf-8"), path.name)
        assert codec.parse(codec.render(note), path.name) == note


def test_the_sums_and_chains_of_the_sample_are_as_the_contract_says() -> None:
    def short(content: bytes) -> str:
        return hashlib.sha256(content).hexdigest()[:12]

    for path in (ROOT / "memory/episodic/sessions").rglob("*.jsonl"):
        before, context = "", None
        for line in path.read_bytes().splitlines():
            record = json.loads(line)
            assert record["sum"] == short(line.rpartition(b',"sum":')[0])
            if record["kind"] == "turn":
                expected = "" if context is None else short(f"{context}{before}".encode())
                assert record.get("context", "") == expected
                context = expected
            before = record["sum"]


def test_the_notes_in_the_contract_are_notes() -> None:
    page = (ROOT / "docs/file-format.md").read_text("utf-8")
    blocks = re.findall(r"^```markdown\n(---.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        note = codec.parse(block, "file-format.md")
        assert codec.render(note) == block
        quote = Quote(note.sources[0].session, note.sources[0].first, "我们用 PostgreSQL")
        assert quote.hash == note.sources[0].quote and f"> {quote.text}" in block
