"""The registry of a cluster: its nodes and which folders of which memory they hold.

It coordinates and holds no memory: all of it can be lost and is written anew by the nodes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import PurePath
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from kimi_memory.domain.change_log import ChangeLog, Lease, Row
from kimi_memory.domain.cluster import NodeKind, Role
from kimi_memory.domain.space_types import AuditHead
from kimi_memory.errors import AmbiguousIdError, UsageError
from kimi_memory.lazy_dataclass import dataclass

_NAMES = {"name", "memory", "node"}
_Value = TypeVar("_Value", "Node", "DeploymentRow")
Status = Literal["deploying", "active", "syncing", "inactive"]
_NODES, _DEPLOYMENTS, _WISHES = "nodes", "deployments", "wishes"
_PURGES, _REACHED = "purges", "purges-reached"
_PROPOSALS, _ANSWERS = "proposals", "answers"
_AUDITS = "audits"
_ASKS, _REPLIES = "asks", "replies"


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster."""

    name: str
    kind: NodeKind = "hybrid"
    region: str = ""
    zone: str = ""
    host: str = ""
    version: str = ""
    since: str = ""
    address: str = ""
    """Of its HTTP server, for programs elsewhere; empty where it said nothing."""
    key: str = ""
    """Its public key, never a secret; empty where it signs nothing."""
    load: int = 0
    """How busy its processors were when it was seen, 0 to 100."""
    seen_seconds: float = 0.0
    """How long ago it said that it is there, by the clock of the engine."""


@dataclass(frozen=True, slots=True)
class DeploymentRow:
    """A folder of a memory on a node, as that node last described it."""

    memory: str
    name: str
    node: str
    role: Role = "replica"
    status: Status = "deploying"
    why: str = ""
    folder: str = ""
    applied: int = 0
    """The last record that was carried out there."""
    epoch: int = 0
    lag_records: int = 0
    lag_ms: int = 0
    promote: bool = True
    """Whether it may take over."""
    deployed: str = ""
    synced: str = ""
    """When it last saw the end of the log, by its own clock."""
    bytes: int = 0
    """Of the files of the memory there."""
    keep: tuple[str, ...] = ()
    """The tiers that a cache has; all of the memory if empty."""
    durability: str = "replicated"
    """``local`` while turns are kept there that the log has not yet."""
    seen_seconds: float = 0.0


def give_role(row: DeploymentRow, lease: Lease) -> DeploymentRow:
    """Return a deployment with the role that it has now, as its log says who leads."""
    leads = lease.held and lease.holder == row.node
    role: Role = "primary" if leads else ("cache" if row.role == "cache" else "replica")
    return replace(row, role=role, epoch=max(row.epoch, lease.epoch if leads else 0))


