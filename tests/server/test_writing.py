"""Writing over HTTP: sessions of others stay theirs."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.errors import FormatError, NotFoundError
from kimi_memory.server import writing
from kimi_memory.server.principal import Caller, Namespace, Scope


@pytest.mark.parametrize("content", [b"not a session\nat all\n", b"\xff\xfe\n{}\n"])
def test_a_damaged_session_of_others_answers_like_one_that_is_not_there(
    memory: Memory, content: bytes
) -> None:
    (memory.root / "short-term/session_theirs.jsonl").write_bytes(content)
    bound = Caller("b", frozenset({Scope.WRITE}), Namespace("apollo"))
    given = {"task": {}, "variables": {}}
    for id in ("theirs", "their", "nobodys"):
        for act in (writing.end, writing.state):
            with pytest.raises(NotFoundError) as told:
                act(memory, bound, {"id": id, **given})
            assert str(told.value) == str(NotFoundError("session", id))
    with pytest.raises(FormatError):
        writing.end(memory, Caller("owner"), {"id": "theirs"})
