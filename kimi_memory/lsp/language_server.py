"""The protocol: requests of an editor, answered from a memory; the one place that knows pygls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.workspace import PositionCodec, TextDocument

from kimi_memory import __version__
from kimi_memory.config import MARKER
from kimi_memory.errors import KimiMemoryError
from kimi_memory.lsp.answers import Place, symbols
from kimi_memory.lsp.deeds import COMMANDS, READING
from kimi_memory.lsp.findings import Finding, find_faults
from kimi_memory.lsp.read_desk import Desk

T = TypeVar("T")

DEBOUNCE_S = 0.3
"""So long after the last key stroke a document is looked through."""


class MemoryServer(LanguageServer):
    """A language server over one memory.

    Args:
        root: its folder; None where the editor is to say.
        lenses: whether lines show a lens unless the editor says otherwise.
    """

    def __init__(self, root: Path | None, *, lenses: bool = False) -> None:
        super().__init__("kimi-memory", __version__)
        self.root, self.lenses = root, lenses
        self.desk: Desk | None = None
        self.waits: dict[str, asyncio.TimerHandle] = {}
        self.found: dict[str, list[Finding]] = {}

    def open(self, options: Any, folders: Sequence[str]) -> None:
        """Open the memory of an editor: the one it names, or the one its folder lies in."""
        named = options.get("memory") if isinstance(options, dict) else None
        if isinstance(options, dict) and isinstance(options.get("codeLens"), bool):
            self.lenses = options["codeLens"]
        roots = [Path(named)] if isinstance(named, str) and named else []
        roots += [self.root] if self.root else []
        roots += [Path(path) for uri in folders if (path := path_of(uri))]
        for root in roots:
            for folder in (root, *root.parents):
                if (folder / MARKER).is_file():
                    self.desk = Desk(folder.resolve())
                    self.desk.filling.start()
                    return

    def place(self, uri: str) -> tuple[Desk, str] | None:
        """Return the memory and the path in it of a document; None for any other file."""
        if self.desk is None:
            return None
        try:
            path = Path(path_of(uri)).resolve().relative_to(self.desk.root).as_posix()
        except (ValueError, OSError, RuntimeError):  # RuntimeError: links that lead in a circle
            return None
        return None if path.startswith(".") else (self.desk, path)


def path_of(uri: str) -> str:
    """Return the path of a file's address, empty for another kind of address."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else ""


def line_at(document: TextDocument, position: types.Position) -> tuple[str, int]:
    """Return a line and the column in characters; editors count in UTF-16."""
    lines = document.lines
    at = document.position_codec.position_from_client_units(lines, position)
    line = lines[at.line] if at.line < len(lines) else ""
    return line.rstrip("\r\n"), at.character


def make_range(codec: PositionCodec, line: str, number: int, first: int, last: int) -> types.Range:
    """Return a range of one line in the units of the editor."""
    ends = (codec.client_num_units(line[:column]) for column in (first, last))
    start, end = (types.Position(number, units) for units in ends)
    return types.Range(start, end)


def build(root: Path | None, *, lenses: bool = False) -> MemoryServer:
    """Return a server with everything it answers."""
    server = MemoryServer(root, lenses=lenses)
    for name, (answer, options, threaded) in _FEATURES.items():
        server.feature(name, options)(server.thread()(answer) if threaded else answer)
    for name in COMMANDS:
        server.command(name)(server.thread()(_command(name)))
    return server


def serve(root: Path | None, *, lenses: bool = False) -> None:
    """Serve an editor over standard input and output until it goes."""
    server = build(root, lenses=lenses)
    try:
        server.start_io()
    finally:
        if server.desk is not None:
            server.desk.close()


def _initialize(ls: MemoryServer, params: types.InitializeParams) -> None:
    folders = [folder.uri for folder in params.workspace_folders or ()]
    try:
        ls.open(params.initialization_options, [*folders, params.root_uri or ""])
    except KimiMemoryError as error:
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Error, str(error)))


def _did_change(
    ls: MemoryServer, params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams
) -> None:
    _look_through_soon(ls, params.text_document.uri)


def _did_save(ls: MemoryServer, params: types.DidSaveTextDocumentParams) -> None:
    if found := ls.place(params.text_document.uri):
        found[0].vault.update([found[1]])
    _look_through_soon(ls, params.text_document.uri)


def _did_close(ls: MemoryServer, params: types.DidCloseTextDocumentParams) -> None:
    ls.found.pop(params.text_document.uri, None)


def _did_change_files(ls: MemoryServer, params: types.DidChangeWatchedFilesParams) -> None:
    for change in params.changes:
        if found := ls.place(change.uri):
            found[0].vault.update([found[1]])


