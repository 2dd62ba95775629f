"""Decisions by Cedar, over the policies of a space; the one module that knows cedarpy."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kimi_memory.domain.space_types import ALL_ACTIONS, PLACE, Decision, Member, Question
from kimi_memory.errors import FormatError, UsageError
from kimi_memory.spaces.space_files import ABOUT, describe, read_about
from kimi_memory.spaces.starter_policies import role_parents
from kimi_memory.store.files.disk import Stat, state_of

SCHEMA = "schema.cedarschema"
FOLDER = "policies"
# Texts and comments may hold what ends a policy.
_PLACE = re.compile(rf"\baction\s[^;{{]*\b{PLACE}\b")
_MARK = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|;|[^\s;"]', re.DOTALL)


class Policies:
    """The policies of one space, as they stand in its folder.

    Args:
        root: the folder of the space.
        space: its name.
        files: what `list_policies` returns.

    Raises:
        UsageError: cedarpy is not installed.
        FormatError: a policy cannot be understood, or speaks of what the schema does not have.
    """

    def __init__(self, root: Path, space: str, files: Sequence[str]) -> None:
        self._cedar, self._space, self.files = load_library(), space, files
        try:
            schema = _read_text(root, SCHEMA)
            self._schema = self._cedar.Schema.from_str(schema)
        except ValueError as error:
            raise FormatError(SCHEMA, 1, describe(error)) from error
        # In a space of before, whose schema knows no places, no policy can speak of them.
        self._knows_places = bool(_PLACE.search(schema))
        found: dict[str, Any] = {}
        for name in files:
            found |= self._parse_file(name, _read_text(root, name))
        whole = {"templates": {}, "staticPolicies": found, "templateLinks": []}
        self._set = self._cedar.PolicySet.from_json_str(json.dumps(whole))
        self._known: dict[Question, Decision] = {}

    def _parse_file(self, name: str, text: str) -> Mapping[str, Any]:
        """Return the policies of a file by the places where they stand."""
        try:
            parsed = json.loads(self._cedar.policies_to_json_str(text))
        except ValueError as error:
            raise FormatError(name, 1, describe(error)) from error
        lines = list(_yield_first_lines(text))
        places = [f"{name}:{line}" for line in lines]
        if parsed["templates"] or len(places) != len(parsed["staticPolicies"]):
            raise FormatError(name, 1, "it holds a template, which nothing links")
        checked = self._cedar.validate_policies(text, self._schema)
        if checked.errors:
            first = checked.errors[0]
            line = lines[int(first.policy_id.removeprefix("policy"))]
            raise FormatError(name, line, describe(first.error))
        # Cedar numbers them in the order of the text.
        numbered = sorted(parsed["staticPolicies"], key=lambda one: int(one[len("policy") :]))
        return {
            place: parsed["staticPolicies"][one]
            for place, one in zip(places, numbered, strict=True)
        }

    def decide(self, question: Question) -> Decision:
        """Return whether a member may do something in all of the areas that it is about.

        What no policy allows is denied, and so is what a policy fails over.
        """
        known = self._known.get(question)
        if known is None:
            if len(self._known) > 10_000:
                self._known.clear()
            known = self._known[question] = self._ask(question)
        return known

    def _ask(self, question: Question) -> Decision:
        member, action = question.member, question.action
        whom = f"{member.sub} ({', '.join(member.roles) or 'no role'})"
        if question.place and not self._knows_places:
            return Decision(True, (), f"{SCHEMA} of this space says nothing of places")
        if action not in ALL_ACTIONS and not question.place:
            raise UsageError(f"{action!r} is no action. Use one of {', '.join(ALL_ACTIONS)}.")
        place = question.place
        more = {"task": place.task, "security": place.security} if place else {}
        requests = [
            {
                "principal": f"{_type_of(member)}::{json.dumps(member.sub, ensure_ascii=False)}",
                "action": f'Action::"{action}"',
                "resource": f"Area::{json.dumps(scope, ensure_ascii=False)}",
                "context": {"own": [member.area], **more},
            }
            for scope in question.scopes
        ]
        entities = json.dumps(self._entities(question))
        answers = self._cedar.is_authorized_batch(requests, self._set, entities, self._schema)
        reasons: list[str] = []
        for scope, answer in zip(question.scopes, answers, strict=True):
            where = f"in {scope} " if scope else ""
            # Cedar skips a policy that fails; one that forbids would then let somebody in.
            if answer.diagnostics.errors:
                told = describe(answer.diagnostics.errors[0])
                return Decision(False, (), f"a policy failed, which denies: {told}")
            places = sorted(answer.diagnostics.reasons)
            if not answer.allowed:
                why = f"{', '.join(places)} forbids it" if places else "no policy allows it"
                return Decision(False, tuple(places), f"{whom} may not {action} {where}here: {why}")
            reasons += places
        found = tuple(dict.fromkeys(reasons))
        return Decision(True, found, f"allowed by {', '.join(found)}")

    def _entities(self, question: Question) -> list[dict[str, Any]]:
        parents = role_parents()
        roles = [_entity("Role", role, parents.get(role) and ("Role", parents[role])) for role in
                 dict.fromkeys((*parents, *parents.values()))]  # fmt: skip
        member = question.member
        who = _entity(_type_of(member), member.sub, *(("Role", role) for role in member.roles))
        if place := question.place:
            who["attrs"] = {"kind": place.kind, "region": place.region, "zone": place.zone}
        places = [
            _entity("Space", self._space),
            _entity("Memory", question.memory, ("Space", self._space)),
        ]
        areas = [
            {**_entity("Area", scope, ("Memory", question.memory)), "attrs": {"scope": scope}}
            for scope in question.scopes
        ]
        return [*roles, who, *places, *areas]


class PolicyFolders:
    """The policies of spaces as they stand in their folders; what changes there is read anew."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[Stat | None, ...], Policies]] = {}

    def find(self, root: Path) -> Policies:
        """Return the policies of a space.

        Raises:
            UsageError: cedarpy is not installed.
            FormatError: a policy cannot be understood.
        """
        known = self._known.get(root)
        if known is None or _mark_files(root, known[1].files) != known[0]:
            # Looked at before they are read: what changes meanwhile is noticed the next time.
            files = list_policies(root)
            marks = _mark_files(root, files)
            known = self._known[root] = marks, Policies(root, read_about(root).name, files)
        return known[1]


