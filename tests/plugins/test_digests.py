"""The digest of a session by rules: which words of which turns become lines."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.pages import DigestLine, Part
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.hooks.host import Host
from kimi_memory.nlp.basic.sentences import estimate

NOON = datetime(2026, 2, 27, 12, 0, tzinfo=UTC)
ROLES = {"user": Role.USER, "agent": Role.ASSISTANT, "tool": Role.TOOL}
ORIGINS = {"user": Origin.HUMAN, "agent": Origin.AGENT, "tool": Origin.TOOL}


WORKING = [
    ("user", "Please mend `reader.py`."),
    ("agent", "Reading `reader.py`."),
    ("agent", "Reading on."),
    ("agent", "Found 1 thing."),
    ("agent", "Mending it."),
]
"""How a session with an agent at work begins."""


def digest(*spoken: tuple[str, str]) -> list[DigestLine]:
    """Return the digest of turns given as (who, words); any other name is a person's."""
    turns = tuple(
        Turn(
            n,
            NOON,
            ROLES.get(who, Role.USER),
            text,
            speaker="" if who in ROLES else who,
            origin=ORIGINS.get(who, Origin.HUMAN),
        )
        for n, (who, text) in enumerate(spoken, 1)
    )
    transcript = Transcript(Session("s1", NOON), turns)
    return Host(entry_points=False).answer("digest_session", transcript=transcript)


def test_what_a_person_tells_is_kept_and_what_they_ask_is_not() -> None:
    lines = digest(
        ("user", "I'm restoring a 1974 sailboat in Ystad this year, where do i start?"),
        ("agent", "Start with the hull."),
        ("user", "the hull is oak, my uncle Karl checked it in May. is oak good?"),
        ("agent", "Oak is fine."),
        ("user", "thanks, good night!"),
    )
    assert [(line.text, line.first) for line in lines] == [
        ("I'm restoring a 1974 sailboat in Ystad this year", 1),
        ("the hull is oak, my uncle Karl checked it in May.", 3),
    ]


def test_an_order_has_a_section_of_its_own() -> None:
    lines = digest(
        ("user", "帮我看看这个合同"),
        ("agent", "好的。"),
        ("user", "以后回答都先给结论，别超过三句"),
        ("agent", "明白。"),
    )
    assert [(line.part, line.text) for line in lines][-1:] == [
        (Part.ORDERED, "以后回答都先给结论，别超过三句")
    ]


def test_an_answer_stands_beside_the_offer_it_picks() -> None:
    steel = "New sheets of steel from the yard of my uncle Karl in Ystad, 40 years of warranty."
    lines = digest(
        ("user", "our shed roof leaks above the freezer"),
        ("agent", f"Two ways:\n\nOption A: Patch it with bitumen.\nOption B: {steel}"),
        ("user", "B, it should last"),
        ("agent", "Fine."),
    )
    (line,) = (line for line in lines if line.last == 3)
    assert (line.text, line.first) == (f"{steel} → B, it should last", 2)


def test_an_agent_at_work_accounts_for_what_was_wanted() -> None:
    lines = digest(
        ("user", "The nightly export should only write UTF-8, as our readers need the umlauts."),
        ("agent", "Let me look at the exporter."),
        ("agent", "Let me run the tests."),
        ("agent", "Now I'll check the writer."),
        ("agent", "Fixed. The cause: `export.py` opened the file as latin-1 instead of UTF-8."),
    )
    (line,) = lines
    assert line.text.startswith(
        "The nightly export should only write UTF-8, as our readers need the umlauts. → "
    )
    assert "The cause: `export.py` opened the file as latin-1" in line.text
    assert (line.first, line.last) == (1, 5)


def test_two_people_are_named_and_their_encouragement_is_left_out() -> None:
    lines = digest(
        ("Ben", "I sold my van and bought a cargo bike from Rotterdam last week."),
        ("Ida", "Wow, that's amazing! I'm so proud of you!"),
        ("Ben", "Thanks, you're the best!"),
    )
    assert [(line.who, line.text) for line in lines] == [
        ("Ben", "I sold my van and bought a cargo bike from Rotterdam last week.")
    ]


