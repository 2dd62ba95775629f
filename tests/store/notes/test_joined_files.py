"""Session files that git joined get a file for each session."""

from dataclasses import replace

from kimi_memory.domain.change import Create, Update
from kimi_memory.formats.jsonl import session_line
from kimi_memory.store.notes.joined_files import split_changes, split_session
from tests.formats.test_joined_sessions import ONE, OTHER, turn

PATH = "short-term/session_s.jsonl"
JOINED = b"".join([session_line(ONE), turn("tea"), session_line(OTHER), turn("coffee")])


def test_no_line_is_lost(store, actor):
    store.apply([Create(PATH, JOINED)], actor)
    split_session(store, PATH, actor)
    first, second = store.files("short-term")
    assert {first, second} > {PATH}
    assert store.read(PATH) == b"".join([session_line(ONE), turn("tea")])
    [other] = {first, second} - {PATH}
    assert store.read(other).splitlines(True)[1:] == [turn("coffee")]
    split_session(store, PATH, actor)
    assert len(store.files("short-term")) == 2


def test_what_another_copy_split_already_is_not_made_twice(store, actor):
    [_, made] = split_changes(store, PATH, JOINED)
    store.apply([made], actor)
    [kept] = split_changes(store, PATH, JOINED)
    assert isinstance(kept, Update)
    third = JOINED + session_line(replace(ONE, title="third"))
    assert len(list(split_changes(store, PATH, third))) == 2