class Registry:
    """Reads and writes the registry in the engine of the change logs."""

    def __init__(self, log: ChangeLog) -> None:
        self._log = log

    def nodes(self) -> list[Node]:
        """Return the nodes by name."""
        return [_build_value(Node, row) for row in self._log.rows(_NODES)]

    def put_node(self, node: Node) -> None:
        """Write what a node says of itself; it counts as seen now."""
        self._log.put_row(_NODES, node.name, _render(node))

    def drop_node(self, name: str) -> None:
        """Remove a node."""
        self._log.drop_row(_NODES, name)

    def deployments(self, memory: str = "", node: str = "") -> list[DeploymentRow]:
        """Return the deployments, of one memory or on one node where they are given."""
        found = (_build_value(DeploymentRow, row) for row in self._log.rows(_DEPLOYMENTS))
        return [
            one
            for one in found
            if (not memory or one.memory == memory) and (not node or one.node == node)
        ]

    def put_deployment(self, row: DeploymentRow) -> None:
        """Write what a node says of a deployment of its own."""
        self._log.put_row(_DEPLOYMENTS, f"{row.memory}/{row.node}", _render(row))

    def drop_deployment(self, memory: str, node: str) -> None:
        """Remove a deployment."""
        self._log.drop_row(_DEPLOYMENTS, f"{memory}/{node}")

    def address(self, memory: str, node: str) -> str:
        """Return where a node serves a memory; empty where it said nothing."""
        base = next((one.address for one in self.nodes() if one.name == node), "")
        # Others may write into a log, and this becomes a header.
        sound = base.startswith(("http://", "https://")) and base.isascii() and base.isprintable()
        for row in self.deployments(memory, node) if sound else ():
            return f"{base.rstrip('/')}/m/{quote(PurePath(row.folder).name, safe='')}"
        return ""

    def wish(self, memory: str) -> str:
        """Return the node that a person wants to lead a memory; empty for any."""
        return str(self._body(_WISHES, memory).get("node", ""))

    def await_wish(self, memory: str, seconds: float) -> None:
        """Wait until somebody asks that a node leads a memory, or so long."""
        self._log.wait_row(_WISHES, memory, seconds)

    def put_wish(self, memory: str, node: str) -> None:
        """Ask that a node leads a memory; with no node, take that back."""
        if node:
            self._log.put_row(_WISHES, memory, json.dumps({"node": node}).encode(), calls=True)
        else:
            self._log.drop_row(_WISHES, memory)

    def last_purge(self, memory: str) -> int:
        """Return the number of the record of the last purge; 0 for none."""
        return int(self._body(_PURGES, memory).get("seq", 0))

    def put_purge(self, memory: str, seq: int) -> None:
        """Note the record of a purge."""
        self._log.put_row(_PURGES, memory, json.dumps({"seq": seq}).encode())

    def reached(self, memory: str, node: str) -> Mapping[str, Any]:
        """Return what a node said when it had carried out a purge; nothing if it has not."""
        return self._body(_REACHED, f"{memory}/{node}")

    def put_reached(self, memory: str, node: str, seq: int, kept: Sequence[str] = ()) -> None:
        """Note that a purge reached a node, and what was put aside there that may hold the text."""
        body = _to_json({"seq": seq, "kept": kept})
        self._log.put_row(_REACHED, f"{memory}/{node}", body)

    def proposals(self, memory: str) -> dict[str, Mapping[str, Any]]:
        """Return what nodes that do not lead want to have written to a memory, by key."""
        return self._bodies(_PROPOSALS, f"{memory}/")

    def put_proposal(self, key: str, body: Mapping[str, Any]) -> None:
        """Write what a node wants to have written; the key begins with memory and node."""
        self._log.put_row(_PROPOSALS, key, _to_json(body))

    def answers(self, memory: str, node: str) -> dict[str, Mapping[str, Any]]:
        """Return what became of the proposals of a node, by key."""
        return self._bodies(_ANSWERS, f"{memory}/{node}/")

    def answer(self, key: str, body: Mapping[str, Any]) -> None:
        """Write what became of a proposal, then remove it."""
        self._log.put_row(_ANSWERS, key, _to_json(body))
        self.drop_proposal(key)

    def drop_proposal(self, key: str) -> None:
        """Remove a proposal; who made it makes it again, if need be."""
        self._log.drop_row(_PROPOSALS, key)

    def drop_answer(self, key: str) -> None:
        """Remove an answer that was read."""
        self._log.drop_row(_ANSWERS, key)

    def _bodies(self, table: str, beginning: str) -> dict[str, Mapping[str, Any]]:
        rows = (row for row in self._log.rows(table) if row.key.startswith(beginning))
        return {row.key: dict(json.loads(row.body)) for row in rows}

    def _body(self, table: str, key: str) -> Mapping[str, Any]:
        rows = (row for row in self._log.rows(table) if row.key == key)
        return next((dict(json.loads(row.body)) for row in rows), {})

    def audit_heads(self, memory: str) -> list[AuditHead]:
        """Return where the audit logs of nodes end, as these say; of nodes that share a memory."""
        found = []
        for key, body in self._bodies(_AUDITS, f"{memory}/").items():
            with suppress(ValueError, TypeError, KeyError):  # Others may write rows.
                node = key.partition("/")[2]
                found.append(AuditHead(str(body["space"]), node, int(body["seq"]), body["hash"]))
        return found

    def put_audit_head(self, memory: str, head: AuditHead) -> None:
        """Write where the audit log of this node ends."""
        self._log.put_row(_AUDITS, f"{memory}/{head.node}", _to_json(head._asdict()))

    def questions(self, node: str) -> dict[str, Mapping[str, Any]]:
        """Return what a node is asked to do, by key: the memory, who asks, and an id."""
        return {key: one for key, one in self._bodies(_ASKS, "").items() if one.get("on") == node}

    def ask(self, key: str, body: Mapping[str, Any]) -> None:
        """Ask a node to do something."""
        self._log.put_row(_ASKS, key, _to_json(body))

    def reply(self, key: str, node: str) -> Mapping[str, Any]:
        """Return what a node did as it was asked; nothing until it did."""
        return self._body(_REPLIES, _reply_key(key, node))

    def put_reply(self, key: str, node: str, body: Mapping[str, Any]) -> None:
        """Write what this node did as it was asked."""
        self._log.put_row(_REPLIES, _reply_key(key, node), _to_json(body))

    def drop_question(self, key: str, node: str) -> None:
        """Remove a question, and its reply."""
        self._log.drop_row(_ASKS, key)
        self._log.drop_row(_REPLIES, _reply_key(key, node))

    def find(self, name: str) -> str:
        """Return the id of a deployed memory by its name, its id, or the beginning of one.

        Raises:
            UsageError: there is none.
            AmbiguousIdError: several have that name.
        """
        rows = self.deployments()
        found = sorted({one.memory for one in rows if name in (one.name, one.memory)})
        found = found or sorted({one.memory for one in rows if one.memory.startswith(name)})
        if not found:
            raise UsageError(
                f"No memory {name!r} is deployed. 'kimi-memory deploy list' has those that are."
            )
        if len(found) > 1:
            raise AmbiguousIdError(name, found)
        return found[0]