def test_pasted_words_are_not_quoted_as_the_persons() -> None:
    lines = digest(
        ("user", 'my landlord wrote "every tenant must repaint the walls at their own cost", hm'),
        ("agent", "He cannot ask that."),
    )
    assert not any("repaint" in line.text for line in lines)


@pytest.mark.parametrize(("turns", "most"), [(16, 400), (30, 680), (90, 1000)])
def test_a_digest_fits_its_budget(turns: int, most: int) -> None:
    spoken = [
        (
            "user",
            f"In week {n} we planted {n} rows of beet {n * 7} near the old mill at Ohlau, and"
            f" my uncle Karl counted {n * 90} of them in June, {n * 3} rows more than last year.",
        )
        for n in range(1, turns + 1)
    ]
    tokens = sum(estimate(line.text) for line in digest(*spoken))
    assert 0.8 * most < tokens <= most


def test_each_errand_of_an_agent_at_work_makes_room_for_its_outcome() -> None:
    spoken = [
        turn
        for n in range(1, 21)
        for turn in (
            ("user", f"The pump of well {n} near Ohlau stops at {n} bar, please find out why."),
            ("agent", f"Reading `well_{n}.py`."),
            ("agent", f"Root cause: `well_{n}.py` closes valve {n} when 2 clocks disagree."),
        )
    ]
    lines = digest(*spoken)
    assert sum("→ Root cause" in line.text for line in lines) == 20
    assert 400 < sum(estimate(line.text) for line in lines) <= 1000


def test_a_picked_option_stands_with_what_was_asked() -> None:
    lines = digest(
        *WORKING,
        ("user", "I write a reader for the sonar files of the survey ship Orla."),
        (
            "agent",
            "Byte order of the header?\n\nA. Little endian, as the ship writes\nB. Big endian",
        ),
        ("user", "A"),
    )
    assert "Byte order of the header? → Little endian, as the ship writes" in [
        line.text for line in lines
    ]


def test_nothing_worth_a_line_gives_none() -> None:
    assert digest(("user", "hi"), ("agent", "Hello!"), ("user", "thanks, bye")) == []


def test_an_agents_account_has_the_room_that_is_left() -> None:
    lines = digest(
        (
            "user",
            "uploads should never wait for the server, so that users can go on in `upload.py`",
        ),
        ("agent", "Let me look."),
        ("agent", "Now the server."),
        ("agent", "The cause is that `Server` closes the socket too early."),
        ("tool", "ok"),
        ("agent", "Fixed. Moved `close` behind `flush` in `server.py`.\n\nAll 12 tests passed."),
    )
    (line,) = lines
    assert (line.first, line.last) == (1, 6)
    assert "The cause is that `Server` closes the socket too early." in line.text
    assert "Moved `close` behind `flush` in `server.py`." in line.text


def test_a_plan_handed_over_is_asked_by_its_title() -> None:
    plan = "Build what this plan says:\n\n# Plan: A cache for thumbnails\n\n" + "- a step\n" * 500
    lines = digest(
        ("user", plan),
        ("agent", "Let me read `cache.py`."),
        ("tool", "ok"),
        ("agent", "Reading on."),
        ("agent", "Running the tests."),
        ("agent", "Done. `ThumbnailCache` in `cache.py` holds 200 MB, and the oldest go first."),
    )
    assert lines[0].part is Part.ASKED
    assert lines[0].text.startswith("Build what this plan says … Plan: A cache for thumbnails")


def test_a_page_that_resumes_a_session_is_nobodys_request() -> None:
    page = "This session is being continued from a previous conversation.\n" + "- step\n" * 600
    lines = digest(
        ("user", page),
        ("agent", "Reading."),
        ("agent", "Looking."),
        ("agent", "Checking."),
        (
            "agent",
            "The root cause was `cache.py`: it never read `old_cache`, so each call took 40 ms.",
        ),
    )
    assert [line.part for line in lines] == [Part.FOUND]


