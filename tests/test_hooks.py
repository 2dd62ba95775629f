"""Every hook, asked through a host of the bundled plugins."""

from __future__ import annotations

import ast
import io
import json
import logging
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import cache
from math import prod
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening, hookimpl
from kimi_memory.api.options import Home
from kimi_memory.cluster import Cluster
from kimi_memory.domain.agent_run import Program, Task, Usage
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.health import Severity
from kimi_memory.domain.job import DayView, Op, Verdict, WeekView
from kimi_memory.domain.note import Card, CardType, EventType, Lang, Quote, Role
from kimi_memory.domain.pages import Day, DigestLine, Event, Part, Project
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.search_types import ChunkSizes, Hit, Query, Unit
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.hooks.host import Host
from kimi_memory.hooks.specs import SPECS
from kimi_memory.runs import Runs
from kimi_memory.runs.metering import list_usage, sum_usage

TESTS = Path(__file__).parent
NOON = datetime(2026, 2, 27, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def host() -> Host:
    return Host({"activity": {}}, entry_points=False)


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """The lines of the bundled log."""
    with caplog.at_level(logging.INFO, logger="kimi_memory.activity"):
        yield caplog


def turn(n: int, text: str) -> Turn:
    return Turn(n, NOON, Role.USER, text)


def unit(text: str, **rest: object) -> Unit:
    place = {"id": "card-1", "kind": "card", "tier": "semantic", "path": "semantic/db/port.md"}
    return Unit(**{**place, "first": 1, "last": 1, "text": text, "at": NOON, **rest})


def event(**rest: object) -> Event:
    return Event(
        id="event-1",
        created=NOON,
        updated=NOON,
        title="选定 PostgreSQL",
        type=EventType.DECISION,
        at=NOON,
        content="数据库用 PostgreSQL",
        key="db.choice",
        importance=0.8,
        **rest,
    )


# No hook without a plugin that uses it and a test that is named after it


@cache
def hook_tests() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")]
    return {
        node.name
        for text in texts
        if "def test_hook_" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    }


@pytest.mark.parametrize("hook", SPECS)
def test_every_hook_is_tested_by_name(hook: str) -> None:
    wanted = f"test_hook_{hook}"
    assert any(name == wanted or name.startswith(f"{wanted}_") for name in hook_tests())


@pytest.mark.parametrize("hook", SPECS)
def test_every_hook_is_used_by_a_bundled_plugin(hook: str, host: Host) -> None:
    assert [loaded.name for loaded in host.loaded if hook in loaded.hooks]


def test_every_plugin_file_is_bundled(host: Host) -> None:
    plugins = TESTS.parent / "plugins"
    files = {path.stem for path in plugins.glob("*.py")} - {"__init__"}
    folders = {path.parent.name for path in plugins.glob("*/__init__.py")}
    assert {loaded.name for loaded in host.loaded} == files | folders


def test_every_bundled_plugin_says_why_it_exists(host: Host) -> None:
    plugins = TESTS.parent / "plugins"
    for loaded in host.loaded:
        path = plugins / f"{loaded.name}.py"
        path = path if path.is_file() else plugins / loaded.name / "__init__.py"
        text = path.read_text(encoding="utf-8")
        assert "Why it exists" in (ast.get_docstring(ast.parse(text)) or ""), loaded.name


# A memory comes into use


def test_hook_memory_opened(tmp_path: Path, host: Host, logged: pytest.LogCaptureFixture) -> None:
    with Memory.create(tmp_path / "记忆", opening=Opening(host=host)):
        pass
    assert f"opened {tmp_path / '记忆'}" in logged.messages


def test_hook_register_commands(host: Host) -> None:
    commands = [command for found in host.gather("register_commands") for command in found]
    assert commands
    for command in commands:
        parser = ArgumentParser(command.name)
        command.add_arguments(parser)
        assert command.help and "--help" in parser.format_help()


def test_hook_register_pages(host: Host, tmp_path: Path) -> None:
    pages = {page.name: page for found in host.gather("register_pages") for page in found}
    assert pages.keys() == {"audit", "evals"}
    with Memory.create(tmp_path / "记忆", opening=Opening(background=False)) as memory:
        memory.remember("The port is 8080.", key="port")
        audited = pages["audit"].find(memory, {"go": ["1"]})
        assert getattr(audited["report"], "memos", 0) > 0
        assert pages["evals"].find(memory, {})["cases"] == []


@pytest.mark.parametrize(
    ("place", "severity"), [("memory", Severity.OK), ("坚果云/memory", Severity.WARNING)]
)
def test_hook_check_health(host: Host, tmp_path: Path, place: str, severity: Severity) -> None:
    found = [f for each in host.gather("check_health", root=tmp_path / place) for f in each]
    assert [f.severity for f in found if f.check == "filesystem"] == [severity]


# Its changes are shared between machines


def test_hook_open_registry_keeps_it_beside_another_log(tmp_path: Path) -> None:
    home = Home(tmp_path / "config", tmp_path / "state")
    home.config.mkdir()
    urls = {name: f"folder://{tmp_path}/{name}" for name in ("log", "registry")}
    lines = [f'url = "{urls["log"]}"', f'registry = "{urls["registry"]}"', 'node = "edge"']
    (home.config / "config.toml").write_text("[cluster]\n" + "\n".join(lines) + "\n")
    opening = Opening(home=home, background=False)
    with Memory.create(tmp_path / "shop", opening=opening):
        pass
    with Cluster.open(opening=opening) as cluster:
        cluster.join()
        row = cluster.deploy(tmp_path / "shop", sealed=True)
        assert [one.name for one in cluster.nodes()] == ["edge"]
        assert cluster.state(row.memory).holder == "edge"
    # Who leads, and the keys that a log is read with, stay with the log.
    bare = {name: Host(entry_points=False).answer("open_log", url=urls[name]) for name in urls}
    tables = ("nodes", "deployments", "keys")
    found = {name: [bool(log.rows(one)) for one in tables] for name, log in bare.items()}
    assert found == {"log": [False, False, True], "registry": [True, True, False]}
    assert bare["log"].read(row.memory, 0) and not bare["registry"].read(row.memory, 0)


def test_hook_metered_is_told_what_jobs_and_runs_used(home: Home, tmp_path: Path) -> None:
    told: list[Usage] = []

    class Counter:
        @hookimpl
        def metered(self, usage: Usage) -> None:
            told.append(usage)

    host = Host(entry_points=False)
    host.register(Counter(), "counter")
    opening = Opening(home=home, host=host, background=False)
    with Memory.create(tmp_path / "m", opening=opening) as memory:
        code = """print('{"usage": {"tokens_in": 812, "model": "qwen3"}}')"""
        program = Program("worker", (sys.executable, "-c", code))
        assert Runs(memory).run(Task("t", prompt="Go on."), program).outcome == "done"
        memory.remember("The port is 8080.", key="port")
        # The same as what `usage` says later, of jobs and runs.
        listed = [one for one in list_usage(memory) if not (one.stored_bytes or one.reads)]
        assert sum_usage(told, ["job", "model"]) == sum_usage(listed, ["job", "model"])
    assert {(one.job, one.agent, one.tokens_in) for one in told} >= {("run", "worker", 812)}


def test_hook_metered_is_in_the_log(host: Host, logged: pytest.LogCaptureFixture) -> None:
    used = Usage(agent="worker", job="run", model="qwen3", tokens_in=812)
    host.notice("metered", usage=used)
    assert "worker used 812 tokens in and 0 out of qwen3" in logged.messages


# Words come in


def transcript_file(name: str, content: bytes) -> TranscriptFile:
    return TranscriptFile(name, content[: 1 << 16], lambda: io.BytesIO(content))


def test_hook_read_transcript(host: Host) -> None:
    lines = [
        {
            "type": role,
            "uuid": f"u{n}",
            "parentUuid": None,
            "sessionId": "s1",
            "timestamp": f"2026-02-27T12:00:0{n}Z",
            "message": {"role": role, "content": text},
        }
        for n, (role, text) in enumerate([("user", "端口是多少？"), ("assistant", "It is 5432.")])
    ]
    content = "\n".join(json.dumps(line) for line in lines).encode()
    sessions = list(host.answer("read_transcript", file=transcript_file("s1.jsonl", content)))
    assert [[t.text for t in s.turns] for s in sessions] == [["端口是多少？", "It is 5432."]]


def test_hook_read_transcript_passes_on_what_nobody_knows(host: Host) -> None:
    picture = transcript_file("photo.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    assert host.answer("read_transcript", file=picture) is None


def test_hook_read_memories(host: Host) -> None:
    export = {"results": [{"id": "m1", "memory": "用户喜欢绿茶", "categories": ["food"]}]}
    file = transcript_file("export.json", json.dumps(export, ensure_ascii=False).encode())
    [memo] = host.answer("read_memories", file=file, system="")
    assert (memo.system, memo.text, memo.tags) == ("mem0", "用户喜欢绿茶", ("food",))
    assert host.answer("read_memories", file=file, system="memex") is None


# in two pieces, so that no scanner takes this file for a leak
AWS = "AKIA" + "IOSFODNN7EXAMPLQ"
GITHUB = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"密钥是 {AWS}，别外传", AWS),
        (f"token {GITHUB}", GITHUB),
    ],
)
def test_hook_screen_text(host: Host, text: str, secret: str) -> None:
    spans = [span for found in host.gather("screen_text", text=text) for span in found]
    masked = {place for span in spans for place in range(span.start, span.end)}
    start = text.index(secret)
    assert set(range(start, start + len(secret))) <= masked
    assert host.gather("screen_text", text="我们周五部署。 We deploy on Friday.") == [[]]


