"""A space as a folder: what it is called, its members and policies, each change a commit."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import cast

from kimi_memory.agent_hooks.user_files import put
from kimi_memory.api.options import Home, user_host
from kimi_memory.domain.ids import utcnow
from kimi_memory.domain.space_types import (
    ACTING,
    KINDS,
    Audit,
    Decision,
    Kind,
    Member,
    Question,
    Space,
)
from kimi_memory.errors import DeniedError, FormatError, NotFoundError, PluginError, UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.spaces.audit_log import AuditLog, decision_record
from kimi_memory.spaces.issuers import Asking, Issuer
from kimi_memory.spaces.new_space import check_new, lay_files
from kimi_memory.spaces.people import find_person
from kimi_memory.spaces.policies import FOLDER, SCHEMA
from kimi_memory.spaces.space_files import (
    ABOUT,
    MEMBERS,
    check_name,
    check_roles,
    find_registered,
    format_about,
    format_members,
    read_about,
    read_members,
    read_registry,
    write_registry,
)
from kimi_memory.store.files.disk import Stat, state_of

LOCAL = "owner of the folder"
"""Who changes a space at its folder, in the log."""


def find_space_of(home: Home, memory: str, root: Path) -> SpaceFolder | None:
    """Return the space that a memory belongs to by its id or its folder, or None."""
    found = find_registered(home.state, memory, root)
    return SpaceFolder.open(home, found[0]) if found else None


class SpaceFolder:
    """A space that is open: who is in it, what they may do, what was decided.

    What changes on disk holds from the next question on.
    """

    def __init__(self, home: Home, root: Path, node: str) -> None:
        self.home, self.root = home, root
        aside = home.state / "spaces" / f".{read_about(root).id}"
        self.log = AuditLog(root, node, home.key(), aside)
        self._about: tuple[Stat | None, Space] = (None, read_about(root))
        self._members: tuple[Stat | None, dict[str, Member]] = (None, {})
        self.dry_run = False
        """Whether what changes it is only looked at, and refused where it would be."""

    @classmethod
    def create(cls, home: Home, name: str, folder: Path | None = None) -> SpaceFolder:
        """Make a space, with policies for four roles and no members.

        Args:
            home: where the user's spaces are listed.
            name: what it is called.
            folder: a new or empty folder; one in the user's state directory by default.

        Raises:
            UsageError: the name is taken or no name, the folder is not empty, or a library is
                missing.
        """
        root, registry = check_new(home, name, folder), read_registry(home)
        lay_files(root, name)
        registry[name] = {"folder": str(root), "memories": {}}
        write_registry(home, registry)
        made = cls.open(home, name)
        made.log.commit(f"Space {name}", ABOUT, MEMBERS, SCHEMA, FOLDER)
        return made

    @classmethod
    def open(cls, home: Home, name: str) -> SpaceFolder:
        """Open a space of this machine.

        Raises:
            NotFoundError: there is none of that name.
            FormatError: its ``space.toml`` cannot be understood.
        """
        found = read_registry(home).get(name)
        if found is None:
            raise NotFoundError("space", name)
        root = Path(found["folder"])
        return cls(home, root, home.settings().cluster.node or platform.node() or "here")

    @property
    def name(self) -> str:
        """What the space is called, as it was read last."""
        return self._about[1].name

    @property
    def shows_words(self) -> bool:
        """Whether its log has the words of questions, as it was read last."""
        return self._about[1].queries == "text"

    @property
    def about(self) -> Space:
        """What ``space.toml`` says."""
        mark = state_of(self.root, ABOUT)
        if mark != self._about[0]:
            self._about = mark, read_about(self.root)
        return self._about[1]

    @property
    def members(self) -> dict[str, Member]:
        """The members by their names."""
        mark = state_of(self.root, MEMBERS)
        if mark is None or mark != self._members[0]:
            self._members = mark, read_members(self.root / MEMBERS)
        return self._members[1]

    @cached_property
    def host(self) -> Host:
        """The plugins of the user, which say who somebody is and what is permitted."""
        return user_host(self.home)

    def member(self, sub: str) -> Member:
        """Return a member.

        Raises:
            NotFoundError: there is none of that name.
        """
        found = self.members.get(sub)
        if found is None:
            raise NotFoundError("member", sub)
        return found

    def decide(self, sub: str, action: str, memory: str, scopes: Sequence[str] = ("",)) -> Decision:
        """Return whether a member may do something in areas of a memory.

        What cannot be understood denies.

        Args:
            sub: the member.
            action: such as ``recall``.
            memory: the id of the memory; empty for what is about the space itself.
            scopes: areas that it is about; empty text is what is shared.
        """
        return self.decide_for(sub, action, memory, scopes=tuple(scopes))[0]

    def decide_for(
        self, sub: str, action: str, memory: str, groups: Sequence[str] = (),
        scopes: tuple[str, ...] = (),
    ) -> tuple[Decision, Member | None]:  # fmt: skip
        """Return what `decide` does, and the member with the roles of its groups.

        There is none where nobody has the name, or the list cannot be read.

        Args:
            sub: the member.
            action: such as ``recall``.
            memory: the id of the memory.
            groups: of the member, as an issuer says.
            scopes: areas that it is about; what is shared and its own where there are none.
        """
        found = None
        try:
            found = find_person(self.members, sub, groups)
            if found is None:
                return _deny(f"{sub} is no member of the space {self.name}"), None
            question = Question(found, action, memory, scopes or ("", found.area))
            return self._decide(question), found
        except (FormatError, OSError) as error:
            told = f"A file of the space cannot be understood, which denies: {error}"
            return _deny(told), found
        except PluginError as error:
            return _deny(f"A plugin failed, which denies: {error}"), found

    def _decide(self, question: Question) -> Decision:
        member, memory = question.member, question.memory
        if member.kind not in ACTING:
            return _deny(f"{member.sub} is a {member.kind}, which asks for nothing by itself")
        if memory and memory not in self.about.memories:
            return _deny(f"{memory} is no memory of the space {self.name}")
        found = self.host.answer("permit", question=question, root=self.root)
        return (
            found if isinstance(found, Decision) else _deny("no plugin decides what is permitted")
        )

    def note(self, record: Audit) -> None:
        """Write a decision into the log, before what it is about is answered."""
        reads = record.action in ("recall", "get", "context") and record.decision == "allow"
        # Reads come by the thousand: a line that the system has survives our end, not a power cut.
        self.log.append(record, sync=not reads)

    def believe(self, asking: Asking, client: str = "", *, by: str = "") -> None:
        """Let people in whom an issuer vouches for; nobody any more where it is empty.

        Raises:
            UsageError: a library is missing, or it is no address of an issuer.
            DeniedError: that member may not.
        """
        if asking.issuer:
            Issuer(asking)
            if not (asking.audience and asking.claim):
                raise UsageError("Say for whom the issuer has to sign, with --audience.")
        if not self._permit(by, "issuer"):
            return
        self._change_about(
            lambda about: replace(
                about, issuer=asking.issuer, audience=asking.audience, claim=asking.claim,
                groups=asking.groups, client=client,
            ),
            f"People of {asking.issuer or 'no issuer'}",
        )  # fmt: skip

    def bound(self, tokens: int, *, by: str = "") -> None:
        """Let the jobs of all its memories spend so many tokens in a day; any if 0.

        Raises:
            DeniedError: that member may not.
        """
        tokens = max(0, tokens)
        if not self._permit(by, "budget"):
            return
        self._change_about(
            lambda about: replace(about, tokens_per_day=tokens), f"{tokens:,} tokens a day"
        )

    def add(  # noqa: PLR0913  a line of members has as many
        self, sub: str, roles: Sequence[str], kind: str = "user", *, name: str = "",
        identity: str = "", recipient: str = "", by: str = "",
    ) -> Member:  # fmt: skip
        """Take somebody in.

        Args:
            sub: a name for tokens, policies and the log.
            roles: what it may do; each includes those before it.
            kind: user, agent, group or node.
            name: for people to read; `sub` if empty.
            identity: what the issuer calls a person or a group; `sub` if empty.
            recipient: a public key of age or ssh, for what is sealed for keepers and owners.
            by: the member who does that; empty for the owner of the folder.

        Raises:
            UsageError: a role or a kind does not exist, or somebody has the name.
            DeniedError: that member may not.
        """
        check_name(sub)
        check_roles(roles)
        if kind not in KINDS:
            raise UsageError(f"{kind!r} is no kind of member. Use {', '.join(KINDS)}.")
        if identity and kind not in ("user", "group"):
            raise UsageError(f"An issuer knows no {kind}. Leave --identity out.")
        made = Member(
            sub, cast(Kind, kind), name or sub, tuple(roles), utcnow(), by or LOCAL, identity,
            recipient,
        )  # fmt: skip

        # Checked under the lock of the list: two people may add the same name at once.
        def added(members: dict[str, Member]) -> None:
            if sub in members:
                raise UsageError(f"{sub} is a member already. Use 'kimi-memory space grant'.")
            if identity and any((one.kind, one.identity) == (kind, identity)
                                for one in members.values()):  # fmt: skip
                raise UsageError(f"Somebody has the identity {identity} already.")
            members[sub] = made

        self._change(added, f"{sub} is {', '.join(roles)}", by)
        return made

    def grant(self, sub: str, roles: Sequence[str], *, by: str = "") -> Member:
        """Give a member other roles in place of those it has.

        Raises:
            UsageError, NotFoundError, DeniedError: as in `add`.
        """
        check_roles(roles)

        def granted(members: dict[str, Member]) -> None:
            if sub not in members:
                raise NotFoundError("member", sub)
            members[sub] = replace(members[sub], roles=tuple(roles))

        self._change(granted, f"{sub} is {', '.join(roles)}", by)
        return self.member(sub)

    def remove(self, sub: str, *, by: str = "") -> Member:
        """Put a member out; its next request is refused.

        Raises:
            NotFoundError, DeniedError: as in `add`.
        """
        found = self.member(sub)

        def removed(members: dict[str, Member]) -> None:
            if members.pop(sub, None) is None:
                raise NotFoundError("member", sub)

        self._change(removed, f"{sub} is out", by)
        return found

    def share(self, id: str, name: str, root: Path, *, by: str = "") -> None:
        """Make a memory one of the space: from then on its server asks the policies.

        Raises:
            UsageError: it belongs to a space already, or another one has its name.
            DeniedError: that member may not.
        """
        if found := find_registered(self.home.state, id, root):
            raise UsageError(f"{name} belongs to the space {found[0]} already.")
        if name in self.about.memories.values():
            raise UsageError(f"The space {self.name} has a memory {name} already. Rename this one.")
        if not self._permit(by, name, "share"):
            return
        self._change_about(
            lambda about: replace(about, memories={**about.memories, id: name}), f"{name} is shared"
        )
        registry = read_registry(self.home)
        registry[self.name]["memories"][id] = str(root)
        write_registry(self.home, registry)

    def unshare(self, name: str, *, by: str = "") -> str:
        """Make a memory of the space one of its own again, and return its id.

        Raises:
            NotFoundError: the space has none of that name.
            DeniedError: that member may not.
        """
        id, _ = self.root_of(name)
        if not self._permit(by, name, "share"):
            return id
        kept = {one: as_ for one, as_ in self.about.memories.items() if one != id}
        subject = f"{name} is not shared any more"
        self._change_about(lambda about: replace(about, memories=kept), subject)
        registry = read_registry(self.home)
        registry[self.name]["memories"].pop(id, None)
        write_registry(self.home, registry)
        return id

    def root_of(self, name: str) -> tuple[str, Path]:
        """Return id and folder of a memory of the space, by its name or id.

        Raises:
            NotFoundError: it has none of that name.
        """
        found = {one: id for id, one in self.about.memories.items()}
        id = found.get(name, name)
        held = read_registry(self.home)[self.name]["memories"]
        if id not in held:
            raise NotFoundError("memory of the space", name)
        return id, Path(held[id])

    def _permit(self, by: str, resource: str, action: str = "member") -> bool:
        """Note who changes the space, and refuse who may not; False where nothing is to be done."""
        # Who holds the folder can write its files; that it was done is noted all the same.
        decision = self.decide(by, action, "") if by else Decision(True, (), LOCAL)
        via = "library" if by else "cli"
        line = decision_record(self.name, by or LOCAL, action, decision, resource=resource, via=via)
        if not self.dry_run:
            self.note(line)
        if not decision:
            raise DeniedError(self.name, decision.why)
        return not self.dry_run

    def _change_about(self, change: Callable[[Space], Space], subject: str) -> None:
        # Read again under the lock, or what another process changes now would be lost.
        with self.log.lock():
            put(self.root / ABOUT, format_about(change(read_about(self.root))))
        self.log.commit(subject, ABOUT)

    def _change(self, change: Callable[[dict[str, Member]], None], subject: str, by: str) -> None:
        path = self.root / MEMBERS
        # What cannot be done is refused before it is noted as done.
        change(dict(self.members))
        if not self._permit(by, subject):
            return
        with self.log.lock():
            members = read_members(path)
            change(members)
            put(path, format_members(list(members.values())))
        self.log.commit(subject, MEMBERS)


def _deny(why: str) -> Decision:
    return Decision(False, (), why)
