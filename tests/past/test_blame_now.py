"""What blame says of what came later, and of who signed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.cli.blame import _format_line
from kimi_memory.domain.note import Card
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.jobs.forget import Forget
from kimi_memory.server.looking_back import blame_of
from kimi_memory.server.principal import Namespace
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock
from tests.jobs.test_vouching import Machine, keys, know, machine
from tests.past.conftest import Past

__all__ = ["keys", "machine"]


def test_what_was_replaced_since_names_what_is_so_now(
    memory: Memory, past: Past, capsys: pytest.CaptureFixture[str]
) -> None:
    [now] = memory.blame("deploy.port")
    assert now.now is None
    [then] = memory.blame("deploy.port", at=past.first)
    assert then.now is not None
    assert (then.now.change, then.now.says) == ("superseded", now.text)
    assert then.now.note == now.note
    assert now.cause is not None and then.now.at == now.cause.at
    # The same of a line of its file, and of the card that was replaced, asked for by its id.
    lines = memory.blame(f"{then.path}:14", at=past.first)
    assert [one.now for one in lines] == [then.now]
    assert memory.blame(then.note)[0].now == then.now
    assert run(["blame", "deploy.port", "--as-of", past.first, "--memory", str(memory.root)]) == 0
    row = f'now     superseded {then.now.at:%Y-%m-%d} by "{now.text}" ({now.note})'
    assert row in capsys.readouterr().out


def test_what_replaced_a_card_may_have_another_key(
    memory: Memory, past: Past, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.session("talk").turn("user", "The deploy port is 9090 now, not 8443.")
    memory.end("talk")
    memory.batch.flush()
    clock.move(days=1)
    memory.remember("The sign of the shop is blue.", key="sign.colour")
    [heir] = [one.note for one in Shelf(memory.store).notes(Card.kind) if "9090" in one.text]
    assert isinstance(heir, Card) and heir.key != "deploy.port"
    [then] = memory.blame("deploy.port", at=past.second)
    assert then.now is not None and (then.now.says, then.now.note) == (heir.value, heir.id)
    at = ["--memory", str(memory.root)]
    assert run(["recall", "deploy port", "--as-of", past.second, "--kind", "card", *at]) == 0
    row = f'    now: superseded {then.now.at:%Y-%m-%d} by "{heir.value}" ({heir.id})'
    assert row in capsys.readouterr().out.splitlines()


def test_what_was_edited_or_forgotten_since(memory: Memory, past: Past, clock: Clock) -> None:
    page = memory.root / "MEMORY.md"
    page.write_text(page.read_text("utf-8").replace("is blue", "is green"), "utf-8")
    memory.take_edits()
    memory.batch.flush()
    [then] = memory.blame("sign.colour", at=past.other)
    assert then.now is not None
    assert (then.now.change, then.now.says) == ("changed", "The sign of the shop is green.")
    memory.run(Forget(memory, Wanted(key="sign.colour")))
    memory.batch.flush()
    for found in (memory.blame("deploy.port", at=past.first), memory.blame("deploy.port")):
        assert "green" not in str(found)


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="needs OpenSSH")
def test_who_signed_a_line_is_named_where_the_key_is_known(
    memory: Memory, machine: Machine, keys: Path
) -> None:
    laptop = machine("laptop", keys / "li")
    laptop.remember("Bob likes coffee.", key="bob.drink")
    laptop.batch.flush()
    assert [one.signer for one in laptop.blame("bob.drink")] == [""]
    know(laptop, keys / "bot")
    assert [one.signer for one in laptop.blame("bob.drink")] == [""]
    know(laptop, keys / "li")
    assert [one.signer for one in laptop.blame("bob.drink")] == ["li"]
    # Who is bound to a part learns of nobody outside.
    [line] = laptop.blame("bob.drink")
    [narrow] = blame_of(laptop, Namespace("", "scout", shared=True), line.note)
    assert (narrow.text, narrow.signer) == (line.text, "")
    assert "  signed  li ✓" in _format_line(line, every=False)
