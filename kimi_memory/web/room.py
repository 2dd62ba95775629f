"""A room: one memory with its pages, among those that a server serves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.domain.plugin_page import PluginPage
from kimi_memory.errors import PluginError
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.operations.open_questions import asking
from kimi_memory.recall.browse import ListQuery
from kimi_memory.server.guard import Request as Guarded
from kimi_memory.server.principal import Caller, denied
from kimi_memory.server.workers import Desk
from kimi_memory.store.files.disk import uncollected
from kimi_memory.store.notes.note_index import Catalog
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.web.page_table import PAGES
from kimi_memory.web.page_types import ROOT, Asked, Download, Page, Redirect, View
from kimi_memory.web.rendering import Place
from kimi_memory.web.schedule import Timed, list_schedule
from kimi_memory.web.telling import tell_of

OPENING_SECONDS = 0.3
"""A first page that takes longer is replaced by one that says so, and looks again."""
_NAME = regex(r"[a-z][a-z-]{0,39}")
_DOORS = ("enter", "sign-in", "signed-in", "leave", "language", "static")


class RoomState(NamedTuple):
    """What stands beside a memory in the list of all."""

    held: int
    asks: Mapping[str, int]
    """How much waits for a person, by command."""
    waiting: int
    """Sessions that are not distilled yet."""
    schedule: Sequence[Timed]


class Room:
    """The pages of one memory.

    Args:
        desk: carries out what they ask for.
        name: part of their address; empty where no other memory is served.
    """

    def __init__(self, desk: Desk, name: str = "") -> None:
        self.desk, self.name = desk, name
        self.base = f"{ROOT}/{name}" if name else ROOT
        self._plugins = _gather_pages(desk.memory)
        self._opening: asyncio.Task[int] | None = None
        self._indexed = 0, 0
        # Not when it is opened: the thread that keeps the index informed may come first.
        desk.memory.index.on_write = self._note_indexed

    @property
    def place(self) -> Place:
        """Where its pages stand."""
        plugins = [(one.name, one.titles) for one in self._plugins]
        title = self.desk.memory.settings.memory.name or self.desk.root.name
        zone = self.desk.memory.zone
        return Place(self.base, title, plugins, several=bool(self.name), zone=zone)

    @property
    def pages(self) -> Sequence[Page]:
        """The table of its pages, with those of plugins."""
        return (*PAGES, *map(_page_of, self._plugins))

    async def is_open(self) -> bool:
        """Whether its files were scanned; the first call scans them.

        It goes on after this answer, and holds up nobody who asks for another memory.
        """
        opening = self.begin()
        if not opening.done():
            await asyncio.wait([opening], timeout=OPENING_SECONDS)
        return opening.done()

    def begin(self) -> asyncio.Task[int]:
        """Begin to look at its files, which is done once."""
        if self._opening is None:
            self._opening = asyncio.create_task(self.desk.read(_look_at_files))
        return self._opening

    def _note_indexed(self, done: int, total: int) -> None:
        self._indexed = done, total

    @property
    def opened_percent(self) -> int:
        """How much of that is done; 0 where it takes seconds, or has just begun."""
        done, total = self._indexed
        memory = self.desk.memory
        files, heads = memory.index.file_count, Catalog.from_store(memory.store).news
        # First files are read into the index, where it lacks them, then the heads of all.
        share = 60 if total else 0
        found = share * done / (total or 1) + (100 - share) * heads / (files or 1)
        return min(99, int(found))

    async def admit(self, caller: Caller, request: Guarded) -> Caller:
        """Return the caller, as a member of the space where the memory is in one.

        Raises:
            DeniedError: a policy of the space does not let it.
            ServerError: it is a member of a space that the memory left.
        """
        guard = self.desk.guard
        if guard is not None:
            return await asyncio.to_thread(guard.admit, caller, request)
        return caller.of_no_space()

    async def carry(
        self,
        page: Page,
        asked: Asked,
        render: Callable[[View, Mapping[str, int]], str],
        stays: Callable[[], bool],
    ) -> str | Redirect | Download:
        """Return what a page answers; it is rendered where its memory is read.

        Args:
            page: a row of the table.
            asked: what its seat asks.
            render: gets what is shown, and how much waits behind the pages of the navigation.
            stays: whether who asks may still, asked when it is their turn.

        Raises:
            ServerError: they may not any more.
        """

        def work(memory: Memory) -> str | Redirect | Download:
            if not stays():
                raise denied("Who sat here may not see this any more. Open the pages anew.")
            found = page.deed(memory, asked)
            if not isinstance(found, View):
                return found
            found = replace(found, values={**tell_of(memory, asked), **found.values})
            return render(found, {} if asked.caller.space else _count_waiting(memory))

        def look(memory: Memory) -> str | Redirect | Download:
            # One walk through the folder for a page, however often it asks what lies there.
            with memory.store.folder_scan.hold(), memory.index.hold():
                return work(memory)

        if page.method == "POST":
            return await self.desk.change(work, asked.caller)
        return await self.desk.read(look, asked.caller)

    async def look_in(self, caller: Caller) -> RoomState:
        """Return how much it holds, how much waits, and how its jobs do."""

        def work(memory: Memory) -> RoomState:
            held = memory.browse(ListQuery(limit=1, facets=()))
            schedule = [one for one in list_schedule(memory) if one.ran or one.failed]
            return RoomState(held.total, asking(memory), len(memory.waiting()), schedule)

        return await self.desk.read(work, caller)


def _count_waiting(memory: Memory) -> Mapping[str, int]:
    """Return how much waits for a person behind a page, by the address of the page."""
    asks = memory.index.searcher().once("asking", lambda: asking(memory))
    return {f"/{name}": asks[name] for name in ("review", "conflicts") if name in asks}


def make_rooms(desks: Sequence[Desk]) -> list[Room]:
    """Return a room for each memory; several get a name each, from that of their folder."""
    if len(desks) == 1:
        return [Room(desks[0])]
    made: dict[str, Room] = {}
    for desk in desks:
        name = slug(desk.root.name, 30)
        names = (name, *(f"{name}-{number}" for number in range(2, len(desks) + 1)))
        free = next(one for one in names if one not in made)
        made[free] = Room(desk, free)
    return [*made.values()]


def _look_at_files(memory: Memory) -> int:
    """Have everything read that the first pages need; of many new files that takes minutes."""
    with uncollected(lasting=True), memory.store.folder_scan.hold(), memory.index.hold():
        shelf = Shelf(memory.store)
        memory.index.searcher().once("asking", lambda: asking(memory, shelf))
        # The next server need not read the heads of all cards again.
        shelf.keep()
        return memory.browse(ListQuery(limit=1, facets=())).total


def _gather_pages(memory: Memory) -> list[PluginPage]:
    """Return the pages of plugins, by name.

    Raises:
        PluginError: two have one address, or one is none.
    """
    found: dict[str, PluginPage] = {}
    taken = {page.path.split("/")[1] for page in PAGES} | set(_DOORS)
    for one in (page for pages in memory.host.gather("register_pages") for page in pages):
        if not _NAME.fullmatch(one.name) or one.name in taken | found.keys():
            raise PluginError(
                f"A plugin page is named {one.name[:60]!r}. Choose a free name of small Latin "
                "letters and dashes."
            )
        found[one.name] = one
    return [found[name] for name in sorted(found)]


def _page_of(plugin: PluginPage) -> Page:
    def show(memory: Memory, asked: Asked) -> View:
        values = plugin.find(memory, asked.given)
        return View("plugin_page", plugin.titles, values, plugin.template, plugin.labels)

    show.__name__ = f"plugin_{plugin.name}"
    return Page("GET", f"/{plugin.name}", show)
