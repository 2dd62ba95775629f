"""The choice of lines: what is new wins over what is said already, and neighbours cost less."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.sentences import estimate
from kimi_memory.recall.budget import _Choice, choose
from kimi_memory.recall.render import Line, shown

NONCE = "abcdef0123456789"


def line(id: str, said: str, value: float = 1.0, path: str = "", first: int = 1) -> Line:
    return Line(
        id=id,
        priority=2,
        path=path or f"episodic/{id}.jsonl",
        said=said,
        first=first,
        last=first,
        labels=("human",),
        day="2026-02-27",
        value=value,
    )


def split(said: str) -> list[str]:
    return [*said.replace("，", " ").split(), *map("".join, pairwise(said))]


def chosen(budget: int, *found: Line, standing: tuple[Line, ...] = ()) -> list[str]:
    """Return the ids in the order in which they were chosen."""
    return [one.id for one in choose(standing, found, split, budget, NONCE)]


PORT = line("a", "The billing service listens on port 8080 since the move to the new host", 1.0)
AGAIN = line("b", "The billing service listens on port 8080 since the move to the new machine", 0.9)
OWNER = line("c", "Maria owns the billing service and answers when it does not respond at all", 0.7)
PORT_ZH = line("d", "账单服务在新主机上使用八零八零端口监听", 1.0)
AGAIN_ZH = line("e", "账单服务在新机器上使用八零八零端口监听", 0.9)
OWNER_ZH = line("f", "玛丽亚负责账单服务，出问题时找她就好了", 0.7)


def test_a_new_fact_wins_over_one_that_is_said_again() -> None:
    for first, again, new in ((PORT, AGAIN, OWNER), (PORT_ZH, AGAIN_ZH, OWNER_ZH)):
        assert chosen(122, first, again, new) == [first.id, new.id]
        assert chosen(122, new, again, first) == [first.id, new.id]
        assert chosen(1000, first, again, new) == [first.id, new.id, again.id]


def test_what_is_shown_in_any_case_makes_a_repetition_worth_less() -> None:
    assert chosen(122, AGAIN, OWNER, standing=(PORT,)) == ["a", "c"]


def test_of_equals_the_neighbour_of_a_chosen_line_is_cheaper() -> None:
    path = "episodic/sessions/2026-02/session_x.jsonl"
    best = line("a", "Where does the ferry to the island leave from", 1.0, path, 3)
    beside = line("z", "From the old pier behind the fish market", 0.6, path, 4)
    afar = line("b", "From the old quay behind the corn market", 0.6)
    assert chosen(1000, best, afar, beside) == ["a", "z", "b"]
    block = shown([best, beside], NONCE)
    assert block.count(path) == 1
    assert f"- {path}, 2026-02-27:" in block
    assert "- L4 [human] From the old pier" in block


def test_between_equals_priority_decides() -> None:
    turn = line("z", "The port is 8080")
    card = Line(id="a", priority=3, path=turn.path, said=turn.said, first=1, last=1, value=1.0)
    assert chosen(1000, card, turn)[0] == "z"


def test_a_line_too_long_leaves_room_for_the_next() -> None:
    long = line("a", "port " * 300)
    assert chosen(110, long, OWNER) == ["c"]


LINES = st.lists(
    st.tuples(
        st.text("ab 端口", min_size=1, max_size=60),
        st.floats(0.01, 1),
        st.integers(0, 4),
        st.integers(1, 30),
        st.sampled_from(["a.md", "b.md"]),
    ),
    max_size=12,
)


@given(LINES, st.integers(0, 400), st.randoms(use_true_random=False))
def test_the_choice_fits_and_does_not_depend_on_the_order(made, budget: int, chance) -> None:
    found = [
        Line(id=f"{n:02d}", priority=p, path=f"{p}{path}", said=said, first=at, last=at, value=v)
        for n, (said, v, p, at, path) in enumerate(made)
    ]

    def build(lines: list[Line]) -> str:
        kept = choose((), lines, split, budget, NONCE)
        return shown(kept, NONCE) if kept else ""

    block = build(found)
    assert estimate(block) <= budget
    chance.shuffle(found)
    assert build(found) == block


@given(LINES, st.integers(0, 400))
def test_the_choice_is_that_of_looking_at_every_line_each_time(made, budget: int) -> None:
    found = [
        Line(id=f"{n:02d}", priority=p, path=f"{p}{path}", said=said, first=at, last=at, value=v)
        for n, (said, v, p, at, path) in enumerate(made)
    ]
    slow = _Choice(split, budget, NONCE)
    left, grows = found, True
    while grows:
        best = sorted(left, key=lambda line: (-slow._current_gain(line), line.id))
        grows = any(slow._current_gain(line) > 0 and slow.add_line(line) for line in best)
        left = [line for line in left if line not in slow.lines]
    assert choose((), found, split, budget, NONCE) == slow.lines