def _look_through_soon(ls: MemoryServer, uri: str) -> None:
    """Look a document through once nobody types any more."""
    if waits := ls.waits.pop(uri, None):
        waits.cancel()
    loop = asyncio.get_running_loop()
    ls.waits[uri] = loop.call_later(
        DEBOUNCE_S, lambda: loop.run_in_executor(ls.thread_pool, partial(look_through, ls, uri))
    )


def look_through(ls: MemoryServer, uri: str) -> None:
    """Send what is wrong with a document to the editor."""
    place = ls.place(uri)
    if place is None:
        return
    desk, path = place
    document = ls.workspace.get_text_document(uri)
    with desk.guard:
        found = find_faults(desk.reader, path, document.source)
    ls.found[uri] = found
    lines = document.source.splitlines()

    def draw(one: Finding) -> types.Diagnostic:
        # A fault at the end of a file may lie on the empty line after its last newline.
        line = lines[one.line] if one.line < len(lines) else ""
        at = make_range(document.position_codec, line, one.line, one.first, one.last)
        weight = types.DiagnosticSeverity(one.weight)
        return types.Diagnostic(at, one.message, weight, one.code, source="kimi-memory")

    ls.text_document_publish_diagnostics(
        types.PublishDiagnosticsParams(uri, list(map(draw, found)), version=document.version)
    )


class _At(NamedTuple):
    """The document that an editor asks about."""

    desk: Desk
    path: str
    document: TextDocument


def _about_document(
    work: Callable[[MemoryServer, Any, _At], T],
) -> Callable[[MemoryServer, Any], T | None]:
    """Answer a question about a document of the memory; None for any other document."""

    def answer(ls: MemoryServer, params: Any) -> T | None:
        place = ls.place(params.text_document.uri)
        if place is None:
            return None
        document = ls.workspace.get_text_document(params.text_document.uri)
        with place[0].guard:
            return work(ls, params, _At(*place, document))

    return answer


@_about_document
def _hover(ls: MemoryServer, params: types.HoverParams, at: _At) -> types.Hover | None:
    line, column = line_at(at.document, params.position)
    found = at.desk.reader.hover(at.path, line, column)
    if found is None:
        return None
    text = types.MarkupContent(types.MarkupKind.Markdown, found.text)
    place = (params.position.line, found.spot.first, found.spot.last)
    return types.Hover(text, make_range(at.document.position_codec, line, *place))


@_about_document
def _definition(ls: MemoryServer, params: types.DefinitionParams, at: _At) -> types.Location | None:
    place = at.desk.reader.definition(at.path, *line_at(at.document, params.position))
    return _locate(ls, at.desk, place) if place else None


@_about_document
def _references(ls: MemoryServer, params: types.ReferenceParams, at: _At) -> list[types.Location]:
    found = at.desk.reader.references(at.path, *line_at(at.document, params.position))
    return [_locate(ls, at.desk, place) for place in found]


@_about_document
def _complete(ls: MemoryServer, params: types.CompletionParams, at: _At) -> types.CompletionList:
    line, column = line_at(at.document, params.position)
    codec, n = at.document.position_codec, params.position.line
    items = [
        types.CompletionItem(
            label=one.words,
            detail=one.detail,
            kind=types.CompletionItemKind.Reference,
            filter_text=f"{one.put} {one.words}",
            text_edit=types.TextEdit(make_range(codec, line, n, one.first, column), one.put),
        )
        for one in at.desk.reader.complete(line, column)
    ]
    return types.CompletionList(is_incomplete=True, items=items)


@_about_document
def _outline(
    ls: MemoryServer, params: types.DocumentSymbolParams, at: _At
) -> list[types.DocumentSymbol]:
    return nest(at.document.position_codec, at.path, at.document.source.splitlines())


@_about_document
def _lenses(ls: MemoryServer, params: types.CodeLensParams, at: _At) -> list[types.CodeLens]:
    count = at.desk.deeds.count()
    words = f"{count['review']} wait · {count['conflicts']} in conflict"
    top = types.Range(types.Position(0, 0), types.Position(0, 0))
    return [types.CodeLens(top, types.Command(words, "kimi.showReview"))]


def nest(codec: PositionCodec, path: str, lines: list[str]) -> list[types.DocumentSymbol]:
    """Return the outline of a file: headings, and below each the lines that show notes."""
    top: list[types.DocumentSymbol] = []
    open_ones: list[tuple[int, types.DocumentSymbol]] = []
    for one in symbols(path, lines):
        at = make_range(codec, lines[one.line], one.line, 0, len(lines[one.line]))
        kind = types.SymbolKind.Key if one.depth == 0 else types.SymbolKind.String
        shown = types.DocumentSymbol(one.words, kind, at, at, children=[])
        while open_ones and one.depth and open_ones[-1][0] >= one.depth:
            open_ones.pop()
        if open_ones:
            parent = open_ones[-1][1]
            parent.children = [*(parent.children or ()), shown]
        else:
            top.append(shown)
        if one.depth:
            open_ones.append((one.depth, shown))
        # The range of a heading holds what stands below it.
        for _, holder in open_ones:
            holder.range = types.Range(holder.range.start, at.end)
    return top