@pytest.mark.parametrize(
    "text", ["记住：预发布服务器每周日晚上重启。", "Remember that staging is rebooted on Sundays."]
)
def test_hook_capture_turn(host: Host, text: str) -> None:
    found = host.gather("capture_turn", turn=turn(3, text), session=Session("s1", NOON))
    (draft,) = [draft for drafts in found for draft in drafts]
    assert draft.quotes and all(q.n == 3 and q.stands_in(text) for q in draft.quotes)
    assert host.gather("capture_turn", turn=turn(4, "嗯 ok"), session=Session("s1", NOON)) == [[]]


# A chat outgrows its window


def test_hook_open_compactor(memory: Memory) -> None:
    chat = [{"role": "user", "content": f"第 {n} 行日志"} for n in range(9)]
    compactor = memory.host.answer("open_compactor", memory=memory)
    done = compactor.compact(chat, compactor.limits, "c", force=True)
    assert (done.session, done.dropped, done.stored) == ("c", 4, 9)


# A session ends


def test_hook_session_ended(host: Host, logged: pytest.LogCaptureFixture) -> None:
    host.notice("session_ended", session=Session("s1", NOON), turns=7)
    assert "session s1 ended with 7 turns" in logged.messages


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("我们决定数据库用 PostgreSQL，因为需要事务。", Lang.ZH),
        ("We decided to use PostgreSQL because we need transactions.", Lang.EN),
    ],
)
def test_hook_distil_session(host: Host, text: str, lang: Lang) -> None:
    said = Transcript(Session("s1", NOON), (turn(1, text), turn(2, "好的 ok")))
    (draft,) = host.answer("distil_session", transcript=said)
    assert (draft.type, draft.lang) == (CardType.DECISION, lang)
    assert all(quote.stands_in(text) for quote in draft.quotes) and draft.quotes


