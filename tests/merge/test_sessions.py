"""Session files of two copies: the longer one, or a fork with its chain whole."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.formats.jsonl import session_of, unseal
from kimi_memory.merge.moved_turns import Moved
from kimi_memory.merge.sessions import MergedSessions, SessionFile, merge_sessions, read_sessions
from tests.formats.strategies import examples
from tests.merge.talks import Talk, assert_chained
from tests.merge.values import NOW

ACTS = st.lists(st.sampled_from(["say", "note", "end", "say"]), max_size=4)


def act(talk: Talk, acts: list[str], who: int) -> Talk:
    for number, one in enumerate(acts):
        if talk.archived:
            break
        if one == "say":
            talk.say(f"{who}.{number}", after=who)
        elif one == "note":
            talk.note(**{f"v{who}": number})
        else:
            talk.end(100 + who)
    return talk


def merged(base: Talk | None, ours: Talk | None, theirs: Talk | None) -> MergedSessions:
    sides = [{} if talk is None else {talk.id: talk.file} for talk in (base, ours, theirs)]
    found = merge_sessions(*sides)
    swapped = merge_sessions(sides[0], sides[2], sides[1])
    assert found.sessions == swapped.sessions
    assert (found.ours, found.theirs) == (swapped.theirs, swapped.ours)
    return found


def said(file: SessionFile) -> list[str]:
    return [turn.text for turn in assert_chained(file.lines)]


@given(ACTS, ACTS, ACTS)
@examples(300)
def test_no_turn_is_lost_or_doubled_and_every_chain_is_whole(
    before: list[str], ours: list[str], theirs: list[str]
) -> None:
    base = act(Talk(), before, 0)
    one, other = act(base.copy(), ours, 1), act(base.copy(), theirs, 2)
    found = merged(base, one, other)
    turns = Counter(text for file in found.sessions.values() for text in said(file))
    both = {*said(one.file), *said(other.file)}
    assert turns == Counter(both)
    for id, file in found.sessions.items():
        assert session_of(unseal(file.lines[0])).id == id
        assert file.path.endswith(f"session_{id}.jsonl")
    states = {line for talk in (one, other) for line in talk.lines if b'"state"' in line}
    assert states <= {line for file in found.sessions.values() for line in file.lines}
    assert merged(base, one, one).sessions == {one.id: one.file}
    assert merged(base, one, base).sessions == {one.id: one.file}


@given(ACTS, ACTS, ACTS)
@examples(200)
def test_three_copies_that_go_on_give_the_same_forks_in_any_order(
    a: list[str], b: list[str], c: list[str]
) -> None:
    base = Talk().say("first")
    sides = [
        {"s1": act(base.copy(), [x for x in acts if x == "say"], who).file}
        for who, acts in enumerate((a, b, c), 1)
    ]
    origin = {"s1": base.file}
    left = merge_sessions(origin, merge_sessions(origin, sides[0], sides[1]).sessions, sides[2])
    right = merge_sessions(origin, sides[0], merge_sessions(origin, sides[1], sides[2]).sessions)
    assert left.sessions == right.sessions


def test_a_session_that_went_on_in_both_copies_is_forked_and_says_where() -> None:
    base = Talk().say("hello")
    one, other = base.copy().say("tea", 1), base.copy().say("coffee", 2).say("sugar", 2)
    found = merged(base, one, other)
    stays, fork = sorted(found.sessions, key=len)
    assert stays == "s1"
    assert fork.startswith("s1-")
    assert said(found.sessions["s1"]) == ["hello", "tea"]
    assert said(found.sessions[fork]) == ["coffee", "sugar"]
    assert session_of(unseal(found.sessions[fork].lines[0])).after == base.context
    assert (found.ours, found.theirs) == ({}, {"s1": (Moved(2, fork),)})


def test_a_fork_that_went_on_where_it_came_from_has_all_its_turns() -> None:
    base = Talk().say("hello")
    one, other = base.copy().say("tea", 1), base.copy().say("coffee", 2)
    # This copy has the files of a merge that no commit tells of.
    here = merged(base, one, other).sessions
    further = {"s1": other.copy().say("sugar", 2).file}
    for sides in ((here, further), (further, here)):
        found = merge_sessions({"s1": base.file}, *sides).sessions
        assert found.keys() == here.keys()
        stays, fork = sorted(found, key=len)
        assert said(found[stays]) == ["hello", "tea"]
        assert said(found[fork]) == ["coffee", "sugar"]


def test_turns_after_the_end_in_another_copy_become_a_continuation() -> None:
    base = Talk().say("hello")
    archived, further = base.copy().end(), base.copy().say("one more")
    found = merged(base, archived, further)
    assert found.sessions["s1"] == archived.file
    [(id, more)] = [(id, file) for id, file in found.sessions.items() if id != "s1"]
    assert more.path == f"short-term/session_{id}.jsonl"
    assert said(more) == ["one more"]
    assert session_of(unseal(more.lines[0])).continues == "s1"
    assert found.theirs == {"s1": (Moved(2, id),)}


def test_turns_after_an_end_are_where_they_are_also_when_that_copy_ended_later() -> None:
    base = Talk().say("hello")
    archived, further = base.copy().end(), base.copy().say("tea")
    here = merged(base, archived, further).sessions
    later = further.copy().say("milk").end(200)
    found = merge_sessions({"s1": further.file}, here, {"s1": later.file})
    assert found.sessions["s1"] == archived.file
    [more] = [file for id, file in found.sessions.items() if id != "s1"]
    assert said(more) == ["tea", "milk"]
    assert more.archived


def test_evidence_follows_turns_that_move_twice_in_one_merge() -> None:
    base = Talk().say("hello")
    one, other = base.copy().say("tea", 2), base.copy().say("coffee", 1)
    both = merged(base, one, other).sessions
    further = one.copy().say("milk", 2)
    third = {"s1": one.copy().say("sugar", 3).file}
    found = merge_sessions({"s1": one.file}, {**both, **third}, {"s1": further.file})
    for side, file in ((found.ours, third["s1"]), (found.theirs, further.file)):
        for turn in assert_chained(file.lines):
            place = "s1"
            for moved in side.get("s1", ()):
                place = moved.to if turn.n >= moved.first else place
            assert turn.text in said(found.sessions[place])


def test_one_session_that_ended_in_both_copies_ends_at_the_earlier_moment() -> None:
    base = Talk().say("hello")
    found = merged(base, base.copy().end(100), base.copy().end(200))
    assert found.sessions == {"s1": base.copy().end(100).file}


def test_two_sessions_of_one_name_get_a_file_each() -> None:
    one, other = Talk().say("tea"), Talk(started=NOW + timedelta(hours=1)).say("coffee")
    found = merged(None, one, other)
    assert {id: said(file) for id, file in found.sessions.items() if id == "s1"} == {"s1": ["tea"]}
    [fork] = found.sessions.keys() - {"s1"}
    assert said(found.sessions[fork]) == ["coffee"]
    assert found.theirs == {"s1": (Moved(1, fork),)}


def test_a_header_that_one_copy_changed_parts_nothing() -> None:
    base = Talk().say("hello")
    renamed = base.copy()
    renamed.lines[0] = renamed.lines[0].replace(b'"started"', b'"title":"T","started"')
    found = merged(base, renamed, base.copy().say("more"))
    assert list(found.sessions) == ["s1"]
    assert found.sessions["s1"].lines[0] == renamed.lines[0]


def test_what_one_copy_deleted_stays_where_the_other_went_on() -> None:
    base = Talk().say("hello")
    assert merged(base, None, base.copy()).sessions == {}
    more = base.copy().say("more")
    assert merged(base, None, more).sessions == {"s1": more.file}


def test_a_line_that_a_crash_cut_parts_nothing() -> None:
    base = Talk().say("hello")
    torn = base.copy()
    torn.lines.append(b'{"kind":"turn","n":2')
    whole = base.copy()
    whole.lines.append(Talk().note(x=1).lines[-1])
    assert merged(base, torn, whole).sessions == {"s1": whole.file}


def test_a_file_that_git_joined_is_read_as_two_sessions() -> None:
    one, other = Talk().say("tea"), Talk(started=NOW + timedelta(hours=1)).say("coffee")
    found = read_sessions(one.path, one.content + other.content)
    assert [said(file) for file in found.values()] == [["tea"], ["coffee"]]
    with pytest.raises(ValueError, match="first record"):
        read_sessions(one.path, one.lines[1])
    with pytest.raises(ValueError, match="first record"):
        read_sessions(one.path, b"")
