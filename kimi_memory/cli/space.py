"""``space``: share memories in a team, say who may do what, read who did."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from kimi_memory.api.options import Home, user_host
from kimi_memory.capture.log import Screen
from kimi_memory.cli.shared import (
    find_memory,
    foretell,
    open_memory,
    pad,
    say,
    say_finding,
    show,
    show_json,
    show_result,
    translate,
)
from kimi_memory.cli.space_budget import add_budget_step, keep_budget
from kimi_memory.cli.space_issuer import add_issuer_steps, log_in, set_issuer
from kimi_memory.cli.space_recall import add_recall_step, recall_memories
from kimi_memory.domain.ids import utcnow
from kimi_memory.domain.space_types import ACTING, ALL_ACTIONS, KINDS, ROLES, Audit, Member
from kimi_memory.errors import DeniedError, NotAMemoryError, UsageError
from kimi_memory.formats.json_values import plain
from kimi_memory.spaces.new_space import check_new
from kimi_memory.spaces.space_files import read_registry
from kimi_memory.spaces.space_folder import SpaceFolder

_AGO = re.compile(r"(\d{1,5})([dh])")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    create = steps.add_parser("create", help="make a space in a folder of its own")
    create.add_argument("name", help="what it is called")
    create.add_argument("--folder", type=Path, help="a new or empty folder for it")
    create.add_argument("--dry-run", action="store_true", help="only say what would be done")
    _add_member_steps(steps)
    _add_memory_steps(steps)
    log = steps.add_parser("log", help="show who asked for what, and what was decided")
    log.add_argument("--who", default="", metavar="MEMBER", help="only what this member asked for")
    log.add_argument("--since", default="", metavar="WHEN", help="from a date on, or 7d, or 12h")
    log.add_argument("--denied", action="store_true", help="only what was refused")
    log.add_argument("-n", type=int, default=50, metavar="N", help="the last N; default: 50")
    steps.add_parser("verify", help="check that no line of the log was changed")
    add_recall_step(steps)
    add_issuer_steps(steps)
    add_budget_step(steps)
    listed = steps.add_parser("list", help="list spaces, or the members and memories of one")
    listed.add_argument("name", nargs="?", default="", help="of a space")
    for name, step in steps.choices.items():
        if name not in ("create", "list"):
            step.add_argument("--space", default="", metavar="NAME", help="default: the only one")


def _add_member_steps(steps) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001  argparse names no such type
    for name, help in (
        ("add", "take somebody in, with roles"),
        ("grant", "give a member other roles in place of those it has"),
    ):
        step = steps.add_parser(name, help=help)
        step.add_argument("member", help="a name for tokens, policies and the log")
        step.add_argument(
            "--role", action="append", choices=ROLES, required=True,
            help="what it may do; each role includes those before it; may be repeated",
        )  # fmt: skip
        step.add_argument("--dry-run", action="store_true", help="only say what would be done")
    add = steps.choices["add"]
    add.add_argument("--kind", choices=KINDS, default="user", help="what it is; default: user")
    add.add_argument("--name", default="", help="its name for people to read")
    add.add_argument("--identity", default="", help="what the issuer calls this person or group")
    add.add_argument(
        "--recipient", default="", metavar="KEY",
        help="its public key of age or ssh, for 'kimi-memory sealed add --space'",
    )  # fmt: skip
    remove = steps.add_parser("remove", help="put a member out; its next request is refused")
    remove.add_argument("member", help="who")
    remove.add_argument("--dry-run", action="store_true", help="only say what would be done")


def _add_memory_steps(steps) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001  as above
    share = steps.add_parser("share", help="make the memory here one of the space")
    share.add_argument("--name", default="", help="what the space calls it")
    unshare = steps.add_parser("unshare", help="take a memory out of the space")
    unshare.add_argument("name", help="of the memory in the space")
    who = steps.add_parser("who", help="show who may do what in a memory, and by which policy")
    who.add_argument("name", nargs="?", default="", help="of the memory in the space")
    who.add_argument("--action", choices=ALL_ACTIONS, help="only who may do this")
    check = steps.add_parser("check", help="say whether a member may do something, and why")
    check.add_argument("member", help="who")
    check.add_argument("action", choices=ALL_ACTIONS, metavar="ACTION", help="such as recall")
    check.add_argument("name", nargs="?", default="", help="of the memory in the space")
    for step in (share, unshare):
        step.add_argument("--dry-run", action="store_true", help="only say what would be done")


def run(arguments: Namespace) -> int:
    """Carry out one step."""
    home = Home.of_user()
    if arguments.step in ("create", "add", "share", "issuer"):
        _refuse_secrets(home, arguments)
    if arguments.step == "create":
        return _create(arguments, home)
    if arguments.step == "list" and not arguments.name:
        return _list_spaces(arguments, home)
    space = _open_space(home, arguments)
    space.dry_run = getattr(arguments, "dry_run", False)
    steps = {
        "add": _add, "grant": _grant, "remove": _remove, "share": _share, "unshare": _unshare,
        "issuer": set_issuer, "login": log_in, "who": _who, "check": _check, "log": _log,
        "verify": _verify, "list": _list_members, "recall": recall_memories,
        "budget": keep_budget,
    }  # fmt: skip
    return steps[arguments.step](arguments, space)


def _create(arguments: Namespace, home: Home) -> int:
    folder = arguments.folder.expanduser() if arguments.folder else None
    if arguments.dry_run:
        root = check_new(home, arguments.name, folder)
        line = "Would make the space {space} in {folder}, with policies for four roles."
        return foretell(arguments, say(line, space=arguments.name, folder=root))
    space = SpaceFolder.create(home, arguments.name, folder)
    line = say(
        "The space {space} is in {folder}. Take somebody in with 'kimi-memory space add NAME "
        "--role reader', and share a memory with 'kimi-memory space share'.",
        space=space.name, folder=space.root,
    )  # fmt: skip
    return show_result(arguments, {"name": space.name, "folder": str(space.root)}, line)


def _refuse_secrets(home: Home, arguments: Namespace) -> None:
    screen = Screen(user_host(home), home.key())
    for field in ("name", "member", "identity", "url", "audience", "claim", "groups", "client"):
        if screen.mask(getattr(arguments, field, "") or "")[1]:
            raise UsageError("The name holds a secret, which git would keep. Choose another.")


def _open_space(home: Home, arguments: Namespace) -> SpaceFolder:
    name = arguments.name if arguments.step == "list" else arguments.space
    if name:
        return SpaceFolder.open(home, name)
    found = list(read_registry(home))
    if not found:
        raise UsageError("There is no space. Make one with 'kimi-memory space create NAME'.")
    if len(found) > 1:
        names = ", ".join(found)
        raise UsageError(f"There are {len(found)} spaces. Name one with --space: {names}.")
    return SpaceFolder.open(home, found[0])


def _list_spaces(arguments: Namespace, home: Home) -> int:
    found = read_registry(home)
    lines = []
    for name, one in found.items():
        space = SpaceFolder.open(home, name)
        counts = say(
            "members: {members}  memories: {memories}",
            members=len(space.members), memories=len(one["memories"]),
        )  # fmt: skip
        lines.append(f"{name:<16} {counts:<28} {one['folder']}")
    none = say("No spaces. Make one with 'kimi-memory space create NAME'.")
    return show_result(arguments, found, "\n".join(lines) or none)


def _list_members(arguments: Namespace, space: SpaceFolder) -> int:
    members = list(space.members.values())
    found = {"space": space.about, "members": members}
    return show_result(arguments, found, _format_members(space, members))


def _format_members(space: SpaceFolder, members: list[Member]) -> Iterator[str]:
    for id, name in space.about.memories.items():
        yield f"{pad(say('shares'), 7)} {name}  {id}  {space.root_of(id)[1]}"
    for one in members:
        since = say("since {day}", day=f"{one.added:%Y-%m-%d}")
        as_ = say("is {identity} to the issuer", identity=one.identity) if one.identity else ""
        parts = (f"{pad(say(one.kind), 7)} {_title(one)}", ", ".join(one.roles), since, as_)
        yield "  ".join(filter(None, parts))
    if space.about.issuer:
        yield say("People of {issuer} come in, too.", issuer=space.about.issuer)
    if not members:
        yield say("No members. Take somebody in with 'kimi-memory space add NAME --role reader'.")


def _add(arguments: Namespace, space: SpaceFolder) -> int:
    sub, roles = arguments.member, arguments.role
    made = space.add(
        sub, roles, arguments.kind, name=arguments.name, identity=arguments.identity,
        recipient=arguments.recipient,
    )  # fmt: skip
    if arguments.dry_run:
        line = "Would take {member} into {space} as {roles}."
        return foretell(arguments, say(line, **_named(space, sub, roles)))
    line = say("{member} is in {space} as {roles}.", **_named(space, sub, roles))
    if made.kind in ACTING:
        hint = "A token for it: 'kimi-memory serve token add {member} --member {member}'."
        line += " " + say(hint, member=sub)
    return show_result(arguments, made, line)


def _grant(arguments: Namespace, space: SpaceFolder) -> int:
    before, roles = space.member(arguments.member), arguments.role
    made = space.grant(before.sub, roles)
    named = {**_named(space, before.sub, roles), "before": ", ".join(before.roles)}
    if arguments.dry_run:
        line = "Would make {member}, who is {before}, {roles} instead."
        return foretell(arguments, say(line, **named))
    line = say("{member} was {before} in {space}, and is {roles} now.", **named)
    return show_result(arguments, made, line)


def _remove(arguments: Namespace, space: SpaceFolder) -> int:
    sub = space.member(arguments.member).sub
    if arguments.dry_run:
        line = "Would put {member} out of {space}."
        return foretell(arguments, say(line, member=sub, space=space.name))
    gone = space.remove(sub)
    line = say(
        "{member} is out of {space}; its next request is refused. What it could read before may "
        "have been copied.",
        member=sub, space=space.name,
    )  # fmt: skip
    return show_result(arguments, gone, line)


def _share(arguments: Namespace, space: SpaceFolder) -> int:
    with open_memory(arguments) as memory:
        id, root = memory.settings.memory.id, memory.root.resolve()
        name = arguments.name or memory.settings.memory.name or root.name
    space.share(id, name, root)
    if arguments.dry_run:
        line = "Would share {folder} in {space} as {name}."
        return foretell(arguments, say(line, folder=root, space=space.name, name=name))
    line = say(
        "{name} is shared in {space}. 'kimi-memory space who {name}' says who may do what.",
        name=name, space=space.name,
    )  # fmt: skip
    return show_result(arguments, {"id": id, "name": name, "folder": str(root)}, line)


def _unshare(arguments: Namespace, space: SpaceFolder) -> int:
    id, root = space.root_of(arguments.name)
    if arguments.dry_run:
        line = "Would take {name} ({folder}) out of {space}."
        named = {"name": arguments.name, "folder": root, "space": space.name}
        return foretell(arguments, say(line, **named))
    space.unshare(arguments.name)
    line = say(
        "{name} ({folder}) is in no space any more; nothing in it changed.",
        name=arguments.name, folder=root,
    )  # fmt: skip
    return show_result(arguments, {"id": id, "folder": str(root)}, line)


def _find_id(arguments: Namespace, space: SpaceFolder) -> str:
    """Return the id of the memory that was named, of the one here, or of the only one."""
    if arguments.name:
        return space.root_of(arguments.name)[0]
    held = list(space.about.memories)
    try:
        here = str(find_memory(arguments).resolve())
    except NotAMemoryError:
        here = ""
    for id in held:
        if len(held) == 1 or str(space.root_of(id)[1]) == here:
            return id
    names = ", ".join(space.about.memories.values()) or "there is none yet"
    raise UsageError(f"Name a memory of the space {space.name}: {names}.")


def _who(arguments: Namespace, space: SpaceFolder) -> int:
    memory = _find_id(arguments, space)
    wanted = [arguments.action] if arguments.action else ALL_ACTIONS
    found = {
        one.sub: {
            action: list(decision.policies)
            for action in wanted
            if (decision := space.decide(one.sub, action, memory))
        }
        for one in space.members.values()
    }
    lines = [
        f"{_title(space.member(sub))}  {', '.join(may) or say('nothing')}"
        for sub, may in found.items()
        if may or not arguments.action
    ]
    if not any(found.values()):
        nobody = "Nobody may do anything there."
        lines.append(say("Nobody may do this there." if arguments.action else nobody))
    return show_result(arguments, found, lines)


def _check(arguments: Namespace, space: SpaceFolder) -> int:
    member, action = arguments.member, arguments.action
    decision = space.decide(member, action, _find_id(arguments, space))
    why = translate(decision.why)
    show_result(arguments, decision, why if decision else say("denied: {why}", why=why))
    return 0 if decision else DeniedError.exit_code


def _log(arguments: Namespace, space: SpaceFolder) -> int:
    since = _moment(arguments.since) if arguments.since else None
    found = [
        one
        for one in space.log.records()
        if (not arguments.who or one.sub == arguments.who)
        and (since is None or one.at >= since)
        and (not arguments.denied or one.decision == "deny")
    ]
    found = found[-arguments.n :] if arguments.n > 0 else found
    if arguments.json:
        show_json([{**plain(one), "sealed": space.log.is_sealed(one)} for one in found])
        return 0
    for one in found:
        show("  ".join(_format_record(one, space)))
    if not found:
        show(say("Nothing of that was asked for."))
    return 0


def _format_record(record: Audit, space: SpaceFolder) -> Iterator[str]:
    yield f"{record.at.astimezone():%Y-%m-%d %H:%M:%S}"
    yield f"{pad(say(record.sub), 16)} {record.action:<10}"
    yield space.about.memories.get(record.memory, record.memory) or "-"
    yield record.resource or "-"
    if not space.log.is_sealed(record):
        yield say("not written by this machine, or changed since")
    if record.count:
        yield say("{count} shown", count=record.count)
    by = ", ".join(record.policies)
    told = "allowed" if record.decision == "allow" else "DENIED"
    yield say(f"{told} by {{policies}}", policies=by) if by else say(told)


def _moment(text: str) -> datetime:
    if found := _AGO.fullmatch(text):
        unit = "days" if found[2] == "d" else "hours"
        return utcnow() - timedelta(**{unit: int(found[1])})
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        raise UsageError(f"{text!r} is no date. Write 2026-02-27, 7d or 12h.") from None


def _verify(arguments: Namespace, space: SpaceFolder) -> int:
    # A space of one machine needs nothing of a cluster.
    from kimi_memory.spaces.carried import find_carried

    known, silent = find_carried(space)
    found = space.log.verify(known)
    lines = [f"✗ {fault.place}: {say_finding(fault.why)}" for fault in found.faults]
    if not found.faults:
        line = say(
            "{records} records of this machine follow each other and end where they should; "
            "{commits} commits name records that are there.",
            records=found.records, commits=found.checkpoints,
        )  # fmt: skip
        lines.append(f"✓ {line}")
        if found.carried:
            line = "{count} records of change logs name lines that are there."
            lines.append(f"✓ {say(line, count=found.carried)}")
    lines += [f"! {say('not compared with the change log of {log}', log=one)}" for one in silent]
    show_result(arguments, {**plain(found), "not_asked": silent}, lines)
    return int(bool(found.faults))


def _named(space: SpaceFolder, sub: str, roles: list[str]) -> dict[str, str]:
    return {"member": sub, "space": space.name, "roles": ", ".join(roles)}


def _title(member: Member) -> str:
    named = f" ({member.name})" if member.name != member.sub else ""
    return f"{member.sub}{named}"