def test_hook_digest_session(host: Host) -> None:
    text = "I moved to Graz with my sister in March"
    said = Transcript(Session("s1", NOON), (turn(1, text), turn(2, "thanks!")))
    assert host.answer("digest_session", transcript=said) == [DigestLine(Part.ASKED, text, 1, 1)]


# Knowledge consolidates


def test_hook_consolidate_day(host: Host) -> None:
    view = DayView(
        date=date(2026, 2, 27),
        now=NOON,
        lang=Lang.ZH,
        events=(event(project="账单"),),
        cards=(),
        projects=(),
        sessions=("s1",),
    )
    steps = [step for found in host.gather("consolidate_day", day=view) for step in found]
    assert [s.note.name for s in steps if isinstance(s.note, Project)] == ["账单"]
    assert [s.note.date for s in steps if isinstance(s.note, Day)] == [date(2026, 2, 27)]


def test_hook_consolidate_week(host: Host) -> None:
    done = Project(id="project-1", created=NOON, updated=NOON, name="Billing")
    view = WeekView(
        first=date(2026, 2, 23),
        last=date(2026, 3, 1),
        now=NOON + timedelta(days=60),
        lang=Lang.EN,
        events=(event(project="Billing", outcome="The project is finished"),),
        cards=(),
        projects=(done,),
    )
    steps = [step for found in host.gather("consolidate_week", week=view) for step in found]
    assert [(s.op, s.note.id) for s in steps if isinstance(s.note, Project)] == [
        (Op.ARCHIVE, "project-1")
    ]


