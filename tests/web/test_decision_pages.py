"""Decisions on pages: shown first, done by the library, undone from the same place."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from fakes.pages import Pages, Reader

from kimi_memory import Memory, Opening
from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Card, CardType, Origin, Status
from kimi_memory.domain.pages import Proposal
from kimi_memory.formats.codec import render
from kimi_memory.hooks.host import Host
from kimi_memory.web.seats import OWNER
from tests.test_secrets import TOKEN, WORD, leaks

NOW = datetime(2026, 2, 27, tzinfo=UTC)


def held(pages: Pages) -> str:
    return Reader(pages.read("/ui/held")).said


def fields(text: str) -> dict[str, str]:
    """Return the hidden fields of the form in which a page asks for a decision."""
    tags = Reader(text).tags
    return {str(a["name"]): str(a.get("value")) for tag, a in tags if a.get("type") == "hidden"}


def undo(pages: Pages, location: str) -> None:
    """Press Undo on the page that a decision led to."""
    shown = pages.read(location)
    forms = [str(a["action"]) for tag, a in Reader(shown).tags if tag == "form"]
    [action] = [one for one in forms if one.endswith("/undo")]
    answer = pages.post(action, {"back": fields(shown)["back"]})
    assert answer.status_code == 303
    assert "again what it was" in pages.read(answer.headers["location"])


def add_card(pages: Pages, slug: str, value: str, **fields: object) -> None:
    """Write a card and take it for the owner's own."""
    card = Card(
        id=f"card-{slug}", title=value, value=value, type=CardType.FACT, created=NOW, updated=NOW,
        **{"key": slug, "confidence": 0.6, "trust": Origin.HUMAN, **fields},
    )  # fmt: skip
    path = pages.root / f"semantic/general/{slug}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render(card), encoding="utf-8")
    opening = Opening(home=pages.home, host=Host(entry_points=False), background=False)
    with Memory.open(pages.root, opening) as memory:
        memory.store.reconcile()
        memory.take_edits()


def test_what_is_forgotten_was_shown_before_and_comes_back(fresh: Pages) -> None:
    assert "6543" in held(fresh)
    shown = fresh.read("/ui/forget?key=staging.port")
    assert "staging.port" in shown
    assert "6543" in held(fresh)
    answer = fresh.post("/ui/forget", {"key": "staging.port", "why": "moved"})
    assert answer.status_code == 303
    assert "6543" not in held(fresh)
    undo(fresh, answer.headers["location"])
    assert "6543" in held(fresh)


def test_several_notes_are_forgotten_at_once(fresh: Pages) -> None:
    listed = Reader(fresh.read("/ui/held")).tags
    ids = [str(a["value"]) for tag, a in listed if a.get("type") == "checkbox"]
    assert len(ids) >= 3
    query = "&".join(f"note={id}" for id in ids[:2])
    assert all(id in fresh.read(f"/ui/forget?{query}") for id in ids[:2])
    fresh.post("/ui/forget", {"note": ids[:2]})
    left = fresh.read("/ui/held")
    assert not any(id in left for id in ids[:2])
    assert ids[2] in left


def test_a_purge_needs_its_word_and_leaves_a_receipt(fresh: Pages) -> None:
    fresh.sit()
    first = fresh.post("/ui/purge", {"text": "staging port is 6543"})
    assert "Type DESTROY" in first.text
    assert "<mark>staging port is 6543</mark>" in first.text
    # Of a turn its words alone, not the record of the file that holds them.
    assert "&#34;kind&#34;" not in first.text
    wrong = fresh.post("/ui/purge", {"text": "staging port is 6543", "word": "yes"})
    assert wrong.status_code == 400
    assert "6543" in held(fresh)
    gone = fresh.post("/ui/purge", {"text": "staging port is 6543", "word": "销毁"})
    assert gone.status_code == 200
    assert "Receipt" in gone.text
    assert "6543" not in gone.text
    assert "6543" not in held(fresh)
    assert b"6543 " not in b"".join(p.read_bytes() for p in fresh.root.rglob("*.md"))


def test_a_candidate_is_accepted_in_other_words_and_given_back(fresh: Pages) -> None:
    add_card(fresh, "tea", "They drink tea.", status=Status.CANDIDATE)
    shown = fresh.read("/ui/review")
    form = fields(shown) | {"do": "accept", "text": "They drink green tea."}
    assert form["id"] == "card-tea"
    answer = fresh.post("/ui/review", form)
    assert answer.status_code == 303, answer.text
    assert "They drink green tea." in held(fresh)
    undo(fresh, answer.headers["location"])
    assert "They drink green tea." not in held(fresh)


def test_a_candidate_is_rejected(fresh: Pages) -> None:
    add_card(fresh, "tea", "They drink tea.", status=Status.CANDIDATE)
    form = fields(fresh.read("/ui/review"))
    assert fresh.post("/ui/review", {**form, "do": "reject"}).status_code == 303
    assert "card-tea" not in fresh.read("/ui/review")
    assert "They drink tea." not in held(fresh)


