"""The run of all benchmarks: nothing that can be run is left out, what cannot is named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import blocks, house, knowledge, quiet, replies, session, standing
from benchmarks.__main__ import BENCHMARKS, Place, chosen_of
from benchmarks.gold.matching import Words
from benchmarks.gold.prompts import FOLDER, read_lines, read_prompts
from benchmarks.gold.sessions import Texts
from kimi_memory.domain.search_types import Context

ROOT = Path(__file__).parent.parent


def test_every_module_that_can_be_run_is_run() -> None:
    runnable = {
        path.stem
        for path in (ROOT / "benchmarks").glob("*.py")
        if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    }
    assert {one.module for one in BENCHMARKS} == runnable - {"__main__", "plot"}
    names = [one.name for one in BENCHMARKS]
    assert len(set(names)) == len(names)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    [quality, programs] = chosen_of(["quality", "programs"])
    assert "KIMI_MEMORY_DATA" in Place(None, None).lacks(quality)
    assert f"{tmp_path} has none" in Place(tmp_path, None).lacks(quality)
    (tmp_path / "locomo.dev.jsonl").touch()
    assert Place(tmp_path, None).lacks(quality) == ""
    assert "--programs DIR" in Place(tmp_path, None).lacks(programs)
    command = Place(tmp_path, tmp_path, quick=True).command(programs)
    assert command[2:] == [
        "benchmarks.programs",
        str(tmp_path / "locomo.dev.jsonl"),
        *("--every", "25", "--folder", str(tmp_path)),
    ]


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no benchmark 'speeed'"):
        chosen_of(["speeed"])


def test_a_run_prints_results_and_what_was_skipped() -> None:
    command = [sys.executable, "-m", "benchmarks", "quality", "--json"]
    environment = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert "skipped" in json.loads(done.stdout)["quality"]
    assert "0 run, 1 skipped (quality), 0 failed" in done.stderr


def _gold_file(tmp_path: Path) -> Path:
    """Write a labelled session: one item that is kept, one that cannot be, one that is nowhere."""
    item = {"statement": "", "holder": "user", "said_by": "user", "replaces": "", "weight": 3}
    told = "Remember that the deploy window opens at 18:30 on Thursdays."
    labels = {
        **{"set": "own_chat", "corpus": "one", "session": "s1", "lang": "en"},
        "turns": [
            {"id": "t1", "role": "user", "text": told, "date": "2026-03-02"},
            {"id": "t2", "role": "assistant", "text": "Noted.", "date": "2026-03-02"},
        ],
        "remember": [
            {**item, "id": "r1", "kind": "order", "evidence": ["t1"], "must_words": ["18:30"]},
            {**item, "id": "r2", "kind": "plan", "evidence": ["t2"], "must_words": ["Lisbon"]},
        ],
        "never": [{"turn": "t2", "text": "Noted.", "why": "acknowledgement"}],
    }
    elsewhere = {**labels, "set": "locomo", "corpus": "gone", "turns": []}
    path = tmp_path / "gold" / "memory.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(one) + "\n" for one in (labels, elsewhere)), "utf-8")
    return path


def test_knowledge_counts_what_a_memory_keeps_of_labelled_sessions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _gold_file(tmp_path)
    figures, details = knowledge.measure(path, [tmp_path])
    assert (figures["sessions"], figures["turns"], figures["left_out"]) == (1, 2, 1)
    assert "no corpus gone" in capsys.readouterr().err
    kinds = figures["coverage"]["by_kind"]
    assert (kinds["order"]["held"], kinds["plan"]["held"]) == (1.0, 0.0)
    assert figures["precision"]["cards"]["holds_item"] == 1.0
    assert figures["never_kept"] == 0.0
    assert [one["id"] for one in knowledge.worst_misses(details)] == ["r2"]
    assert knowledge.worst_cards(details) == []


def test_what_is_kept_of_the_labelled_talks_does_not_get_worse() -> None:
    folder = Path(knowledge.__file__).parent / "gold"
    figures, _ = knowledge.measure(folder / "talks.jsonl", [folder])
    held = {kind: one["held"] for kind, one in figures["coverage"]["by_kind"].items()}
    assert figures["coverage"]["all"]["held"] >= 0.65
    assert held["order"] >= 0.8
    assert held["decision"] >= 0.5
    assert figures["precision"]["cards"]["holds_item"] >= 0.8
    assert figures["precision"]["digest"]["holds_item"] >= 0.6
    assert figures["precision"]["digest"]["bad"] <= 0.1
    assert figures["MEMORY.md"]["bad"] <= 0.08 * figures["MEMORY.md"]["lines"]


def test_knowledge_prints_the_worst(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    knowledge.main([str(_gold_file(tmp_path)), "--record", str(tmp_path / "figures.json")])
    printed = capsys.readouterr().out
    assert "worst misses" in printed
    assert "worst cards and events" in printed
    recorded = json.loads((tmp_path / "figures.json").read_text("utf-8"))
    assert recorded["command"] == "python -m benchmarks.knowledge memory.jsonl"


def _replies_file(gold: Path) -> Path:
    told = "The deploy window opens at 18:30 on Thursdays."
    quotes = [{"turn": 1, "text": "the deploy window opens at 18:30"}]
    good = {"op": "ADD", "type": "fact", "key": "fact.window", "title": "Window", "value": told}
    bad = {**good, "key": "fact.bad", "value": "The deploy window opens at 19:30 on Thursdays."}
    place = {"set": "own_chat", "corpus": "one", "session": "s1"}
    line = {
        **{**place, "model": "small"},
        "operations": [
            {**good, "quotes": quotes, "verdict": "accept", "why": ""},
            {**bad, "quotes": quotes, "verdict": "reject", "why": "another figure"},
        ],
    }
    lost = {**place, "session": "s9", "model": "good", "operations": []}
    path = gold.parent / "replies.jsonl"
    path.write_text(f"{json.dumps(line)}\n{json.dumps(lost)}\n", "utf-8")
    return path


@pytest.mark.parametrize("form", sorted(replies.FORMS))
def test_replies_are_judged_however_they_are_written(form: str, tmp_path: Path) -> None:
    path = _replies_file(_gold_file(tmp_path))
    outcomes = replies.measure(path, [tmp_path], form)
    assert [one.taken for one in outcomes] == [True, False]
    assert "figure 19:30" in outcomes[1].why


def test_replies_prints_and_records_the_shares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, record = _replies_file(_gold_file(tmp_path)), tmp_path / "figures.json"
    replies.main([str(path), "--record", str(record), "--wrong"])
    printed = capsys.readouterr()
    assert "repaired 0 of 0, planted 0" in printed.out
    assert "left out s9" in printed.err
    found = json.loads(record.read_text("utf-8"))["figures"]["replies.jsonl"]["small"]
    assert (found["accepted"], found["refused"]) == (1.0, 1.0)
    replies.main([str(path), "--json"])
    assert json.loads(capsys.readouterr().out)["replies.jsonl"]["planted"] == 0


@pytest.mark.parametrize(
    ("text", "wanted", "stands"),
    [
        ("She moved to **Leeds** in May.", "leeds", True),
        ("The boxes were painted", "paint box", True),
        ("A budget of 1,200 pounds", "1200 pounds", True),
        ("A budget of 1,200 pounds", "00 pounds", False),
        ("Goes to the gym", "Go", True),
        ("Ｇｏ 服务先不拆分。", "服务,先不拆", True),
        ("二十 12 日", "2 日", False),
        ("", "anything", False),
    ],
)
def test_words_of_labels_are_found_in_other_forms(text: str, wanted: str, stands: bool) -> None:
    assert Words(text).has(wanted) is stands


def test_there_are_200_prompts_of_each_sort_in_each_language() -> None:
    for lang in ("zh", "en"):
        strangers = read_lines(FOLDER / f"unrelated.{lang}.txt")
        related = [prompt.text for prompt in read_prompts(FOLDER / f"related.{lang}.txt")]
        assert (len(set(strangers)), len(set(related))) == (200, 200)


def test_quiet_counts_injections_and_evidence() -> None:
    shown = [
        quiet.Shown("m", "q", related=False, aside=False, good=True, lines=0),
        quiet.Shown("m", "q", related=False, aside=True, good=False, lines=3),
        quiet.Shown("m", "q", related=True, aside=True, good=True, lines=3),
        quiet.Shown("m", "q", related=True, aside=True, good=False, lines=0),
    ]
    table = quiet.figures(shown)["m"]
    assert (table["fitted"]["inject"], table["aside"]["inject"]) == (0.0, 1.0)
    assert table["both"] == {
        **{"unrelated": 2, "inject": 0.5, "related": 2, "evidence": 0.5, "silent": 0.5}
    }


def test_quiet_asks_memories_of_questions_what_is_theirs_and_what_is_not(tmp_path: Path) -> None:
    paths = []
    for name, place in (("one", "Zanzibar"), ("two", "Reykjavik")):
        docs = [{"id": "d1", "session": "s1", "speaker": "Ann", "text": f"I moved to {place}."}]
        query = {"q": f"When did Ann move to {place}?", "evidence": ["d1"], "category": "1"}
        paths.append(tmp_path / f"{name}.jsonl")
        memory = {"corpus": name, "lang": "en", "docs": docs, "queries": [query]}
        paths[-1].write_text(json.dumps(memory), "utf-8")
    shown = list(quiet.of_questions(paths, sample=2))
    related = [one for one in shown if one.related]
    assert [(one.memory, one.good) for one in related] == [("one/one", True), ("two/two", True)]
    assert len(shown) == 2 * (1 + 200 + 1)


@pytest.mark.parametrize(
    ("line", "noise"),
    [
        ("| - L4 [agent, 2026-01-02] assistant: Let me read the settings first.", True),
        ("| - L4 [agent] assistant: Great. Now I'll move the parser into its own file.", True),
        (
            "| - [agent] assistant: Todos have been modified successfully. Go on (a/s.jsonl#L2)",
            True,
        ),
        ("| - L9 [agent] Assistant: 好的，我先看看配置文件。", True),
        ("| - L4 [human] Ann: Wow, great! (episodic/s.jsonl#L7)", True),
        ("| - L4 [agent] assistant: The parser reads latin-1, so names break. Fixed.", False),
        ("| - L4 [human] user: Let me keep the tag as it is, releases start there.", False),
        ("| - [human, 2026-01-02, 0.85] never write to the main branch (semantic/rule.md)", False),
        ("| - L9 [human] 林: 我们把数据库换成了 SQLite。", False),
    ],
)
def test_noise_is_an_echo_an_announcement_or_no_content(line: str, *, noise: bool) -> None:
    assert blocks.Entry("x", line, order=False).noise is noise


def test_blocks_measure_what_stands_around_the_evidence() -> None:
    lines = ["| ## Orders", "| - a (a.md)", "| ## Said", "| - s.jsonl, 2026-01-02:"]
    lines += [f"| - L{n} [human] Ann: a line of several words" for n in (2, 3, 4)]
    block = Context("\n".join(lines), 80, ("o", "t1", "t2", "t3"), 0)
    entries = blocks.read_entries(block)
    assert [(one.id, one.order) for one in entries] == [
        ("o", True), ("t1", False), ("t2", False), ("t3", False),
    ]  # fmt: skip
    one = blocks.Shown("m", "q", entries, 80, frozenset({"t1"}), frozenset({"o"}))
    nothing = blocks.Shown("m", "q", (), 0, frozenset())
    row = blocks.figures([one, nothing])["m"]
    names = ("prompts", "evidence", "silent", "first", "place", "after", "lines", "foreign")
    assert [row[name] for name in names] == [2, 0.5, 0.5, 1.0, 2, 2, 4, 1.0]
    with pytest.raises(ValueError, match="3 lines, and 4 are seen"):
        blocks.read_entries(Context(block.text, 80, ("o", "t1", "t2"), 0))


def test_blocks_know_whose_orders_they_show(tmp_path: Path) -> None:
    said = {
        "ann": "From now on, always answer in two sentences.",
        "ben": "Always name the source of a figure.",
    }
    gold = [
        {
            "set": "own_chat", "corpus": f"own_en_{name}", "session": name, "lang": "en",
            "remember": [], "never": [],
            "turns": [
                {"id": "t1", "role": "user", "text": order, "date": "2026-01-02"},
                {"id": "t2", "role": "assistant", "text": "Noted.", "date": "2026-01-02"},
            ],
        }
        for name, order in said.items()
    ]  # fmt: skip
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(map(json.dumps, gold)), "utf-8")
    assert list(blocks.of_people(path, [tmp_path])) == []
    sessions = blocks.shared_sessions(path, Texts([tmp_path]))["en"]
    assert [one.header["user"] for one in sessions] == ["ann", "ben"]
    assert blocks.whose("specstory", "x.md") == blocks.CODE


def test_standing_looks_for_one_line_or_two() -> None:
    lines = ["hints first", "unless I say show me", "something else"]
    assert standing.stands(lines, ["hints", "show me"])
    assert not standing.stands(lines, ["hints", "something"])


def test_session_sets_its_end_and_blocks_against_peers(capsys: pytest.CaptureFixture[str]) -> None:
    assert session.main(["--turns", "30", "--runs", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"end", "context task", "context start"}
    assert all(row["turns"] == 30 and row["ms"] > 0 < row["peer_ms"] for row in found.values())
    session.main(["--turns", "30", "--runs", "1"])
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_figures_of_a_package_are_counted_as_it_runs(tmp_path: Path) -> None:
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text("# why\nfrom house import door\n", "utf-8")
    (package / "door.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from house import key\n"
        "def open_door(self):\n    from .key import turn\n    import json\n",
        "utf-8",
    )
    (package / "key.py").write_text("def _turn():\n    ...\n", "utf-8")
    found = house.measure_sources([package])
    assert (found["files"], found["lines"]) == (3, 10)
    assert found["imports a module"] == round(2 / 3, 2)
    assert found["imports inside functions"] == 2
    assert found["words a function name, mean"] == 1.5
    assert found["letters a function name, median"] == 6.5
    assert found["comment lines, %"] == 10.0


def test_what_people_do_most_passes_few_files() -> None:
    found = house.measure_commands()
    assert found["turn: files entered"] <= 35
    assert found["question: files entered"] <= 60
    assert found["remember: files entered"] <= 80


def test_only_files_that_are_passed_all_the_time_are_long() -> None:
    entered = {called for calls in house.follow_commands().values() for _, called in calls}
    paths = [str(path) for folder in house.OURS for path in folder.rglob("*.py")]
    long = {path for path in paths if Path(path).read_text("utf-8").count("\n") > 400}
    assert long <= entered