@pytest.mark.parametrize(
    ("value", "reversal", "verdict"),
    [
        ("The port is 5432.", False, Verdict.AGREES),
        ("The port is 5433.", True, Verdict.REPLACES),
        ("The port is 5433.", False, Verdict.CONFLICTS),
    ],
)
def test_hook_judge_conflict(host: Host, value: str, reversal: bool, verdict: Verdict) -> None:
    card = Card(
        id="card-1",
        created=NOON,
        updated=NOON,
        title="Port",
        type=CardType.DECISION,
        key="db.port",
        value="The port is 5432.",
    )
    draft = Draft(
        type=CardType.DECISION,
        key="db.port",
        title="Port",
        value=value,
        quotes=(Quote("s2", 1, value),),
        at=NOON + timedelta(days=1),
        lang=Lang.EN,
        reversal=reversal,
    )
    assert host.answer("judge_conflict", card=card, draft=draft) is verdict


def test_hook_changes_applied(host: Host, logged: pytest.LogCaptureFixture) -> None:
    host.notice("changes_applied", paths=["semantic/db/端口.md"], job=None)
    assert "no job wrote 1 files: semantic/db/端口.md" in logged.messages


# Notes become searchable


def test_hook_split_note(host: Host) -> None:
    page = "# 部署\n\n每周五。\n\n## Port\n\nIt is 5432.\n"
    chunks = host.answer("split_note", text=page, sizes=ChunkSizes())
    assert [(c.trail[-1], c.first, c.last) for c in chunks][-1] == ("Port", 5, 7)
    assert "每周五" in chunks[0].text


def test_hook_split_words(host: Host) -> None:
    def words(text: str) -> set[str]:
        return set(host.answer("split_words", text=text))

    assert "部署" in words("我们周五部署") & words("部署在哪天？")
    assert words("deployed") & words("the deployment") or words("deploys") & words("deployed")


def test_hook_open_keywords(host: Host, tmp_path: Path) -> None:
    index = host.answer("open_keywords", folder=tmp_path)
    index.write([(7, ["部署", "port", "port"]), (9, ["port"])], [])
    index.close()
    again = host.answer("open_keywords", folder=tmp_path)
    rows, counts = again.postings("port")
    assert ([int(again.keys()[row]) for row in rows], list(counts)) == ([7, 9], [2.0, 1.0])
    again.write([], [7])
    assert set(again.keys().tolist()) - {-1} == {9}
    again.close()


def test_hook_embed_texts(host: Host) -> None:
    texts = ["数据库端口是 5432", "数据库的端口是 5432。", "We deploy on Friday"]
    found = host.answer("embed_texts", texts=texts, purpose="similarity")
    one, same, other = found.vectors
    assert sum(a * b for a, b in zip(one, same, strict=True)) > 0.6
    assert sum(a * b for a, b in zip(one, other, strict=True)) < 0.3
    assert sum(a * a for a in one) == pytest.approx(1, abs=1e-3)


def test_hook_embed_texts_leaves_meaning_to_models(host: Host) -> None:
    assert host.answer("embed_texts", texts=["端口"], purpose="query") is None


def test_hook_open_vectors(host: Host, tmp_path: Path) -> None:
    index = host.answer("open_vectors", folder=tmp_path, dimensions=2)
    index.write([(7, [1.0, 0.0]), (9, [0.0, 1.0])], [])
    index.close()
    again = host.answer("open_vectors", folder=tmp_path, dimensions=2)
    (nearest, cosine), *_ = again.search([0.8, 0.6], 1)
    assert (nearest, cosine) == (7, pytest.approx(0.8, abs=0.01))
    again.write([], [7])
    assert [key for key, _ in again.search([0.8, 0.6], 2)] == [9]
    again.close()


# Notes are recalled


@pytest.mark.parametrize("text", ["上周五说了什么", "what did we say last Friday"])
def test_hook_expand_query(host: Host, text: str) -> None:
    words = {w for f in host.gather("expand_query", query=Query(text=text), now=NOON) for w in f}
    assert "d:2026-02-20" in words


def test_hook_weigh_hit(host: Host) -> None:
    def weight(**rest: object) -> float:
        card = unit("数据库端口是 5432", **rest)
        found = host.gather("weigh_hit", unit=card, query=Query(text="端口"), now=NOON)
        return prod(factor for factors in found for factor in factors.values())

    assert weight(confidence=0.2) < weight(confidence=0.9)
    assert weight(status="superseded") < weight(status="active")


def test_hook_recalled(host: Host, logged: pytest.LogCaptureFixture) -> None:
    host.notice("recalled", query=Query(text="端口"), hits=[Hit(unit("端口"), 1.0, "端口")])
    assert "recall of 2 characters had 1 hits" in logged.messages
