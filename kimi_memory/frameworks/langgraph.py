"""LangGraph's long-term store, kept in a memory: one readable file an item."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from kimi_memory.api.memory import Memory
from kimi_memory.domain.ids import moment
from kimi_memory.domain.job import Change
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import FormatError, NotFoundError, UsageError
from kimi_memory.nlp.basic.safe_text import Value
from kimi_memory.operations.agent_files import Folder, Page, clean_json, file_name

Namespace = tuple[str, ...]
_OPEN, _CLOSE = "```json\n", "\n```"
_SPARE = 3
"""So many lines are looked at for each item wanted: an item may be found by several."""


class MemoryStore(BaseStore):
    """A store for ``graph.compile(store=…)`` and ``create_agent(store=…)``.

    Values are JSON objects; secrets in them are masked. A search with a query is our
    recall among the items of the prefix: in any language, without an embedding model.
    The batch of puts is one transaction, in the journal and in history.

    Args:
        memory: an open memory.
        agent: whose items these are; no other agent's can be reached.
    """

    def __init__(self, memory: Memory, agent: str = "langgraph") -> None:
        self._item_folder = Folder(memory, agent, "store")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations; what is read is as it was before what is put."""
        results: list[Result] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        with self._item_folder.guard:
            for op in ops:
                if isinstance(op, PutOp):
                    # The last put of an item in a batch counts, as the framework's own stores have
                    # it.
                    puts[op.namespace, op.key] = op
                    results.append(None)
                else:
                    results.append(self._run_read_op(op))
            self._item_folder.apply(
                [change for op in puts.values() for change in self._plan_put_changes(op)]
            )
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _run_read_op(self, op: GetOp | SearchOp | ListNamespacesOp) -> Result:
        match op:
            case GetOp():
                return self._get_item(_item_file(op.namespace, op.key))
            case SearchOp():
                return self._search_items(op) if op.query else self._list_items(op)
            case ListNamespacesOp():
                return self._list_namespaces(op)

    def _plan_put_changes(self, op: PutOp) -> list[Change]:
        name = _item_file(op.namespace, op.key)
        if op.value is None:
            return [self._item_folder.gone(name)] if self._item_folder.exists(name) else []
        for label in (*op.namespace, op.key):
            if self._item_folder.clean(label) != label:
                # A masked name would file two items under one.
                raise UsageError(f"{label!r} cannot name an item: it holds what is never kept.")
        value = clean_json(self._item_folder, dict(op.value))
        body = f"{_OPEN}{json.dumps(value, ensure_ascii=False, indent=2)}{_CLOSE}\n"
        try:
            return [self._item_folder.changed(self._item_folder.read(name), body)]
        except NotFoundError:
            head: dict[str, Value] = {"namespace": list(op.namespace), "key": op.key}
            return [self._item_folder.made(name, body, head)]

    def _get_item(self, name: str) -> Item | None:
        try:
            page = self._item_folder.read(name)
        except NotFoundError:
            # The interface wants None for what is not there.
            return None
        return Item(**_parse_item(page))

    def _read_items(self, prefix: Namespace) -> dict[str, SearchItem]:
        """Return the items below a prefix by path; broken files are left out."""
        found = self._item_folder.read_all(_parse_item, _item_folder(prefix))
        return {page.path: SearchItem(**members) for page, members in found}

    def _list_items(self, op: SearchOp) -> list[SearchItem]:
        items = self._read_items(op.namespace_prefix).values()
        kept = [item for item in items if _is_filter_match(item.value, op.filter)]
        # Sorting is stable: by time, and at the same time by name.
        kept.sort(key=lambda item: (item.namespace, item.key))
        kept.sort(key=lambda item: item.updated_at, reverse=True)
        return kept[op.offset : op.offset + op.limit]

    def _search_items(self, op: SearchOp) -> list[SearchItem]:
        items = self._read_items(op.namespace_prefix)
        below = "/".join([self._item_folder.path, *map(file_name, op.namespace_prefix)])
        # A filter is applied to what was found: the items it lets pass may be the last.
        wanted = len(items) if op.filter else op.offset + op.limit
        query = Query(text=op.query or "", path=(below,), limit=max(1, _SPARE * wanted))
        scores: dict[str, float] = {}
        for hit in self._item_folder.memory.recall(query).hits:
            scores.setdefault(hit.unit.path, hit.score)
        kept = []
        for path, score in scores.items():
            item = items.get(path)
            if item is not None and _is_filter_match(item.value, op.filter):
                item.score = score
                kept.append(item)
        return kept[op.offset : op.offset + op.limit]

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        found = {item.namespace for item in self._read_items(()).values()}
        kept = {
            one[: op.max_depth]
            for one in found
            if all(_is_namespace_match(c, one) for c in conditions)
        }
        return sorted(kept)[op.offset : op.offset + op.limit]