def test_gossip_and_cheers_are_no_lines() -> None:
    lines = digest(
        ("user", "我同事小马说她要移民了"),
        ("agent", "这样啊。"),
        ("user", "隔壁的店用的是别家的系统，一年三千"),
        ("agent", "嗯。"),
    )
    assert lines == []
    cheers = digest(
        ("Ann", "Let's keep supporting each other through all these adventures!"),
        ("Ben", "My sister Kim opened a bakery in Leeds last week."),
    )
    assert [line.who for line in cheers] == ["Ben"]


@pytest.mark.parametrize(
    "aside",
    [
        "Here's a photo of the harbour from last week.",
        "Congrats on the deal with the brewery in Ghent!",
        "Don't be afraid of it, I'm 100% behind you!",
        "Been a busy month since we met at the market.",
        "恭喜你们店拿下两个大订单！",
    ],
)
def test_asides_of_friends_are_no_lines(aside: str) -> None:
    told = "We sold our oak boat to my uncle in March."
    lines = digest(("Ann", told), ("Ben", aside))
    assert [line.text for line in lines] == [told]


def test_an_offer_that_was_given_up_is_no_line() -> None:
    lines = digest(
        ("user", "how do i keep track of my stamps?"),
        ("agent", "1. A spreadsheet - free and flexible\n2. An app - quick"),
        ("user", "number 1 please"),
        ("agent", "Good."),
        ("user", "the spreadsheet is too slow after all, i take the app instead"),
        ("agent", "Fine."),
    )
    assert not any("flexible" in line.text for line in lines)


def test_what_is_said_of_everybody_is_a_wise_saying() -> None:
    lines = digest(
        ("Ann", "Old songs always bring us closer together."),
        ("Ben", "We recorded twelve old songs in my cellar in Riga last summer."),
    )
    assert [line.who for line in lines] == ["Ben"]


def test_what_is_said_to_an_agent_at_work_is_about_the_work() -> None:
    lines = digest(
        ("user", "The nightly export loses umlauts, make it write UTF-8."),
        ("agent", "Let me look."),
        ("agent", "Let me run it."),
        ("agent", "Done."),
        ("agent", "It runs."),
        (
            "user",
            "The archive should only hold UTF-8, and users should be able to see what is not.",
        ),
        ("agent", "Let me see."),
        ("user", "I'm allergic to latin-1, and I work as a librarian in Graz."),
    )
    parts = {line.text: line.part for line in lines}
    assert (
        parts["The archive should only hold UTF-8, and users should be able to see what is not."]
        is Part.ASKED
    )
    assert parts["I'm allergic to latin-1, and I work as a librarian in Graz."] is Part.TOLD


def test_what_a_session_is_about_stands_before_its_details() -> None:
    details = [f"The cellar of house {n} in Graz has {n} rooms with oak floors." for n in range(9)]
    lines = digest(("user", "I want to rent out a house.\n" + "\n".join(details)))
    assert lines[0].text.startswith("I want to rent out a house.")


def test_words_of_the_agent_are_not_the_persons() -> None:
    said = "The harbour office in Kiel opens at 8 and keeps 40 berths."
    lines = digest(
        ("user", "I live in Kiel and look for a berth for my boat of 9 metres."),
        ("agent", f"1. **{said}**"),
        ("user", f"{said} I want to live on my boat, which draws 1.6 metres."),
    )
    assert [line.text for line in lines][1:] == [
        "I want to live on my boat, which draws 1.6 metres."
    ]


def test_an_address_alone_tells_nothing() -> None:
    lines = digest(("user", "https://example.com/pages\nI built this shop for my aunt in 2019."))
    assert [line.text for line in lines] == ["I built this shop for my aunt in 2019."]


