"""Plugins of a user that say who somebody is, and what a member may do."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")

from kimi_memory.api.options import Home
from kimi_memory.domain.space_types import ALL_ACTIONS
from kimi_memory.errors import PluginError
from kimi_memory.spaces.people import People
from kimi_memory.spaces.space_folder import SpaceFolder
from tests.spaces.conftest import MEMORY

FREEZE = """
    from kimi_memory import hookimpl
    from kimi_memory.domain.space_types import Decision

    @hookimpl(wrapper=True)
    def permit(question):
        found = yield
        if question.action not in ("recall", "get", "context"):
            return Decision(False, (), "nothing is written during the stocktaking")
        return found
"""
OPEN = """
    from kimi_memory import hookimpl
    from kimi_memory.domain.space_types import Decision

    @hookimpl
    def permit(question, root):
        if question.memory and question.action == "purge":
            return Decision(True, ("plugin:1",), f"allowed for {root.name}")
"""
BADGES = """
    from kimi_memory import hookimpl
    from kimi_memory.domain.space_types import Claims

    @hookimpl
    def who_is(token, space):
        badges = {"badge-7": "reader@shop", "badge-8": "scout", "badge-9": "mei"}
        name = badges.get(token)
        return Claims(name, ("buyers",)) if name and space.name == "shop" else None
"""


def install(home: Home, name: str, text: str) -> None:
    folder = home.config / "plugins"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(f'"""A plugin."""\n{textwrap.dedent(text)}')


def allowed(space: SpaceFolder, sub: str) -> set[str]:
    return {action for action in ALL_ACTIONS if space.decide(sub, action, MEMORY)}


def test_hook_permit_a_plugin_refuses_more_and_another_decides_instead(
    space: SpaceFolder, home: Home
) -> None:
    before = allowed(space, "writer@shop")
    assert "remember" in before and "purge" not in before
    install(home, "freeze", FREEZE)
    frozen = SpaceFolder.open(home, "shop")
    assert allowed(frozen, "writer@shop") == {"recall", "get", "context"}
    assert frozen.decide("writer@shop", "remember", MEMORY).why.endswith("during the stocktaking")
    (home.config / "plugins/freeze.py").unlink()
    install(home, "purgers", OPEN)
    opened = SpaceFolder.open(home, "shop")
    assert allowed(opened, "writer@shop") == before | {"purge"}
    assert opened.decide("writer@shop", "purge", MEMORY).policies == ("plugin:1",)
    # Who is no member, and what is no memory of the space, is not asked of it.
    assert not opened.decide("stranger", "purge", MEMORY)
    assert not opened.decide("owner@shop", "purge", "memory-01other")


@pytest.mark.parametrize("body", ["raise ValueError('no')", "return True", "return 'yes'"])
def test_a_plugin_that_fails_or_says_no_decision_denies(
    space: SpaceFolder, home: Home, body: str
) -> None:
    text = f"from kimi_memory import hookimpl\n\n@hookimpl\ndef permit(question):\n    {body}\n"
    install(home, "broken", text)
    assert allowed(SpaceFolder.open(home, "shop"), "owner@shop") == set()


def test_without_a_plugin_that_decides_everything_is_denied(space: SpaceFolder, home: Home) -> None:
    (home.config).mkdir(parents=True, exist_ok=True)
    (home.config / "config.toml").write_text('disabled = ["policies_cedar"]\n')
    denied = SpaceFolder.open(home, "shop").decide("owner@shop", "recall", MEMORY)
    assert not denied and denied.why == "no plugin decides what is permitted"


def test_hook_who_is_a_plugin_knows_tokens_of_its_own(space: SpaceFolder, home: Home) -> None:
    assert not People(space).known() and People(space).identify("badge-7") is None
    install(home, "badges", BADGES)
    space.add("buyers", ["writer"], "group")
    opened = SpaceFolder.open(home, "shop")
    people = People(opened)
    assert people.known() and people.signer is None
    person = people.identify("badge-7")
    assert person is not None and person.sub == "reader@shop"
    decision, member = opened.decide_for(person.sub, "remember", MEMORY, person.groups)
    assert decision and member is not None and set(member.roles) == {"reader", "writer"}
    assert people.identify("badge-0") is None
    # A name alone makes nobody the agent of that name.
    impostor = people.identify("badge-8")
    assert impostor is not None and impostor.sub.startswith("stranger ")
    assert not opened.decide(impostor.sub, "recall", MEMORY)


def test_a_token_is_not_let_in_by_a_plugin_that_fails(
    space: SpaceFolder, home: Home, tmp_path: Path
) -> None:
    install(home, "broken", "from kimi_memory import hookimpl\n\n@hookimpl\ndef who_is(token):\n"
            "    raise ValueError('no')\n")  # fmt: skip
    with pytest.raises(PluginError, match="'broken' failed in who_is"):
        People(SpaceFolder.open(home, "shop")).identify("badge-7")
