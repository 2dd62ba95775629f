"""The host of plugins: finds them, asks them, and keeps their failures apart.

This is the one place that catches every exception, because a plugin is not ours. A bundled plugin
has a stand-in with its hooks, and is imported when one of them is first asked.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import logging
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, cached_property, partial, wraps
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from kimi_memory.errors import KimiMemoryError, PluginError
from kimi_memory.hooks import specs
from kimi_memory.hooks.specs import SPECS, hookimpl
from kimi_memory.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from kimi_memory.domain.prompt import Ask

Find = Callable[[], object]
_MARK, _BEHIND = "_is_silent", "_behind"


class StandIn:
    """A plugin that has the hooks of another, and nothing else that pluggy could look at."""

    def __dir__(self) -> Iterable[str]:
        return vars(self)


def stand_in(hooks: Iterable[str], find: Find) -> StandIn:
    """Return a plugin that has the hooks of another, and finds it at the first call.

    Args:
        hooks: each hook by name, with ``trylast`` or ``wrapper`` after it, or ``configured``
            where the plugin does nothing without settings, so that it need not be found.
        find: returns the plugin itself; called once.
    """
    # One plugin, however many of its hooks are called.
    made, find = StandIn(), cache(find)
    for stated in hooks:
        hook, *options = stated.split()
        wraps_others = "wrapper" in options
        mark = hookimpl(trylast="trylast" in options, wrapper=wraps_others)
        make = (
            _make_wrapping_hook
            if wraps_others
            else _make_silent_hook
            if "configured" in options
            else _make_calling_hook
        )
        setattr(made, hook, mark(make(hook, find)))
    return made


def _make_silent_hook(hook: str, find: Find) -> Callable[..., Any]:
    @wraps(SPECS[hook])
    def call(*_: Any, **__: Any) -> None:
        """Pass on: a plugin with settings is imported and has no stand-in."""

    setattr(call, _MARK, True)
    return call


def is_silent(function: Callable[..., Any]) -> bool:
    """Whether a function stands in for a plugin that never answers without settings."""
    return getattr(function, _MARK, False)


def found_behind(function: Callable[..., Any]) -> tuple[Callable[..., Any], tuple[str, ...]] | None:
    """Return what a stand-in calls and the names of its arguments; None for no stand-in."""
    find: Callable[[], tuple[Callable[..., Any], tuple[str, ...]]] | None
    find = getattr(function, _BEHIND, None)
    return find() if find is not None else None


def _make_calling_hook(hook: str, find: Find) -> Callable[..., Any]:
    # It takes the arguments of the specification, which is what pluggy looks at.
    @wraps(SPECS[hook])
    def call(*arguments: Any, **named: Any) -> Any:
        found, wanted = real(call)
        return found(**_pick_arguments(hook, wanted, arguments, named))

    real = _make_hook_finder(hook, find)
    setattr(call, _BEHIND, lambda: real(call))
    return call


def _make_wrapping_hook(hook: str, find: Find) -> Callable[..., Any]:
    @wraps(SPECS[hook])
    def call(*arguments: Any, **named: Any) -> Generator[None, Any, Any]:
        found, wanted = real(call)
        return (yield from found(**_pick_arguments(hook, wanted, arguments, named)))

    real = _make_hook_finder(hook, find)
    return call


def _make_hook_finder(
    hook: str, find: Find
) -> Callable[[Any], tuple[Callable[..., Any], tuple[str, ...]]]:
    """Return what finds the plugin's own function and the names of its arguments."""

    @cache
    def real(call: Any) -> tuple[Callable[..., Any], tuple[str, ...]]:
        # Tracebacks are traced to the plugin by this.
        call.__wrapped__ = found = getattr(find(), hook)
        return found, tuple(inspect.signature(found).parameters)

    return real