def measure_load() -> int:
    """Return how busy the processors of this machine were in the last minute, 0 to 100."""
    return min(100, round(100 * os.getloadavg()[0] / (os.cpu_count() or 1)))


def _reply_key(key: str, node: str) -> str:
    """Return the key of a reply: it names who gives it, where that of the question has who asks.

    So each is signed by the one that it names.
    """
    memory, _, id = key.split("/")
    return f"{memory}/{node}/{id}"


def _to_json(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, sort_keys=True).encode()


def _list_fields(kind: type[Node] | type[DeploymentRow]) -> list[str]:
    # How long ago a row was seen is for the engine to say, not for the node.
    return [one.name for one in fields(kind) if one.name != "seen_seconds"]


def _render(value: Node | DeploymentRow) -> bytes:
    return _to_json({name: getattr(value, name) for name in _list_fields(type(value))})


def _build_value(kind: type[_Value], row: Row) -> _Value:
    """Return what a node wrote; others may write into a log, so each value is looked at.

    Raises:
        UsageError: it is no such row.
    """
    names: list[str] = _list_fields(kind)
    try:
        body = json.loads(row.body)
        # JSON has lists where we have tuples.
        known: dict[str, Any] = {
            name: tuple(map(str, value)) if isinstance(value := body[name], list) else value
            for name in names
            if name in body
        }
        made = kind(**known, seen_seconds=round(row.age_seconds, 2))
        # The defaults show of which type each field has to be.
        plain = kind(**dict[str, Any](dict.fromkeys({*names} & _NAMES, "")))
        wrong = [name for name in known if type(known[name]) is not type(getattr(plain, name))]
        if wrong:
            raise TypeError(f"{wrong[0]} is no {type(getattr(plain, wrong[0])).__name__}")
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"The log has a damaged row {row.key[:60]!r}: {error}. Drop it."
        ) from error
    return made
