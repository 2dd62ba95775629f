"""``link``, ``get --related`` and ``consolidate introspect`` from the command line."""

from __future__ import annotations

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from tests.cli.answers import answer
from tests.jobs.notes import card, put


@pytest.fixture
def cards(folder) -> None:
    """Two cards that read alike, and one that does not."""
    with Memory.open(folder, Opening(background=False)) as memory:
        put(
            memory,
            card("a", "测试环境的消息队列用三个节点的集群部署", importance=0.9),
            card("b", "测试环境的消息队列用两个节点的集群部署", importance=0.9),
            card("c", "The proxy listens on 443", importance=0.9),
        )


def test_a_link_is_made_shown_and_removed(cards: None, capsys) -> None:
    words = ["card-c", "card-a", "--rel", "depends-on", "--weight", "0.9", "--reason", "排队\n等候"]
    [report] = answer(capsys, "link", *words)
    assert report["operations"][0]["op"] == "LINK"
    [near] = answer(capsys, "get", "card-a", "--related")
    assert (near["id"], near["rel"], near["weight"]) == ("card-c", "NEEDED_BY", 0.9)
    assert near["reason"] == "排队 等候"
    assert run(["get", "card-c", "--related", "--hops", "2"]) == 0
    assert "0.90  DEPENDS_ON         card-a  “测试环境" in capsys.readouterr().out
    assert run(["link", "--remove", "card-c", "card-a"]) == 0
    capsys.readouterr()
    assert run(["get", "card-c", "--related"]) == 0
    assert "Nothing is linked with it." in capsys.readouterr().out


def test_suggestions_are_listed(cards: None, capsys) -> None:
    assert run(["link", "--suggested"]) == 0
    assert "No link waits." in capsys.readouterr().out
    assert run(["dream"]) == 0
    shown = capsys.readouterr().out
    assert "[2/4] Consolidate  0 duplicates merged, 1 link suggested" in shown
    assert "SIMILAR_TO card-b: 0." in shown
    [edge] = answer(capsys, "link", "--suggested")
    assert (edge["source"], edge["target"]) == ("card-a", "card-b")
    assert run(["link", "--suggested"]) == 0
    assert "card-a SIMILAR_TO card-b" in capsys.readouterr().out


def test_the_far_end_of_two_hops_tells_its_way(cards: None, capsys) -> None:
    run(["link", "card-a", "card-c"])
    run(["link", "card-c", "card-b"])
    capsys.readouterr()
    assert run(["get", "card-a", "--related", "--hops", "2"]) == 0
    assert "via card-c" in capsys.readouterr().out


def test_introspection_reports_its_phases_in_json_and_as_a_dry_run(cards: None, capsys) -> None:
    dry = answer(capsys, "consolidate", "introspect", "--dry-run")
    assert dry["summary"]["suggested"] == 1
    assert "SIMILAR_TO 0." in dry["job"]["diff"]
    done = answer(capsys, "consolidate", "introspect")
    assert done["summary"] == dry["summary"]
    assert run(["undo", done["job"]["id"]]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["link", "card-a"], "two ends"),
        (["link", "card-a", "card-b", "--rel", "LIKES"], "no relation"),
        (["dream", "--date", "2026-02-27"], "Leave out --date"),
    ],
)
def test_what_makes_no_sense_has_its_exit_code(
    cards: None, capsys, words: list[str], message: str
) -> None:
    assert run(words) == 2
    assert message in capsys.readouterr().err


def test_status_shows_warmth_and_links(cards: None, capsys) -> None:
    run(["link", "card-a", "card-c"])
    capsys.readouterr()
    assert run(["status"]) == 0
    shown = capsys.readouterr().out
    assert "Links     1 (1 RELATES_TO)" in shown
    assert "Warmth    " in shown