def test_a_later_request_to_an_agent_at_work_is_no_decision() -> None:
    lines = digest(
        ("user", "Show the oak chairs of Graz."),
        *[("agent", "Working."), ("agent", "Still working."), ("agent", "Done.")] * 2,
        ("user", "Please add a search field for 3 kinds of oak to the header."),
    )
    assert {line.part for line in lines} == {Part.ASKED}


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("We decided to use oak from Graz for the 3 chairs.", Part.DECIDED),
        ("Let's go with oak for the 3 chairs instead of pine.", Part.DECIDED),
        ("椅子的木料定了，用格拉茨的橡木", Part.DECIDED),
        ("木料从松木改成格拉茨的橡木", Part.DECIDED),
        (
            "On Monday the list of 3 Tonet chairs is not switching properly in my Safari.",
            Part.ASKED,
        ),
        (
            "Let's show the 3 chair prices in `EUR` by default, not in crowns.",
            Part.ASKED,
        ),
        ("橡木椅子页默认只显示价格，库存统一放到`stock`里，不要改其他页", Part.ASKED),
    ],
)
def test_at_work_only_what_settles_something_is_a_decision(said: str, part: Part) -> None:
    lines = digest(
        ("user", "Show the oak chairs of Graz."),
        *[("agent", "Working."), ("agent", "Still working."), ("agent", "Done.")] * 2,
        ("user", said),
    )
    (line,) = (line for line in lines if line.first > 1)
    assert line.part is part


def test_words_said_twice_in_a_turn_stand_once() -> None:
    (line,) = digest(("user", "I live in Graz with 2 cats.\nI live in Graz with 2 cats."))
    assert line.text == "I live in Graz with 2 cats."


def test_a_line_of_settings_alone_tells_nothing() -> None:
    lines = digest(("user", "PORT=8443\nI run the shop of my aunt in Graz on 2 machines."))
    assert [line.text for line in lines] == ["I run the shop of my aunt in Graz on 2 machines."]


def test_what_the_agent_leaves_open_at_the_end_is_open() -> None:
    left = "Still open: `pump.py` only handles wells of one owner, and users need all of them."
    lines = digest(
        ("user", "Please mend the pump of well 3 in Ohlau."),
        *[("agent", "Reading."), ("agent", "Reading on."), ("agent", "Found 1 thing.")] * 2,
        ("agent", f"Fixed `pump.py`, it closed at 9 bar.\n\n{left}"),
    )
    assert [line.text for line in lines if line.part is Part.OPEN] == [left]


def test_what_the_agent_says_twice_stands_once() -> None:
    said = "The root cause is that `pump.py` closes at 9 bar"
    (line,) = digest(
        ("user", "Please mend the pump of well 3 in Ohlau."),
        *[("agent", "Reading."), ("agent", "Reading on."), ("agent", "More.")] * 2,
        ("agent", f"{said}."),
        ("agent", f"{said}, so the well ran dry."),
    )
    assert line.text.count("closes at 9 bar") == 1


def test_what_was_agreed_to_stands_beside_the_yes() -> None:
    offer = "I recommend oak from the yard of your uncle Karl in Graz, as it lasts 40 years."
    lines = digest(
        ("user", "which wood for the deck of my sailboat?"),
        ("agent", offer),
        ("user", "yes please"),
    )
    assert lines[-1].text == f"{offer} → yes please"


def test_a_pasted_option_is_decided_in_its_own_words() -> None:
    offer = "How should old rows go?\n\n- Delete them after a year\n- Move them to cold storage"
    lines = digest(
        *WORKING,
        ("user", "our table grows too fast"),
        ("agent", offer),
        ("user", "Move them to cold storage"),
    )
    assert lines[-1].text == "How should old rows go? → Move them to cold storage"


def test_an_answer_stands_beside_its_question() -> None:
    looking = ("agent", "Let me check `router.ts` and the deploy log.")
    lines = digest(
        ("user", "why is the page blank after a reload?"),
        looking,
        looking,
        looking,
        ("agent", "The root cause: `router.ts` builds links without the base path."),
    )
    assert [line.text for line in lines] == [
        "why is the page blank after a reload? → The root cause: `router.ts` builds links without"
        " the base path."
    ]