def _locate(ls: MemoryServer, desk: Desk, place: Place) -> types.Location:
    uri = (desk.root / place.path).as_uri()
    line = ""
    if place.last:
        rows = ls.workspace.get_text_document(uri).source.splitlines()
        line = rows[place.line] if place.line < len(rows) else ""
    codec = ls.workspace.position_codec
    return types.Location(uri, make_range(codec, line, place.line, place.first, place.last))


def _actions(ls: MemoryServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    first, last = params.range.start.line, params.range.end.line
    found = ls.found.get(params.text_document.uri, ())
    return [
        types.CodeAction(
            action.title,
            types.CodeActionKind.QuickFix,
            command=types.Command(action.title, action.command, arguments=list(action.arguments)),
        )
        for one in found
        if first <= one.line <= last
        for action in one.actions
    ]


@_about_document
def _find_key(
    ls: MemoryServer, params: types.PrepareRenameParams | types.RenameParams, at: _At
) -> tuple[str, types.Range] | None:
    """Return the key at a place, and where it stands."""
    line, column = line_at(at.document, params.position)
    spot = at.desk.reader.spot(at.path, line, column)
    if spot is None or spot.kind != "key":
        return None
    place = (params.position.line, spot.first, spot.last)
    return spot.name, make_range(at.document.position_codec, line, *place)


def _may_rename(ls: MemoryServer, params: types.PrepareRenameParams) -> types.Range | None:
    found = _find_key(ls, params)
    return found[1] if found else None


def _rename(ls: MemoryServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    found = _find_key(ls, params)
    old = found[0] if found else ""
    if not old or ls.desk is None:
        raise JsonRpcException("Only the key of a card can be renamed, on its line 'key:'.")
    # The job writes the files, so there is nothing left for the editor to change.
    done = _carry_out(ls, "kimi.rename", [old, params.new_name, False])
    ls.window_show_message(
        types.ShowMessageParams(
            types.MessageType.Info, f"{old} is {params.new_name} now: {', '.join(done['jobs'])}"
        )
    )
    return types.WorkspaceEdit(changes={})


def _carry_out(ls: MemoryServer, name: str, given: Sequence[Any]) -> Any:
    """Carry out a command; what is refused is one sentence for the editor."""
    if ls.desk is None:
        raise JsonRpcException("No memory is open: this folder lies in none.")
    try:
        if name not in READING:
            done = COMMANDS[name](ls.desk.deeds, given)
            ls.desk.vault.update(done.get("paths", ()))
            return done
        with ls.desk.guard:
            return COMMANDS[name](ls.desk.deeds, given)
    except KimiMemoryError as error:
        raise JsonRpcException(str(error)) from None


def _command(name: str) -> Callable[..., Any]:
    def command(ls: MemoryServer, *given: Any) -> Any:
        return _carry_out(ls, name, given)

    return command


_FEATURES: dict[str, tuple[Callable[..., Any], Any, bool]] = {
    types.INITIALIZE: (_initialize, None, False),
    types.TEXT_DOCUMENT_DID_OPEN: (_did_change, None, False),
    types.TEXT_DOCUMENT_DID_CHANGE: (_did_change, None, False),
    types.TEXT_DOCUMENT_DID_SAVE: (_did_save, None, False),
    types.TEXT_DOCUMENT_DID_CLOSE: (_did_close, None, False),
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (_did_change_files, None, True),
    types.TEXT_DOCUMENT_HOVER: (_hover, None, True),
    types.TEXT_DOCUMENT_DEFINITION: (_definition, None, True),
    types.TEXT_DOCUMENT_REFERENCES: (_references, None, True),
    types.TEXT_DOCUMENT_COMPLETION: (
        _complete,
        types.CompletionOptions(trigger_characters=["["]),
        True,
    ),
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (_outline, None, True),
    types.TEXT_DOCUMENT_CODE_LENS: (
        lambda ls, params: _lenses(ls, params) if ls.lenses else [],
        None,
        True,
    ),
    types.TEXT_DOCUMENT_CODE_ACTION: (_actions, None, False),
    types.TEXT_DOCUMENT_PREPARE_RENAME: (_may_rename, None, False),
    types.TEXT_DOCUMENT_RENAME: (_rename, types.RenameOptions(prepare_provider=True), True),
}
"""What answers each request or notice of an editor, and whether it may take its time."""
