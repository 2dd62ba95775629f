"""Words of a turn and of its neighbours."""

from __future__ import annotations

from folders import Folder


def test_neighbours_lend_their_words(folder: Folder) -> None:
    folder.session(
        "x", [("Ann", "Which instrument do you play?"), ("Ben", "The oboe."), ("Ann", "Lovely.")]
    )
    folder.session("y", [("Ann", "Good morning."), ("Ben", "Hello."), ("Ann", "Bye.")])
    hits = {hit.unit.id: hit for hit in folder.ask("instrument").hits}
    assert hits["session:x#2"].parts["window"] > 0
    assert not any(id.startswith("session:y") for id in hits)


def test_a_page_that_says_one_word_stands_behind_what_says_more(folder: Folder) -> None:
    folder.session("chat", [("user", "The current plan for the harbour is in the blue folder.")])
    folder.write("PROJECT.md", "# Current work\n")
    first = folder.ask("where is the current plan for the harbour?").hits[0]
    assert first.unit.session == "chat"