def test_at_work_an_order_is_a_line_without_the_errand_beside_it() -> None:
    lines = digest(
        (
            "user",
            "The exporter should be called `csv_writer`, as users only need CSV. You are to ask me"
            " before you delete a file.",
        ),
        ("agent", "Let me look at the exporter."),
        ("agent", "Let me find its imports."),
        ("agent", "Now I'll rename it."),
        ("agent", "Renamed `exporter.py` to `csv_writer.py` and its 4 imports."),
    )
    assert [(line.part, line.text) for line in lines if line.part is Part.ORDERED] == [
        (Part.ORDERED, "You are to ask me before you delete a file.")
    ]
    assert any(
        "The exporter should be called" in line.text and "imports" in line.text for line in lines
    )


def test_thanks_to_an_assistant_make_no_line() -> None:
    lines = digest(
        (
            "user",
            "I am a beekeeper and live in Leeds with my two sons, how do I feed them in winter?",
        ),
        ("agent", "Fondant works well."),
        (
            "user",
            "Thank you for your advice, I'll try it. My uncle and I work with 6 hives since 2019.",
        ),
        ("agent", "Lovely."),
    )
    assert [line.text for line in lines] == [
        "I am a beekeeper and live in Leeds with my two sons",
        "My uncle and I work with 6 hives since 2019.",
    ]


def test_what_is_sent_with_each_message_once_more_stands_once() -> None:
    wanted = "the tins in `tins.css` should only be called by camelCase, as users need it"
    lines = digest(
        *(
            spoken
            for file in ("shelf", "oven", "door")
            for spoken in (
                ("user", f"{wanted}\n<editor>{file}.tsx</editor>"),
                ("agent", f"Let me check `{file}.tsx`."),
                (
                    "agent",
                    f"The root cause: `{file}.tsx` only reads the old `tin_{file}`, because users"
                    " need both; it should be loaded from `tins.css` by default instead.",
                ),
            )
        )
    )
    assert sum("camelCase" in line.text for line in lines) == 1
    assert sum("The root cause" in line.text for line in lines) == 3


def test_a_short_talk_about_code_is_work() -> None:
    lines = digest(
        ("user", "why does my loaf counter render twice?"),
        ("agent", "Because `Strict` mounts it twice.\n\n```js\nmount(loaf)\n```"),
        ("user", "and the crumbs on the page are doubled as well"),
        ("agent", "The cause is the missing key in `crumbs`.\n\n```js\nkey(crumb)\n```"),
    )
    assert any("The cause is the missing key" in line.text for line in lines)


def test_what_the_person_refuses_next_does_not_stand_as_done() -> None:
    def told(answer: str) -> str:
        lines = digest(
            ("user", "the shelf needs a place for the long tins of `tins.css`"),
            ("agent", "Let me check `shelf.tsx`."),
            ("agent", "I've added a second shelf in `shelf.tsx` with `tinsLong`."),
            ("agent", "The tests are green."),
            ("user", answer),
            ("agent", "The root cause: `shelf.tsx` measured `tins.css` without its lid."),
        )
        return " ".join(line.text for line in lines)

    assert "added a second shelf" in told("now give `tins.css` the colour of the door")
    assert "added a second shelf" not in told("no, I don't want a second shelf in `shelf.tsx`")
    assert "added a second shelf" not in told("still the same error in `shelf.tsx`")


def test_of_a_long_answer_three_sentences_are_kept_at_most() -> None:
    found = "\n".join(f"- The cause of case {n}: `lid_{n}.py` is never closed." for n in range(9))
    lines = digest(
        ("user", "the tins of `shelf.py` are dusty, find out why and mend it"),
        ("agent", "Let me check `shelf.py`."),
        ("agent", "I've opened `tins.css`."),
        ("agent", found),
    )
    assert [line.text.count("The cause of case") for line in lines] == [3]