def test_a_decision_about_what_has_changed_is_refused(fresh: Pages) -> None:
    add_card(fresh, "tea", "They drink tea.", status=Status.CANDIDATE)
    form = fields(fresh.read("/ui/review")) | {"do": "accept", "was": "0-long ago"}
    answer = fresh.post("/ui/review", form)
    assert (answer.status_code, "Read it again" in answer.text) == (400, True)
    assert fresh.post("/ui/review", {**form, "do": "burn"}).status_code == 400
    assert fresh.post("/ui/review", {**form, "id": "card-none"}).status_code == 404


def test_words_that_were_swapped_for_others_of_their_length_are_not_accepted(fresh: Pages) -> None:
    add_card(fresh, "tea", "They drink black tea.", status=Status.CANDIDATE)
    form = fields(fresh.read("/ui/review")) | {"do": "accept"}
    path = fresh.root / "semantic/general/tea.md"
    path.write_text(path.read_text("utf-8").replace("black tea", "bleach it"), "utf-8")
    answer = fresh.post("/ui/review", form)
    assert (answer.status_code, "Read it again" in answer.text) == (400, True)
    assert "bleach" in fresh.read("/ui/review"), "it goes on waiting"


def test_no_form_lets_a_secret_in(fresh: Pages) -> None:
    for slug in ("tea", "milk"):
        add_card(fresh, slug, f"They drink {slug}.", status=Status.CANDIDATE)
    for slug, value in (("port-a", "The port is 8080."), ("port-b", "The port is 8081.")):
        add_card(fresh, slug, value, key="deploy.port", status=Status.CONFLICTED)
    said = f"It is {TOKEN} and pw: {WORD}"
    sent: list[tuple[str, dict[str, str]]] = [
        ("/ui/note/card-port-a", {"value": said, "sure": "1"}),
        ("/ui/conflicts", fields(fresh.read("/ui/conflicts")) | {"do": "value", "value": said}),
    ]
    for way in ("accept", "reject"):
        answers = {"do": way, "text": said, "why": said}
        sent.append(
            ("/ui/review", fields(fresh.read("/ui/review?at=" + "01"[way == "reject"])) | answers)
        )
    sent += [
        ("/ui/forget", {"key": "staging.port", "why": said}),
        ("/ui/forget", {"query": said, "why": said}),
        ("/ui/forget", {"key": TOKEN, "session": TOKEN, "why": said}),
        ("/ui/purge", {"text": said, "session": TOKEN}),
        ("/ui/jobs", {"kind": TOKEN}),
        ("/ui/language", {"lang": TOKEN, "back": TOKEN}),
    ]
    done = [fresh.post(path, form).status_code for path, form in sent]
    fresh.read(f"/ui/search?q={TOKEN}")
    fresh.read(f"/ui/held?q={TOKEN}&project={TOKEN}")
    assert done.count(303) >= 6, done
    assert leaks(fresh.root) == []


def test_a_contradiction_is_settled_by_one_side(fresh: Pages) -> None:
    for slug, value in (("port-a", "The port is 8080."), ("port-b", "The port is 8081.")):
        add_card(fresh, slug, value, key="deploy.port", status=Status.CONFLICTED)
    shown = fresh.read("/ui/conflicts")
    assert "8080" in shown
    assert "8081" in shown
    form = fields(shown)
    assert fresh.post("/ui/conflicts", {**form, "do": "value"}).status_code == 400
    answer = fresh.post("/ui/conflicts", {**form, "keep": "card-port-b", "value": "not this"})
    assert answer.status_code == 303, answer.text
    assert "8080" not in held(fresh)
    undo(fresh, answer.headers["location"])
    assert "8080" in fresh.read("/ui/conflicts")
    both = fresh.post("/ui/conflicts", {**form, "do": "both", "since": "2026-02-20"})
    assert both.status_code == 303, both.text
    assert "Nothing contradicts" in fresh.read("/ui/conflicts")


def test_a_statement_is_corrected_after_a_look(fresh: Pages) -> None:
    listed = Reader(fresh.read("/ui/held?project=apollo")).links()
    [note] = [link for link in listed if link.startswith("/ui/note/")]
    shown = fresh.post(note, {"value": "The staging port is 7654."})
    assert shown.status_code == 200
    assert "7654" in shown.text
    assert "7654" not in held(fresh)
    answer = fresh.post(note, {"value": "The staging port is 7654.", "sure": "1"})
    assert answer.status_code == 303, answer.text
    now = Reader(fresh.read(answer.headers["location"])).said
    assert "What was so under this key" in now
    assert "✓ The words stand there" in now
    assert "6543" not in held(fresh)
    undo(fresh, answer.headers["location"])
    assert "6543" in held(fresh)