def _mark_files(root: Path, files: Sequence[str]) -> tuple[Stat | None, ...]:
    # The folder changes with the names in it, a file with its text.
    folder = str(root)
    return tuple([state_of(folder, name) for name in (ABOUT, SCHEMA, FOLDER, *files)])


def list_policies(root: Path) -> list[str]:
    """Return the files of policies in the folder of a space."""
    return [f"{FOLDER}/{path.name}" for path in sorted((root / FOLDER).glob("*.cedar"))]


def _entity(kind: str, id: str, *parents: Sequence[str] | str | None) -> dict[str, Any]:
    inside = [{"type": one[0], "id": one[1]} for one in parents if one]
    return {"uid": {"type": kind, "id": id}, "attrs": {}, "parents": inside}


def _type_of(member: Member) -> str:
    return {"agent": "Agent", "node": "Node"}.get(member.kind, "User")


def _yield_first_lines(text: str) -> Iterator[int]:
    """Yield the line on which each policy begins."""
    begun = False
    for mark in _MARK.finditer(text):
        if mark[0].startswith("//"):
            continue
        if mark[0] == ";":
            begun = False
        elif not begun:
            begun = True
            yield text.count("\n", 0, mark.start()) + 1


def _read_text(root: Path, name: str) -> str:
    try:
        return (root / name).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(name, 1, "it is no UTF-8 text", "Save it as UTF-8") from error
    except OSError as error:
        raise FormatError(name, 1, f"it cannot be read: {error.strerror}") from error


def load_library() -> Any:
    """Return the library that decides.

    Raises:
        UsageError: it is not installed.
    """
    try:
        return importlib.import_module("cedarpy")
    except ImportError as error:
        raise UsageError(
            "A space needs the library cedarpy. Install it with 'pip install kimi-memory[team]'."
        ) from error
