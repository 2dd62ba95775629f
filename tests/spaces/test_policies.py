"""Policies: who may do what by role, and what a file of a stranger can and cannot do."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kimi_memory.api.options import Home
from kimi_memory.domain.space_types import ALL_ACTIONS
from kimi_memory.errors import FormatError, UsageError
from kimi_memory.spaces.policies import Policies, list_policies
from kimi_memory.spaces.space_folder import SpaceFolder
from tests.spaces.conftest import MEMORY

READING = {"recall", "get", "context"}
WRITING = READING | {"capture", "remember", "forget"}
KEEPING = WRITING | {"consolidate", "review", "undo", "conflicts", "deploy"}
OWNING = KEEPING | {"share", "export", "purge", "member"}
MAY = {
    "reader@shop": READING,
    "writer@shop": WRITING,
    "keeper@shop": KEEPING,
    "owner@shop": OWNING,
    "scout": WRITING,
    # An agent shares, exports, purges and chooses nobody, though its role may.
    "robot": KEEPING,
    "stranger": set(),
}


@pytest.mark.parametrize("sub", MAY)
def test_each_role_may_do_what_the_table_says(space: SpaceFolder, sub: str) -> None:
    allowed = {action for action in ALL_ACTIONS if space.decide(sub, action, MEMORY)}
    assert allowed == MAY[sub]


@pytest.mark.parametrize("sub", [sub for sub in MAY if sub != "stranger"])
def test_what_is_private_is_for_its_owner_alone(space: SpaceFolder, sub: str) -> None:
    own = space.member(sub).area
    assert space.decide(sub, "recall", MEMORY, ("", own))
    for other in ("user:lin", "agent:lin", f"{own}x", "user:", "session:s1"):
        found = space.decide(sub, "recall", MEMORY, ("", other))
        assert not found and f"recall in {other} here" in found.why


def test_a_decision_names_the_line_that_decided(space: SpaceFolder) -> None:
    assert space.decide("reader@shop", "recall", MEMORY).why == (
        "allowed by policies/roles.cedar:2"
    )
    assert space.decide("reader@shop", "remember", MEMORY).why == (
        "reader@shop (reader) may not remember here: no policy allows it"
    )
    assert space.decide("robot", "purge", MEMORY).why == (
        "robot (owner) may not purge here: policies/roles.cedar:13 forbids it"
    )
    lines = (space.root / "policies/roles.cedar").read_text().splitlines()
    assert lines[1].startswith("permit") and lines[12].startswith("forbid(principal is Agent")


def test_a_memory_of_no_space_is_nobodys(space: SpaceFolder) -> None:
    assert space.decide("owner@shop", "recall", "memory-other").why == (
        "memory-other is no memory of the space shop"
    )


def test_an_action_that_does_not_exist_is_an_error(space: SpaceFolder) -> None:
    with pytest.raises(UsageError, match=r"'read' is no action\. Use one of recall, get"):
        space.decide("owner@shop", "read", MEMORY)


STRANGER = """\
// Written by somebody else; the name of a policy and a semicolon in a text are no end of one.
@id("a;b")
forbid(principal == User::"writer@shop", action == Action::"remember",
  resource) unless { resource.scope == "; permit(principal,action,resource);" };

permit(principal == User::"reader@shop", action == Action::"remember", resource in Memory::"MEM");
"""


def test_a_file_of_a_stranger_counts_from_the_next_question_on(space: SpaceFolder) -> None:
    assert space.decide("writer@shop", "remember", MEMORY)
    path = space.root / "policies/more.cedar"
    path.write_text(STRANGER.replace("MEM", MEMORY))
    denied = space.decide("writer@shop", "remember", MEMORY)
    assert not denied and denied.policies == ("policies/more.cedar:2",)
    allowed = space.decide("reader@shop", "remember", MEMORY)
    assert allowed.why == "allowed by policies/more.cedar:6"
    assert not space.decide("reader@shop", "forget", MEMORY)
    path.unlink()
    assert space.decide("writer@shop", "remember", MEMORY)
    assert not space.decide("reader@shop", "remember", MEMORY)


def test_a_dozen_policies_keep_their_places(space: SpaceFolder) -> None:
    (space.root / "policies/roles.cedar").write_text(
        "\n".join(
            f'permit(principal == User::"{sub}", action, resource);'
            for sub in ("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "reader@shop")
        )
    )
    assert space.decide("reader@shop", "purge", MEMORY).policies == ("policies/roles.cedar:12",)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("permit(principal, action, resource)", 1, "unexpected end of input"),
        ("permit(principal, action, resource);\n\npermit(principal, action == Action::\"read\", "
         "resource);", 3, "unrecognized action"),
        ("// ours\npermit(principal in Role::\"owner\", action, resource) "
         "when { resource.secret == 1 };", 2, "secret"),
        ("permit(principal == Person::\"lin\", action, resource);", 1, "Person"),
        ("permit(principal == ?principal, action, resource);", 1, "a template, which nothing"),
        ("permit", 1, "unexpected"),
        ("\x00\x01", 1, "invalid token"),
    ],
    ids=["cut", "action", "attribute", "kind", "template", "word", "bytes"],
)  # fmt: skip
def test_a_policy_that_cannot_be_understood_denies_everything(
    space: SpaceFolder, text: str, line: int, why: str
) -> None:
    (space.root / "policies/bad.cedar").write_text(text)
    with pytest.raises(FormatError, match=rf"policies/bad\.cedar:{line}: .*{why}") as caught:
        Policies(space.root, "shop", list_policies(space.root))
    assert "\n" not in str(caught.value)
    denied = space.decide("owner@shop", "recall", MEMORY)
    assert not denied and f"policies/bad.cedar:{line}" in denied.why


def test_a_file_that_is_no_text_denies(space: SpaceFolder) -> None:
    (space.root / "policies/bad.cedar").write_bytes(b"permit(\xff)")
    assert "no UTF-8" in space.decide("owner@shop", "recall", MEMORY).why


def test_a_policy_that_fails_denies(space: SpaceFolder) -> None:
    (space.root / "policies/bad.cedar").write_text(
        "permit(principal, action, resource) when { 9223372036854775807 + 1 > 0 };"
    )
    found = space.decide("owner@shop", "recall", MEMORY)
    assert not found and "which denies" in found.why


def test_a_folder_without_policies_or_without_their_schema_denies(space: SpaceFolder) -> None:
    (space.root / "policies/roles.cedar").unlink()
    assert "no policy allows it" in space.decide("owner@shop", "recall", MEMORY).why
    (space.root / "schema.cedarschema").unlink()
    assert "cannot be understood" in space.decide("owner@shop", "recall", MEMORY).why


def test_without_the_library_the_error_names_the_extra(home: Home) -> None:
    script = (
        "import sys; sys.modules['cedarpy'] = None\n"
        "from kimi_memory.api.options import Home\n"
        "from kimi_memory.spaces.space_folder import SpaceFolder\n"
        "from pathlib import Path\n"
        "SpaceFolder.create(Home(Path(sys.argv[1]), Path(sys.argv[2])), 'shop')\n"
    )
    argv = [sys.executable, "-c", script, str(home.config), str(home.state)]
    said = subprocess.run(argv, capture_output=True, text=True, check=False).stderr
    assert said.splitlines()[-1].endswith(
        "A space needs the library cedarpy. Install it with 'pip install kimi-memory[team]'."
    )
    assert not (home.state / "spaces").exists()
