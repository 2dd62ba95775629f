"""Decisions in a real browser: by keys, without JavaScript, beside others who write.

Needs Chromium and ``pip install 'kimi-memory[browser]'``; ``make test-browser`` runs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fakes.browsing import follow, opening, sit_down, stop_clock
from fakes.served import Served, serving

from kimi_memory import Memory
from kimi_memory.domain.job import Create
from kimi_memory.domain.note import Card, CardType, Note, Status
from kimi_memory.domain.pages import Proposal
from kimi_memory.formats import codec

pytestmark = [pytest.mark.browser, pytest.mark.timeout(1200)]
WAIT = 11
AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    """A memory of one's own, in which eleven proposals and a contradiction wait."""
    with serving(tmp_path) as start:
        there = Served(tmp_path / "own", tmp_path / "home")
        with Memory.create(there.root, name="小灶", opening=opening(there)) as memory:
            memory.remember("My editor is Helix, so no VS Code.", key="preference.editor")
            notes: dict[str, Note] = {f"semantic/{n}.md": port(n) for n in ("8080", "8081")}
            notes |= {f"review/{n:02d}.md": propose(n) for n in range(WAIT)}
            made = [Create(path, codec.render(note).encode()) for path, note in notes.items()]
            memory.store.apply(made, memory.actor)
        yield start(there.root, there.home)


def propose(number: int) -> Proposal:
    return Proposal(
        id=f"proposal-{number:02d}", created=AT, updated=AT, title=f"周五不要发版 {number}",
        target="long-term/IDENTITY.md", section="beliefs", text=f"Never deploy on day {number}.",
        reason="it was said twice",
    )  # fmt: skip


def port(value: str) -> Card:
    return Card(
        id=f"card-{value}", created=AT, updated=AT, title=value, type=CardType.FACT,
        key="deploy.port", value=f"The port is {value}.", status=Status.CONFLICTED,
    )  # fmt: skip


def file_of(root: Path, word: str) -> Path:
    """Return the file of the card that says a word."""
    for path in (root / "semantic").rglob("*.md"):
        text = path.read_text("utf-8")
        if word in text and "kind: card" in text:
            return path
    raise AssertionError(word)


def press(tab: Any, key: str, said: str) -> None:
    """Press a key, and look at the page that says what was done."""
    with tab.expect_navigation():
        tab.keyboard.press(key)
    assert f"said={said}" in tab.url, tab.inner_text("main")


def where(tab: Any) -> str:
    return str(tab.inner_text("h1 small"))


def test_eleven_proposals_are_decided_by_a_key_each_with_one_undo(
    own: Served, browser: Any
) -> None:
    tab = sit_down(browser, own)
    stop_clock(tab)
    tab.keyboard.press("g")
    tab.keyboard.press("r")
    tab.wait_for_url("**/ui/review")
    total = int(where(tab).split(" of ")[1])
    assert total == WAIT
    pressed = 0
    for number in range(total):
        key, said = ("x", "rejected") if number % 3 == 2 else ("a", "accepted")
        press(tab, key, said)
        pressed += 1
        if number == 1:
            left = where(tab)
            press(tab, "z", "undone")
            assert where(tab) != left
            press(tab, "a", "accepted")
            assert where(tab) == left
            pressed += 2
    # Thirteen keys and no click: a person needs less than a minute.
    assert pressed == total + 2
    assert "Nothing waits for you" in tab.inner_text("main")
    assert not tab.problems
    with Memory.open(own.root, opening(own)) as memory:
        beliefs = memory.store.read("long-term/IDENTITY.md").decode()
    assert "Never deploy on day 0." in beliefs
    assert "Never deploy on day 2." not in beliefs


def test_a_contradiction_is_settled_by_its_number(own: Served, browser: Any) -> None:
    tab = sit_down(browser, own)
    stop_clock(tab)
    tab.keyboard.press("g")
    tab.keyboard.press("c")
    tab.wait_for_url("**/ui/conflicts")
    first = tab.inner_text(".side .statement >> nth=0")
    tab.keyboard.press("1")
    tab.wait_for_url("**said=settled**")
    tab.goto(f"{own.url}/ui/held?q=port")
    assert first in tab.inner_text("main")
    tab.go_back()
    assert "said=settled" in tab.url
    tab.keyboard.press("z")
    tab.wait_for_url("**said=undone**")
    assert "8080" in tab.inner_text("main")
    assert "8081" in tab.inner_text("main")