def _item_folder(namespace: Namespace) -> str:
    if any("." in label for label in namespace):
        raise InvalidNamespaceError(f"Namespace labels cannot contain periods: {namespace}")
    return "/".join(map(file_name, namespace))


def _item_file(namespace: Namespace, key: str) -> str:
    """Return the name of an item's file: readable, and different for different items."""
    return "/".join(filter(None, [_item_folder(namespace), f"{file_name(key)}.md"]))


def _parse_item(page: Page) -> dict[str, Any]:
    """Return what an item is made of.

    Raises:
        FormatError: the file holds no item.
    """
    text = page.body[page.body.find(_OPEN) + len(_OPEN) :]
    values = page.values
    try:
        # The last fence: a value may hold blocks of code itself.
        value = json.loads(text[: text.rindex(_CLOSE)])
        namespace, key = values["namespace"], values["key"]
        if not isinstance(value, dict) or not isinstance(namespace, list):
            raise TypeError("an item is a JSON object in a namespace")
        return {
            "value": value,
            "key": str(key),
            "namespace": tuple(map(str, namespace)),
            "created_at": moment(str(values["created"])),
            "updated_at": moment(str(values["updated"])),
        }
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(page.path, 1, f"this is no item of a store ({error})") from error


def _is_filter_match(value: Any, wanted: Any) -> bool:
    """Whether a value is what a filter asks for; a filter without members takes all."""
    if not isinstance(wanted, Mapping):
        return wanted is None or _is_equal(value, wanted)
    held = value if isinstance(value, Mapping) else {}
    return all(_is_member_match(held.get(name), one) for name, one in wanted.items())


def _is_member_match(value: Any, wanted: Any) -> bool:
    """Whether one member passes: an object of operators, an object of members, or a value."""
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(_is_operator_met(value, name, one) for name, one in wanted.items())
        return isinstance(value, Mapping) and _is_filter_match(value, wanted)
    return _is_equal(value, wanted)


def _is_equal(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, list | tuple):
        return bool(value == wanted)
    same = isinstance(value, list | tuple) and len(value) == len(wanted)
    return same and all(_is_member_match(*pair) for pair in zip(value, wanted, strict=True))


def _is_operator_met(value: Any, operator: str, bound: Any) -> bool:
    """Whether an operator holds; what is no number is neither above nor below one."""
    if operator in ("$eq", "$ne"):
        return bool((value == bound) is (operator == "$eq"))
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        left, right = float(value), float(bound)
    except (TypeError, ValueError):
        # Values that cannot be compared do not match; one bad item must not fail the search.
        return False
    if left == right:
        return operator in ("$gte", "$lte")
    return (left > right) is operator.startswith("$gt")


def _is_namespace_match(condition: MatchCondition, namespace: Namespace) -> bool:
    path: Sequence[str] = condition.path
    if len(path) > len(namespace):
        return False
    end = condition.match_type == "suffix"
    part = namespace[len(namespace) - len(path) :] if end else namespace[: len(path)]
    return all(one in ("*", label) for one, label in zip(path, part, strict=True))
