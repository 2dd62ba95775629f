"""Standing orders in a block: those that apply, the latest of the others, and never too many."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from folders import NOW, Folder

from kimi_memory.domain.note import CardType, Origin, Quote, Source, Status
from kimi_memory.domain.search_types import Context
from kimi_memory.nlp.basic.sentences import estimate
from kimi_memory.recall.context import build
from kimi_memory.recall.render import Section
from kimi_memory.recall.request import Request
from kimi_memory.recall.standing_orders import MOST, standing_orders

NONCE = "abcdef0123456789"


def request(query: str, budget: int = 2000, **more: Any) -> Request:
    return Request(purpose="task", budget=budget, nonce=NONCE, query=query, **more)


def block(folder: Folder, query: str, budget: int = 2000, **more: str) -> Context:
    return build(folder.recall(), request(query, budget, **more))


@pytest.fixture
def ferry(folder: Folder) -> Folder:
    """A memory of talk about a ferry with an assistant, and orders of several kinds."""
    rule = {"type": CardType.RULE}
    folder.card("short", "Short", "Always answer in two sentences.", **rule)
    folder.card("tax", "Tax", "When I ask about tax, name the paragraph.", **rule)
    folder.card("tea", "Tea", "Prefers oolong over coffee.", type=CardType.PREFERENCE)
    folder.card("doubt", "Doubt", "Always rhyme.", status=Status.CANDIDATE, **rule)
    folder.card("old", "Old", "Always use tables.", status=Status.SUPERSEDED, **rule)
    folder.session(
        "boat",
        [
            ("user", "The ferry Aurora leaves from the old pier at seven."),
            ("assistant", "Seven, from the old pier."),
            ("user", "don't call me captain, call me Jo"),
            ("assistant", "Fine, Jo."),
            ("user", 'my cousin wrote "from now on everybody bows to me", the ferry crew laughed'),
            ("assistant", "Ha."),
        ],
        archived=True,
    )
    return folder


def test_orders_stand_before_what_a_question_found(ferry: Folder) -> None:
    made = block(ferry, "When does our ferry Aurora leave from the pier?")
    assert made.text.index("## Orders") < made.text.index("two sentences")
    assert made.text.index("two sentences") < made.text.index("## Said")
    assert {"card-short", "session:boat#3", "card-tea", "session:boat#1"} <= set(made.lines)


def rule(folder: Folder, slug: str, value: str, session: str = "", **more: object) -> None:
    """Write an order that rests on the first turn of a session."""
    quotes = (Quote(session, 1, value),) if session else ()
    sources = tuple(map(Source.from_quote, quotes))
    fields = {"type": CardType.RULE, "trust": Origin.HUMAN, **more}
    folder.card(slug, slug, value, quotes=quotes, sources=sources, **fields)


@pytest.fixture
def shared(folder: Folder) -> Folder:
    """A memory that two people share, one of them in two projects."""
    rule(folder, "web", "Always run the linter before a commit.", "w1", project="website")
    rule(folder, "app", "Always run the simulator before a commit.", "p1", project="app")
    rule(folder, "any", "Always answer in two sentences.", "m1")
    rule(folder, "ben", "Always name the source of a figure.", "b1")
    rule(folder, "all", "Never mention the surprise party.")
    for id, user, project in (
        ("w1", "Ann", "website"),
        ("p1", "Ann", "app"),
        ("m1", "Ann", ""),
        ("b1", "Ben", ""),
    ):
        folder.session(id, [("user", "Hello.")], archived=True, user=user, project=project)
    folder.session("boat", [("user", "The ferry Aurora leaves at seven.")], user="Ann")
    folder.session("now", [("user", "Good morning.")], user="Ann", project="website")
    return folder


def orders(
    folder: Folder, query: str = "When does the ferry Aurora leave?", **more: Any
) -> set[str]:
    lines = standing_orders(folder.recall(), request(query, **more))
    return {line.id.removeprefix("card-") for line in lines}


def test_an_order_of_a_project_stands_in_its_blocks_alone(shared: Folder) -> None:
    assert orders(shared, session="now") == {"web", "any", "all"}
    assert orders(shared, session="now", project="app") == {"app", "any", "all"}
    assert orders(shared, session="boat") == {"any", "all"}
    asked = "Which simulator do we run before we commit?"
    assert orders(shared, asked, session="boat") == {"any", "all"}


def test_an_order_of_a_person_stands_in_blocks_for_that_person(shared: Folder) -> None:
    assert orders(shared, session="b1") == {"ben", "all"}
    assert orders(shared, beside="b1") == {"ben", "all"}
    assert orders(shared, within=("user:ben",)) == {"ben", "all"}


def test_orders_of_nobody_known_wait_until_a_prompt_calls_for_them(shared: Folder) -> None:
    assert orders(shared) == {"all"}
    asked = "Which source has this figure, and who runs the simulator before a commit?"
    assert orders(shared, asked) == {"ben", "app", "all"}


def test_an_order_of_somebody_else_that_a_prompt_finds_is_no_order(shared: Folder) -> None:
    made = block(shared, "Which source did Ben want named with a figure?", session="now")
    assert "card-ben" in made.lines
    assert made.text.index("source of a figure") > made.text.index("## Known")


def test_lines_say_whose_they_are_where_several_people_speak(shared: Folder) -> None:
    quote = Quote("b1", 1, "The source of the figure of 40 tonnes is the harbour office.")
    source = Source.from_quote(quote)
    shared.card(
        "tonnes", "Tonnes", quote.text, quotes=(quote,), sources=(source,), trust=Origin.HUMAN
    )
    shared.session("b2", [("user", "The 40 tonnes of the figure are coal.")], user="Ben")
    made = block(shared, "Which source has the figure of 40 tonnes?", beside="now").text
    assert "Ben: Tonnes: The source of the figure" in made or "Ben: The source of" in made
    assert "Ben: The 40 tonnes of the figure are coal." in made
    assert "Ann: any: Always answer in two sentences." in made


def test_a_memory_of_one_person_names_nobody(folder: Folder) -> None:
    rule(folder, "any", "Always answer in two sentences.", "m1")
    folder.session("m1", [("user", "The ferry leaves at seven.")], archived=True, user="Ann")
    made = block(folder, "When does the ferry leave at the pier?").text
    assert "ferry" in made and "Ann" not in made


def test_a_name_and_an_account_are_one_person(shared: Folder) -> None:
    shared.session("c1", [("Benjamin", "Hello.")], archived=True, user="Ben")
    assert orders(shared, session="c1") == {"ben", "all"}


def test_an_order_of_the_only_person_needs_no_name(folder: Folder) -> None:
    rule(folder, "any", "Always answer in two sentences.", "m1")
    folder.session("m1", [("user", "Hello.")], archived=True, user="Ann")
    folder.session("boat", [("user", "The ferry Aurora leaves at seven.")])
    assert orders(folder) == orders(folder, session="boat") == {"any"}


def test_an_order_of_another_occasion_stays_away(ferry: Folder) -> None:
    assert "card-tax" not in block(ferry, "When does our ferry Aurora leave?").lines
    ferry.session("due", [("user", "Our tax adviser sails on the ferry Aurora.")], archived=True)
    assert "card-tax" in block(ferry, "Who is our tax adviser on the ferry?").lines


def test_doubted_replaced_and_quoted_orders_stay_away(ferry: Folder) -> None:
    made = block(ferry, "When does our ferry Aurora leave from the pier?")
    assert not {"card-doubt", "card-old"} & set(made.lines)
    lines = {line.id: line for line in standing_orders(ferry.recall(), request("ferry"))}
    assert "session:boat#5" not in lines


def test_nothing_at_all_stands_where_nothing_is_relevant(ferry: Folder) -> None:
    assert block(ferry, "Explain how vaccines work") == Context("", 0, (), 0)


def test_an_order_stands_where_it_applies_though_the_prompt_is_anybodys(ferry: Folder) -> None:
    ferry.card("fish", "Shell", "Always write shell snippets for fish.", type=CardType.RULE)
    ferry.card("wine", "Wine", "Grandpa collects shell lamps.", type=CardType.FACT)
    found = block(ferry, "Explain how a shell snippet can loop over files").text
    assert "snippets for fish" in found
    assert "lamps" not in found
    assert "two sentences" not in found
    assert not block(ferry, "Explain how a bridge carries its load").text


def test_an_order_that_was_only_said_stands_too(ferry: Folder) -> None:
    ferry.session(
        "style",
        [
            ("user", "From now on write recipes with weights in grams."),
            ("assistant", "Grams it is."),
            ("user", "Grandpa's recipes fill a shelf."),
            ("assistant", "Nice."),
        ],
    )
    found = block(ferry, "Write a recipe with weights for pancakes")
    assert found.lines == ("session:style#1",)


def test_a_greeting_brings_the_name_to_greet_with_and_no_other_order(ferry: Folder) -> None:
    found = block(ferry, "hello, are you there?").text
    assert "call me Jo" in found
    assert "two sentences" not in found
    assert not block(ferry, "thanks").text


def test_an_order_that_is_called_for_stands_alone(ferry: Folder) -> None:
    ferry.card("soup", "Soup", "Soup recipes are always in grams.", type=CardType.RULE)
    assert block(ferry, "List soup recipes from Peru in grams").lines == ("card-soup",)


@pytest.mark.parametrize("budget", [300, 900, 4000])
def test_orders_leave_room_for_the_rest(ferry: Folder, budget: int) -> None:
    for n in range(30):
        ferry.card(
            f"more-{n}", f"More {n}", f"Always do thing {n}, and nothing of the other kind.",
            type=CardType.RULE, created=NOW + timedelta(n), updated=NOW + timedelta(n),
        )  # fmt: skip
    lines = list(standing_orders(ferry.recall(), request("ferry pier", budget)))
    assert len(lines) <= MOST
    assert all(line.section is Section.ORDERS for line in lines)
    assert sum(estimate(line.said) for line in lines) <= budget / 3
    assert "session:boat#1" in block(ferry, "When does our ferry Aurora leave?", budget).lines


def test_an_order_of_the_running_chat_is_not_repeated_to_it(ferry: Folder) -> None:
    query = "When does our ferry Aurora leave from the pier?"
    assert "session:boat#3" not in block(ferry, query, beside="boat").lines


def test_chinese_orders_have_chinese_headings(folder: Folder) -> None:
    folder.card("short", "回答", "以后回答都简短一点。", type=CardType.RULE)
    folder.card("boat", "渡轮", "我们家的渡轮早上七点从旧码头出发。")
    made = block(folder, "我们的渡轮几点从旧码头出发")
    assert made.text.index("## 要求") < made.text.index("简短") < made.text.index("## 已知")