def test_every_field_of_a_card_is_edited_after_a_look(fresh: Pages) -> None:
    listed = Reader(fresh.read("/ui/held?project=apollo")).links()
    [note] = [link for link in listed if link.startswith("/ui/note/")]
    before = fresh.read(note)
    sent = fields(before) | {
        "value": "The staging port is 6543.", "type": "rule", "key": "ports.staging",
        "project": "", "scope": "user:林夏", "tags": "ops，端口 号", "status": "stale",
        "valid_from": "2026-01-05", "valid_to": "2027-01-05", "confidence": "0.70",
    }  # fmt: skip
    shown = fresh.post(note, sent)
    assert shown.status_code == 200, shown.text
    assert "+type: rule" in re.sub("<[^>]*>", "", shown.text.replace("<ins>", "+"))
    assert "staging.port" in fresh.read(note), "nothing was done yet"
    answer = fresh.post(note, sent | {"sure": "1"})
    assert answer.status_code == 303, answer.text
    assert note in answer.headers["location"], "the same card"
    now = read_card(fresh.read(note))
    told = {name: sent[name] for name in sent if name in now and name not in ("was", "tags")}
    assert {name: now[name] for name in told} == told
    assert (now["tags"], now["chosen"]) == ("ops, 端口-号", ["rule", "stale"])
    undo(fresh, answer.headers["location"])
    assert read_card(fresh.read(note)) == read_card(before)


def read_card(text: str) -> dict[str, object]:
    """Return what the form of a card holds."""
    tags = Reader(text).tags
    held = {str(a.get("name")): a.get("value") for tag, a in tags if tag == "input"}
    chosen = [a.get("value") for tag, a in tags if tag == "option" and "selected" in a]
    return {**held, "chosen": chosen}


def test_a_field_that_cannot_be_so_is_refused_and_changes_nothing(fresh: Pages) -> None:
    listed = Reader(fresh.read("/ui/held?project=apollo")).links()
    [note] = [link for link in listed if link.startswith("/ui/note/")]
    value = "The staging port is 6543."
    for sent, said in [
        ({"type": "poem"}, "cannot stand there"),
        ({"confidence": "2"}, "from 0 to 1"),
        ({"valid_to": "soon"}, "is no date"),
        ({"key": "a b"}, "cannot be a key"),
        ({"scope": "me"}, "user:NAME"),
    ]:
        answer = fresh.post(note, {"value": value, "sure": "1", **sent})
        assert (answer.status_code, said in answer.text) == (400, True), answer.text
    assert read_card(fresh.read(note))["key"] == "staging.port"


def test_all_of_a_kind_are_accepted_and_given_back_together(fresh: Pages) -> None:
    for slug in ("tea", "milk", "rice"):
        add_card(fresh, slug, f"They have {slug}.", status=Status.CANDIDATE)
    page = fresh.read("/ui/review")
    assert waits(page)["/ui/review"] == "3"
    assert "/ui/review/all?kind=line" in Reader(page).links()
    shown = fresh.read("/ui/review/all?kind=line")
    assert all(f"They have {slug}." in shown for slug in ("tea", "milk", "rice"))
    form = fields(shown)
    stale = fresh.post("/ui/review/all", form | {"was": "0-long ago"})
    assert (stale.status_code, "Read them again" in stale.text) == (400, True)
    answer = fresh.post("/ui/review/all", form)
    assert answer.status_code == 303, answer.text
    after = fresh.read(answer.headers["location"])
    assert "/ui/review" not in waits(after)
    assert all(f"They have {slug}." in held(fresh) for slug in ("tea", "milk", "rice"))
    jobs = [str(a["value"]) for _, a in Reader(after).tags if a.get("name") == "job"]
    assert len(jobs) == 2
    [action] = [str(a["action"]) for t, a in Reader(after).tags if t == "form" and "undo" in str(a)]
    assert fresh.post(action, {"back": "/review", "job": jobs}).status_code == 303
    assert waits(fresh.read("/ui/review"))["/ui/review"] == "3"
    assert fresh.get("/ui/review/all?kind=file").status_code == 400


def waits(text: str) -> dict[str, str]:
    """Return the counts in the navigation, by the address of their page."""
    found = re.findall(r'<a href="([^"]*)" data-key[^>]*>[^<]*<b title="[^"]*">(\d+)</b>', text)
    return dict(found)


def test_decisions_are_those_of_a_person(fresh: Pages) -> None:
    fresh.sit()
    fresh.post("/ui/forget", {"key": "staging.port"})
    records = b"".join(path.read_bytes() for path in (fresh.root / ".kimi/journal").iterdir())
    assert b"web:owner" in records or b"job:forget" in records
    assert OWNER.actor == Actor("web:owner", Origin.HUMAN)


def test_the_section_a_proposal_goes_to_is_named_as_its_heading(fresh: Pages) -> None:
    waiting = Proposal(
        id="proposal-b", created=NOW, updated=NOW, title="Ask first",
        target="long-term/IDENTITY.md",
        section="beliefs", text="I ask before I delete.", reason="it was said twice",
    )  # fmt: skip
    path = fresh.root / "review/b.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(render(waiting), encoding="utf-8")
    opening = Opening(home=fresh.home, host=Host(entry_points=False), background=False)
    with Memory.open(fresh.root, opening) as memory:
        memory.store.reconcile()
    assert "§ what it believes" in fresh.read("/ui/review")
    fresh.post("/ui/language", {"lang": "zh"})
    assert "§ 我相信什么" in fresh.read("/ui/review")