def test_a_correction_of_a_card_that_changed_is_not_made(own: Served, browser: Any) -> None:
    tab = sit_down(browser, own)
    tab.goto(f"{own.url}/ui/held?q=Helix")
    follow(tab, ".row .statement a", "**/ui/note/**")
    tab.keyboard.press("e")
    tab.fill("textarea", "My editor is Zed.")
    path = file_of(own.root, "Helix")
    path.write_text(path.read_text("utf-8").replace("Helix", "Kakoune"), "utf-8")
    tab.click("main form button.main")
    tab.wait_for_selector("text=It was changed after you had opened it")
    assert "Kakoune" in tab.inner_text("main")
    assert tab.input_value("textarea") == "My editor is Zed."
    tab.click("main form button.main")
    tab.wait_for_selector(".diff")
    follow(tab, "main form button.main", "**said=corrected**")
    assert "Zed" in tab.inner_text("h1")


@pytest.mark.parametrize(("locale", "width"), [("en-GB", 1100), ("zh-CN", 390)])
def test_a_card_is_corrected_in_one_form_by_keys_and_taken_back(
    own: Served, browser: Any, locale: str, width: int
) -> None:
    path = file_of(own.root, "Helix")
    before = path.read_bytes()
    tab = sit_down(browser, own, locale=locale, viewport={"width": width, "height": 800})
    tab.goto(f"{own.url}/ui/held?q=Helix")
    follow(tab, ".row .statement a", "**/ui/note/**")
    tab.keyboard.press("e")
    assert tab.evaluate("document.activeElement.tagName") == "TEXTAREA"
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.fill("textarea", "My editor is Zed, on every machine.")
    tab.select_option("select[name=type]", "rule")
    tab.fill("input[name=tags]", "编辑器, desk")
    with tab.expect_navigation():
        tab.keyboard.press("Control+s")
    shown = tab.inner_text("main")
    assert "Helix" in shown
    assert "Zed, on every machine" in shown
    assert path.read_bytes() == before
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    press(tab, "s", "corrected")
    assert "Zed" in tab.inner_text("h1")
    made = file_of(own.root, "Zed").read_text("utf-8")
    assert "type: rule" in made
    assert "  - 编辑器" in made
    press(tab, "z", "undone")
    assert path.read_bytes() == before
    assert "Helix" in tab.inner_text("main")
    assert not tab.problems


def test_news_is_named_and_loaded_by_the_person_alone(own: Served, browser: Any) -> None:
    tab = sit_down(browser, own)
    tab.goto(f"{own.url}/ui/held")
    before = where(tab)
    with Memory.open(own.root, opening(own)) as memory:
        memory.remember("Tea is green.", key="tea")
    tab.wait_for_selector("#news:visible")
    assert "new" in tab.inner_text("#news")
    assert where(tab) == before
    with tab.expect_navigation():
        tab.click("#news")
    assert where(tab) != before
    assert tab.is_hidden("#news")


def test_eight_tabs_stay_open_beside_each_other(own: Served, browser: Any) -> None:
    first = sit_down(browser, own)
    tabs = [first, *(first.context.new_page() for _ in range(7))]
    for number, tab in enumerate(tabs):
        page = ("held", "timeline", "graph", "usage")[number % 4]
        tab.goto(f"{own.url}/ui/{page}")
        assert tab.is_visible("h1")
    follow(tabs[-1], "nav a >> nth=0", f"{own.url}/ui/")


def test_without_javascript_everything_can_be_decided(own: Served, browser: Any) -> None:
    tab = sit_down(browser, own, java_script_enabled=False)
    tab.goto(f"{own.url}/ui/conflicts")
    follow(tab, "button[name=keep] >> nth=0", "**said=settled**")
    tab.goto(f"{own.url}/ui/review")
    follow(tab, "button[value=reject]", "**said=rejected**")
    tab.goto(f"{own.url}/ui/held?q=Helix")
    follow(tab, ".row .statement a", "**/ui/note/**")
    tab.click("summary:has-text('Correct')")
    tab.fill("textarea", "My editor is Zed.")
    tab.click("details button.main")
    tab.wait_for_selector(".diff")
    follow(tab, "form.decide button.main", "**said=corrected**")
    tab.goto(f"{own.url}/ui/jobs")
    tab.click(".runs button >> nth=1")
    tab.wait_for_selector("h1:has-text('What it would do')")
    assert "dry" not in tab.url
    tab.goto(f"{own.url}/ui/graph")
    follow(tab, ".row .statement a >> nth=0", "**/ui/graph?id=**")
    tab.select_option("select[name=hops]", "3")
    follow(tab, "form.filter button.main", "**hops=3**")
    assert tab.is_visible("svg.net")
    tab.goto(f"{own.url}/ui/purge")
    tab.fill("textarea[name=text]", "Helix")
    tab.click("form.decide button >> nth=0")
    tab.fill("input[name=word]", "DESTROY")
    tab.click("button.danger")
    tab.wait_for_selector("h2:has-text('Destroyed')")