@pytest.mark.parametrize(
    ("offer", "answer", "part"),
    [
        ("Two ways:\nOption 1: Redis\nOption 2: a table in Postgres", "option 2", Part.DECIDED),
        ("I found:\n1. the retry never waits\n2. the log is unbounded", "fix 1", Part.ASKED),
        ("Want me to move the retries of the importer into a queue?", "yes", Part.ASKED),
        ("I recommend a queue for each tenant.", "yes", Part.DECIDED),
    ],
)
def test_what_an_agent_at_work_is_set_to_do_is_no_decision(
    offer: str, answer: str, part: Part
) -> None:
    lines = digest(
        ("user", "have a look at the importer of the warehouse"),
        ("agent", "Looking at src/importer.py."),
        ("agent", "Reading src/retry.py, too."),
        ("agent", offer),
        ("user", answer),
        ("agent", "Done: the importer in src/importer.py waits 2 s before each retry."),
    )
    assert next(line.part for line in lines if line.first > 1) is part


def test_a_short_answer_stands_below_its_question() -> None:
    lines = digest(
        ("user", "Help me write a page about myself for the harbour choir."),
        ("agent", "Gladly. How long have you been singing in choirs?"),
        ("user", "Since I was nine, mostly alto, in Bergen"),
    )
    assert [(line.text, line.first, line.last) for line in lines if line.last == 3] == [
        (
            "How long have you been singing in choirs? → Since I was nine, mostly alto, in Bergen",
            2,
            3,
        )
    ]


def test_what_points_at_the_sentence_before_stands_with_it() -> None:
    lines = digest(
        (
            "Ann",
            "I paint a lot with my daughter Ida. It got me and my son through my divorce in Bergen"
            " in May 2019.",
        ),
        ("Ben", "Mine taught me cards!"),
    )
    assert [line.text for line in lines if line.who == "Ann"] == [
        "I paint a lot with my daughter Ida. It got me and my son through my divorce in Bergen in"
        " May 2019."
    ]


def test_an_arrow_of_the_agent_is_no_arrow_of_the_line() -> None:
    rounds = [
        ("user", "why does `oven.py` drop the last loaf?"),
        ("agent", "Let me check oven.py."),
        ("agent", "Root cause: `bake()` → `cool()` closes the **door** in `oven.py` too early."),
    ]
    (line,) = digest(*rounds)
    assert line.text == (
        "why does `oven.py` drop the last loaf? → Root cause: `bake()`→`cool()` closes the door"
        " in `oven.py` too early."
    )


def test_of_a_session_with_little_its_likeliest_line_stands() -> None:
    asked = "please check whether `oven.py` logs in UTC or in the zone of the bakery"
    said = "`oven.py` logs in UTC, because `clock.py` is imported from the old shop."
    rounds = [("user", asked), ("agent", "Let me read oven.py."), ("agent", said)]
    (line,) = digest(*rounds)
    assert line.text.endswith(said)


def test_go_aheads_and_bare_complaints_make_no_line() -> None:
    rounds = [
        ("user", "guests should only see the loaves of today, as the old ones are sold by phone"),
        ("agent", "Let me read list.py."),
        ("agent", "The list is filtered by `baked_on` now."),
        *[
            spoken
            for said in ("run it again", "still not working", "please continue")
            for spoken in (("user", said), ("agent", "Reading list.py."), ("agent", "Done."))
        ],
    ]
    assert [line.first for line in digest(*rounds)] == [1]


def test_what_an_agent_thinks_of_the_person_is_not_the_persons() -> None:
    thought = "好的，用户这次的问题很尖锐。他在格拉茨修一艘1974年的帆船，我得先说船底。"
    lines = digest(("user", f"我叔叔卡尔五月看过船底，是橡木的。\n{thought}"), ("agent", "好。"))
    assert [line.text for line in lines] == ["我叔叔卡尔五月看过船底，是橡木的。"]


def test_words_pasted_back_from_an_earlier_answer_are_the_agents() -> None:
    said = "The hull of the 1974 sailboat in Ystad is oak, as your uncle Karl found in May."
    lines = digest(
        ("user", "what is the hull made of?"),
        ("agent", said),
        ("user", "and the mast?"),
        ("agent", "Spruce."),
        ("user", f"{said} My aunt Ann in Graz wants a mast of spruce, too."),
    )
    assert [line.text for line in lines if line.last == 5] == [
        "My aunt Ann in Graz wants a mast of spruce, too."
    ]
