"""Where a task over a memory of a space may run, as the policies of that space say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kimi_memory.api.options import Home
from kimi_memory.domain.agent_run import Task
from kimi_memory.domain.placement_types import NodeProfile
from kimi_memory.domain.space_types import PLACE, Decision, Member, Place, Question
from kimi_memory.errors import FormatError, PluginError
from kimi_memory.spaces.audit_log import decision_record
from kimi_memory.spaces.space_files import find_registered
from kimi_memory.spaces.space_folder import LOCAL, SpaceFolder, find_space_of


class PlacePolicies:
    """Asks the space of a memory on which machines a task may run.

    Args:
        home: where the spaces of this machine are listed.
        memory: its id; none if empty.
        root: its folder on this machine, if it has one.
        via: how the question came, for the log.
    """

    def __init__(self, home: Home, memory: str, root: Path, via: str = "cli") -> None:
        self._home, self._memory, self._root, self._via = home, memory, root, via

    @property
    def space(self) -> str:
        """What the space of the memory is called; empty where it belongs to none."""
        found = find_registered(self._home.state, self._memory, self._root)
        return found[0] if found else ""

    def refuse(self, nodes: Sequence[NodeProfile], task: Task) -> dict[str, str]:
        """Return why a task may not run on some machines; each decision is noted in the log.

        Raises:
            FormatError: nobody knows whether the memory belongs to a space.
            DiskError: the log takes no line, so nothing may be placed.
        """
        space = find_space_of(self._home, self._memory, self._root) if self._memory else None
        if space is None:
            return {}
        refused = {}
        for node in nodes:
            decision = decide_place(space, self._memory, node, task)
            line = decision_record(
                space.name, node.name, PLACE, decision, self._memory, via=self._via,
                resource=task.class_,
            )  # fmt: skip
            space.note(line)
            if not decision:
                refused[node.name] = decision.why
        return refused


def decide_place(space: SpaceFolder, memory: str, node: NodeProfile, task: Task) -> Decision:
    """Return whether a task may run on a machine; what cannot be understood denies.

    Args:
        space: that the memory belongs to.
        memory: its id.
        node: the machine; where it is a member of the space, it has its roles.
        task: what is to run there.
    """
    try:
        known = space.members.get(node.name)
        roles = known.roles if known and known.kind == "node" else ()
        # Always of the same moment, so that equal questions are equal.
        member = Member(node.name, "node", node.name, roles, space.about.created, LOCAL)
        place = Place(node.kind, node.region, node.zone, task.class_, task.security)
        question = Question(member, PLACE, memory, place=place)
        found = space.host.answer("permit", question=question, root=space.root)
    except (FormatError, OSError) as error:
        return Decision(
            False, (), f"A file of the space cannot be understood, which denies: {error}"
        )
    except PluginError as error:
        return Decision(False, (), f"A plugin failed, which denies: {error}")
    if isinstance(found, Decision):
        return found
    return Decision(False, (), "no plugin decides what is permitted")