def _pick_arguments(
    hook: str, wanted: tuple[str, ...], arguments: tuple[Any, ...], named: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments a plugin takes: it may leave out what it does not need."""
    every = dict(zip(_argument_names(hook), arguments, strict=False)) | named
    return {name: every[name] for name in wanted}


@cache
def _argument_names(hook: str) -> tuple[str, ...]:
    return tuple(inspect.signature(SPECS[hook]).parameters)


GROUP = "kimi_memory"
log = logging.getLogger("kimi_memory.hooks.host")
_METADATA = (".dist-info", ".egg-info")


@dataclass(frozen=True, slots=True)
class Loaded:
    """One plugin the host knows of."""

    name: str
    origin: str
    """``bundled``, ``entry point <dist>``, or the file it was read from."""
    hooks: tuple[str, ...] = ()
    skipped: str = ""
    """Why it is not in use, else empty."""


class Host:
    """The plugins of one memory.

    Args:
        settings: the user's own settings per plugin name; a memory folder has no say.
        folder: where one-file plugins of the user lie, if anywhere.
        entry_points: whether installed third-party plugins are looked for.
        disabled: names that are not to be loaded.
    """

    def __init__(
        self,
        settings: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        folder: Path | None = None,
        entry_points: bool = True,
        disabled: Sequence[str] = (),
    ) -> None:
        self._settings = settings or {}
        self._disabled = frozenset(disabled)
        self._manager = pluggy.PluginManager("kimi_memory")
        # First, so that every plugin is checked against them.
        self._manager.add_hookspecs(specs)
        self._takes: dict[str, Sequence[str] | None] = {}
        self.loaded: list[Loaded] = []
        self._load_bundled()
        if entry_points:
            self._load_entry_points()
        if folder is not None and folder.is_dir():
            self._load_folder(folder)

    def answer(self, hook: str, /, **arguments: Any) -> Any:
        """Return the first result of an Answer hook, or None.

        A hook that may ask a model is given the line to it.

        Raises:
            PluginError: a plugin failed; it is named.
        """
        if "ask" in getattr(self._manager.hook, hook).spec.argnames:
            arguments.setdefault("ask", self.line)
        caller = getattr(self._manager.hook, hook)
        found = caller.get_hookimpls()
        try:
            with _FOREIGN_CODE:
                # What pluggy does to choose among many costs more than most answers.
                if len(found) == 1 and not (found[0].wrapper or found[0].hookwrapper):
                    ask, names = _find_function(found[0])
                    return ask(*[arguments[name] for name in names])
                return caller(**arguments)
        except _PluginFailedError as failed:
            raise self._make_error(hook, failed) from failed.error

    def gather(self, hook: str, /, **arguments: Any) -> list[Any]:
        """Return all results of a Gather hook, last registered plugin first.

        Raises:
            PluginError: a plugin failed; it is named.
        """
        return self.gather_each(hook, [arguments])[0]

    def gather_each(self, hook: str, /, calls: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
        """Return what `gather` returns for each of many calls.

        Raises:
            PluginError: a plugin failed; it is named.
        """
        caller = getattr(self._manager.hook, hook)
        found = caller.get_hookimpls()
        with self._blame_plugin(hook):
            if any(each.wrapper or each.hookwrapper for each in found):
                return [list(caller(**arguments)) for arguments in calls]
            # What pluggy does to ask many costs more than most answers.
            asked = [_find_function(each) for each in reversed(found)]
            told = ([ask(*[call[n] for n in names]) for ask, names in asked] for call in calls)
            return [[answer for answer in each if answer is not None] for each in told]

    def offers(self, hook: str) -> bool:
        """Whether a plugin may answer a hook: a bundled one without its settings never does."""
        found = getattr(self._manager.hook, hook).get_hookimpls()
        return any(not is_silent(each.function) for each in found)

    def notice(self, hook: str, /, **arguments: Any) -> None:
        """Tell every plugin; one that fails is logged and does not stop the others."""
        # Not through pluggy, which ends at the first error.
        for implementation in reversed(getattr(self._manager.hook, hook).get_hookimpls()):
            wanted = {name: arguments[name] for name in implementation.argnames}
            try:
                with _FOREIGN_CODE:
                    implementation.function(**wanted)
            except (KimiMemoryError, _PluginFailedError):
                log.exception("plugin %s failed in %s", implementation.plugin_name, hook)

    @cached_property
    def line(self) -> Ask:
        """The line to whichever model the plugins have."""
        from kimi_memory.llm.structured_output import Ladder

        return Ladder(lambda prompt: self.answer("generate_text", prompt=prompt), self._has_model)

    def _has_model(self) -> bool:
        """Whether a plugin may have a model: a bundled one has none without settings."""
        names = {each.plugin_name for each in self._manager.hook.generate_text.get_hookimpls()}
        return self.is_answered_by_others("generate_text") or bool(names & set(self._settings))

    def is_answered_by_others(self, hook: str) -> bool:
        """Whether a plugin that is not bundled has a hook."""
        bundled = {each.name for each in self.loaded if each.origin == "bundled"}
        found = getattr(self._manager.hook, hook).get_hookimpls()
        return any(each.plugin_name not in bundled for each in found)

    def register(self, plugin: object, name: str, origin: str = "given") -> None:
        """Add a plugin: a module or object with hook implementations.

        Raises:
            PluginError: the name is taken, or a hook is misspelt.
        """
        made = self._make_plugin(plugin, name)
        # Without settings of its own there is nothing it could take; else only it can say.
        self._takes[name] = getattr(plugin, "SETTINGS", None if hasattr(plugin, "create") else ())
        if self._manager.has_plugin(name):
            raise PluginError(f"Plugin {name!r} does not fit: the name is taken.")
        try:
            self._manager.register(made, name)
            self._check_hooks(name)
        except (ValueError, pluggy.PluginValidationError) as error:
            # pluggy keeps the hooks that it took before it found the one that does not fit
            if self._manager.has_plugin(name):
                self._manager.unregister(name=name)
            raise PluginError(f"Plugin {name!r} does not fit: {error}.") from error
        callers = self._manager.get_hookcallers(made) or []
        self.loaded.append(Loaded(name, origin, tuple(sorted(c.name for c in callers))))

    def has(self, plugin: str) -> bool:
        """Whether a plugin is in use; an empty name stands for what needs none."""
        return not plugin or any(one.name == plugin and not one.skipped for one in self.loaded)

    @property
    def names(self) -> list[str]:
        """The names of all plugins, those that are not in use included."""
        return [each.name for each in self.loaded]

    def unknown_settings(self) -> Iterator[tuple[str, str, Sequence[str]]]:
        """Yield settings that no plugin takes: its name, the key, and the names that would do.

        The key is empty where there is no such plugin.
        """
        for name, chosen in self._settings.items():
            if name not in self.names:
                yield name, "", self.names
                continue
            takes = self._takes.get(name)
            if takes is not None:
                yield from ((name, key, takes) for key in chosen if key not in takes)

    @contextmanager
    def _blame_plugin(self, hook: str) -> Iterator[None]:
        """Name the plugin that fails in a hook."""
        try:
            with _FOREIGN_CODE:
                yield
        except _PluginFailedError as failed:
            raise self._make_error(hook, failed) from failed.error

    def _make_error(self, hook: str, failed: _PluginFailedError) -> PluginError:
        culprit = self._find_culprit(hook, failed.error)
        return PluginError(f"Plugin {culprit!r} failed in {hook}: {failed}.")

    def _find_culprit(self, hook: str, error: Exception) -> str:
        """Name the plugin whose implementation is the innermost in the traceback."""
        names = {
            getattr(inspect.unwrap(each.function), "__code__", None): each.plugin_name
            for each in getattr(self._manager.hook, hook).get_hookimpls()
        }
        culprit, at = "?", error.__traceback__
        while at is not None:
            culprit, at = names.get(at.tb_frame.f_code, culprit), at.tb_next
        return culprit

    def _make_plugin(self, plugin: object, name: str) -> object:
        create: Callable[[Mapping[str, Any]], object] | None = getattr(plugin, "create", None)
        if create is None:
            return plugin
        try:
            with _FOREIGN_CODE:
                return create(self._settings.get(name, {}))
        except _PluginFailedError as failed:
            raise PluginError(
                f"Plugin {name!r} cannot be made with its settings: {failed}. "
                f"Correct [plugins.{name}] of your settings."
            ) from failed.error

    def _check_hooks(self, name: str) -> None:
        """Refuse what pluggy would ignore: unknown hooks, and wrappers of a Notice."""
        self._manager.check_pending()
        plugin = self._manager.get_plugin(name)
        for hook, spec in specs.SPECS.items():
            for each in getattr(self._manager.hook, hook).get_hookimpls():
                wraps = each.plugin is plugin and (each.wrapper or each.hookwrapper)
                if wraps and spec.__doc__.startswith("Notice"):
                    raise pluggy.PluginValidationError(plugin, f"{hook} is told, not asked")

    def _record_skipped(self, name: str, origin: str, why: str) -> None:
        self.loaded.append(Loaded(name, origin, skipped=why))

    def _load_plugin(self, name: str, origin: str, find: Callable[[], object]) -> None:
        if name in self._disabled:
            self._record_skipped(name, origin, "disabled in your settings")
            return
        if self._manager.has_plugin(name):
            self._record_skipped(name, origin, "the name is taken")
            return
        try:
            with _FOREIGN_CODE:
                self.register(find(), name, origin)
        except (KimiMemoryError, _PluginFailedError) as error:  # the memory works without it
            log.warning("plugin %s from %s was skipped: %s", name, origin, error)
            why = str(error) if isinstance(error, _PluginFailedError) else _describe_error(error)
            self._record_skipped(name, origin, why)

    def _load_bundled(self) -> None:
        bundled = importlib.import_module("kimi_memory.plugins")
        for name, hooks in bundled.NAMES.items():
            if name in self._disabled:
                self._record_skipped(name, "bundled", "disabled in your settings")
            elif name in self._settings:
                # Imported now, so that a wrong setting is reported at once.
                self.register(_import_bundled(name), name, "bundled")
            else:
                made = stand_in(hooks, partial(self._find_bundled, name))
                # Its hooks are listed beside it and need no check: there are many of them.
                self._manager.register(made, name)
                self.loaded.append(Loaded(name, "bundled", tuple(sorted(dir(made)))))

    def _find_bundled(self, name: str) -> object:
        return self._make_plugin(_import_bundled(name), name)

    def _load_entry_points(self) -> None:
        if not any(map(_names_us, sys.path)):
            return
        from importlib.metadata import entry_points

        for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
            origin = f"entry point {point.dist.name if point.dist else point.value}"
            self._load_plugin(point.name, origin, point.load)

    def _load_folder(self, folder: Path) -> None:
        for path in sorted(folder.glob("*.py")):
            self._load_plugin(path.stem, str(path), partial(_import_file, path))


def _names_us(folder: str) -> bool:
    """Whether a distribution in a folder of `sys.path` may have plugins of ours.

    Reading all metadata takes longer than a search; most often there is nothing to read.
    """
    try:
        found = [entry for entry in os.scandir(folder or ".") if entry.name.endswith(_METADATA)]
    except NotADirectoryError:
        return True  # An archive: only the import system can read it.
    except OSError:
        return False
    return any(_has_our_group(Path(entry.path) / "entry_points.txt") for entry in found)


def _has_our_group(path: Path) -> bool:
    try:
        return f"[{GROUP}]".encode() in path.read_bytes()
    except OSError:
        # What cannot be read is no plugin that could be loaded.
        return False


def _import_bundled(name: str) -> ModuleType:
    return importlib.import_module(f"kimi_memory.plugins.{name}")


def _find_function(one: pluggy.HookImpl) -> tuple[Callable[..., Any], Sequence[str]]:
    """Return what an implementation calls, and the names of its arguments."""
    return found_behind(one.function) or (one.function, one.argnames)


class _PluginFailedError(Exception):
    """What a plugin raised; its code is not ours, so that may be any error.

    Attributes:
        error: the error.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(_describe_error(error))
        self.error = error


class _ForeignCode:
    """Turns every error that the code of a plugin raises into one class; our own errors pass."""

    # A generator would take longer than what most plugins do: each word is split by one.
    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        """Turn an error of a plugin into one that says so."""
        if isinstance(error, Exception) and not isinstance(error, KimiMemoryError):
            raise _PluginFailedError(error) from error


_FOREIGN_CODE = _ForeignCode()


def _describe_error(error: Exception) -> str:
    """Say what went wrong; many exceptions are silent without their type."""
    return f"{type(error).__name__}: {error}"


def _import_file(path: Path) -> ModuleType:
    """Import a one-file plugin under a name that shadows nothing."""
    name = f"kimi_memory_plugin_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # it ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up there
    with ExitStack() as otherwise:
        otherwise.callback(sys.modules.pop, name, None)
        spec.loader.exec_module(module)
        otherwise.pop_all()
    return module
