"""``recall``: filters, explanation, JSON, related notes, marks on a terminal."""

from __future__ import annotations

import math
import re
import sys
import time
from itertools import pairwise

import pytest

from kimi_memory.cli import run
from tests.cli.answers import answer


@pytest.fixture
def filled(folder, capsys):
    """A memory with two sessions and two cards."""
    run(["remember", "我们决定用 SQLite 当数据库，因为部署简单。", "--key", "db.choice"])
    run(["remember", "Green tea is in the kitchen.", "--key", "tea.place"])
    run(["session", "start", "s", "--project", "menu"])
    run(["session", "turn", "s", "Black tea costs 3 euros.", "--speaker", "Ann"])
    capsys.readouterr()
    return folder


def ids(capsys, *words: str) -> set[str]:
    return {hit["citation"].partition("#")[0] for hit in answer(capsys, "recall", *words)["hits"]}


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["tea"], 4),
        (["tea", "--kind", "card"], 1),
        (["tea", "--kind", "card", "--kind", "turn"], 4),
        (["tea", "--project", "menu"], 1),
        (["tea", "--speaker", "ann"], 1),
        (["tea", "--session", "s"], 1),
        (["tea", "--tier", "semantic"], 1),
        (["tea", "--key", "tea"], 1),
        (["tea", "--path", "semantic"], 1),
        (["tea", "--since", "yesterday"], 4),
        (["tea", "--until", "昨天"], 0),
        (["tea", "--valid-at", "today"], 4),
        (["tea", "--valid-at", "昨天"], 0),
        (["茶 tea valid-at:昨天"], 0),
        (["tea", "--limit", "1"], 1),
        (["tea -green kind:turn"], 2),
        (['"black tea"'], 1),
        (["tea kind:turn", "--project", "menu"], 1),
        (["--kind", "card"], 2),
        (["--plain", "kind:tea"], 4),
        (["数据库", "--status", "archived"], 0),
    ],
    ids=str,
)
def test_filters_cut(filled, capsys, words: list[str], count: int) -> None:
    assert len(answer(capsys, "recall", *words)["hits"]) == count


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tea", "--tier", "gold"], "--tier: there is no tier 'gold'. Use short-term,"),
        (["tea", "--since", "someday"], "--since: 'someday' is no date. Write 2026-02-27,"),
        (["tea", "--valid-at", "someday"], "--valid-at: 'someday' is no date. Write 2026-02-27,"),
        (
            ["tea valid-at:2026-02-31"],
            "'valid-at:2026-02-31' at character 5: '2026-02-31' is no date.",
        ),
        (["tea tier:gold"], "'tier:gold' at character 5: there is no tier 'gold'."),
        ([], "There is nothing to look for."),
        (["tea", "--limit", "-1"], "--limit is below zero."),
        (["tea", "--vector-weight", "11"], "A vector weight of 11 is out of range."),
        (["tea", "--fusion", "70/30", "--vector-weight", "1.7"], "1.7 is not. Give 0 to 1."),
    ],
)
def test_errors_are_one_line_with_place_and_remedy(
    filled, capsys, words: list[str], message: str
) -> None:
    assert run(["recall", *words]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_a_least_score_cuts(filled, capsys) -> None:
    scores = [hit["score"] for hit in answer(capsys, "recall", "tea")["hits"]]
    kept = answer(capsys, "recall", "tea", "--min-score", str(scores[1]))["hits"]
    assert [hit["score"] for hit in kept] == [one for one in scores if one >= scores[1]]


def test_json_explains_each_score(filled, capsys) -> None:
    began = time.perf_counter()
    found = answer(capsys, "recall", "数据库用什么", "--explain")
    assert 0 < found["took_ms"] < (time.perf_counter() - began) * 1000
    assert set(found) == {"hits", "lanes", "notes", "took_ms", "words", "weights"}
    assert sum(found["weights"].values()) == pytest.approx(1)
    assert "数据" in found["words"]
    for hit in found["hits"]:
        whole = sum(hit["summands"].values()) * math.prod(hit["factors"].values())
        assert whole == pytest.approx(hit["score"])
        assert hit["citation"].startswith(f"{hit['unit']['path']}#L")
    turn = next(hit for hit in found["hits"] if hit["unit"]["kind"] == "turn")
    assert [note["rel"] for note in turn["related"]] == ["QUOTES"]
    plain = answer(capsys, "recall", "数据库用什么")
    assert set(plain) == {"hits", "lanes", "notes", "took_ms"}
    parts = {"unit", "score", "snippet", "parts", "lanes", "citation", "related", "sessions"}
    assert parts <= set(plain["hits"][0])
    of_turn = {turn["unit"]["session"]}
    card = next(hit for hit in plain["hits"] if hit["unit"]["kind"] == "card")
    assert set(turn["sessions"]) == of_turn
    assert {one.partition(".")[0] for one in card["sessions"]} <= {
        hit["unit"]["session"] for hit in plain["hits"]
    }
    assert card["sessions"]


def test_people_see_lanes_words_and_the_sum(filled, capsys) -> None:
    assert run(["recall", "green tea", "--explain"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("lanes: keyword (weight 1.00); words: green tea\n")
    assert re.search(r"^    \(turn .* = [01]\.\d{3}  \(lanes: keyword\)$", shown, re.MULTILINE)
    assert "related: card-" in shown
    assert "\x1b" not in shown


def test_a_card_says_whose_word_it_is_and_since_when(filled, capsys) -> None:
    rule = "One more rule: never deploy on Friday, I'm on the hills every weekend."
    for name, said in (("Ann", rule), ("林夏", "缩进我习惯用四个空格。")):
        at = ["--at", "2026-02-03T10:00:00Z"]
        run(["session", "start", f"with-{name}"])
        run(["session", "turn", f"with-{name}", said, "--speaker", name, *at])
        run(["session", "turn", f"with-{name}", "Noted.", "--role", "assistant", *at])
        run(["session", "end", f"with-{name}"])
    capsys.readouterr()
    assert run(["recall", "deploy Friday", "--kind", "card"]) == 0
    head = capsys.readouterr().out.splitlines()[0]
    assert "· Ann · 2026-02-03  " in head, "since it was said, not since it was written down"


def test_a_hit_that_holds_none_of_the_words_says_why_it_is_there(filled, capsys, monkeypatch):
    run(["session", "turn", "s", "Agreed.", "--role", "assistant"])
    capsys.readouterr()
    assert run(["recall", "--session", "s", "euros"]) == 0
    said = capsys.readouterr().out.splitlines()
    [head] = [line for line, text in pairwise(said) if text == "    Agreed."]
    assert " · next to a match" in head
    [head] = [line for line, text in pairwise(said) if "euros" in text]
    assert "next to a match" not in head
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert run(["recall", "--session", "s", "euros"]) == 0
    assert " · 在匹配句旁边" in capsys.readouterr().out


def test_words_are_marked_on_a_terminal_only(filled, capsys, monkeypatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    run(["recall", "where are the green teas?", "--kind", "card"])
    assert "\x1b[1mGreen\x1b[0m \x1b[1mtea\x1b[0m is" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    run(["recall", "green tea", "--kind", "card"])
    assert "\x1b" not in capsys.readouterr().out


def test_finding_nothing_is_no_failure(filled, capsys) -> None:
    assert run(["recall", "zeppelin"]) == 0
    assert capsys.readouterr().out == "Nothing found.\n"


def test_private_scopes_are_shown_to_whom_they_are_named(folder, capsys):
    run(
        [
            "remember",
            "The shelf holds 4711 tins.",
            "--key",
            "shelf",
            "--agent",
            "cook",
            "--area",
            "agent",
        ]
    )
    capsys.readouterr()
    for words, there in (
        ([], True),
        (["--within", "agent:cook"], True),
        (["--within", "agent:maid"], False),
        (["--within", "agent:maid", "--within", "agent:cook"], True),
        (["--within", ""], False),
    ):
        assert bool(answer(capsys, "recall", "shelf holds", *words)["hits"]) is there
        assert ("4711" in answer(capsys, "context", "shelf holds", *words)["text"]) is there


def test_dates_are_those_of_the_zone_of_the_memory(folder, capsys) -> None:
    marker = folder / "memory.toml"
    text = marker.read_text("utf-8").replace("[memory]\n", '[memory]\ntimezone = "Asia/Shanghai"\n')
    marker.write_text(text, "utf-8")
    run(["session", "start", "s"])
    run(["session", "turn", "s", "Black tea costs 3 euros.", "--at", "2025-11-23T02:36"])
    run(["session", "turn", "s", "White tea costs 4 euros.", "--at", "2025-11-22T18:40Z"])
    run(["session", "end", "s"])
    capsys.readouterr()
    for words in (["since:2025-11-23"], ["until:2025-11-23"], ["on 23 November 2025"]):
        [first, *_] = answer(capsys, "recall", "tea", *words)["hits"]
        assert first["unit"]["at"].startswith("2025-11-23T02:")
        assert first["unit"]["at"].endswith("+08:00")
    assert not answer(capsys, "recall", "tea", "--until", "2025-11-22")["hits"]
    run(["recall", "tea"])
    assert "2025-11-23" in capsys.readouterr().out
    run(["context", "task", "tea"])
    assert "2025-11-22" not in capsys.readouterr().out


def test_an_empty_block_says_so_beside_what_goes_into_a_prompt(folder, capsys) -> None:
    capsys.readouterr()
    for words, hint in (["start"], "--for start"), (["penguins"], "kimi-memory recall"):
        assert run(["context", *words]) == 0
        shown = capsys.readouterr()
        assert shown.out == ""
        assert "The block is empty" in shown.err
        assert hint in shown.err


def test_filters_alone_say_how_many_they_let_through(filled, capsys) -> None:
    run(["recall", "kind:card", "--limit", "1"])
    assert "1 of 2." in capsys.readouterr().out
    for words in (["kind:card"], ["tea", "--limit", "1"]):
        run(["recall", *words])
        assert " of " not in capsys.readouterr().out.splitlines()[-1]
