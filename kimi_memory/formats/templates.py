"""Templates: pages and blocks rendered from packaged Jinja files, per language."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_memory.errors import UsageError
from kimi_memory.nlp.basic.safe_text import printable

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = "kimi_memory.templates"


@lru_cache(maxsize=1)
def _load_library() -> tuple[Environment, type[Exception]]:
    """Return what renders our templates, and what it raises."""
    import jinja2.sandbox

    # Words of people fill these templates; taken for a template by mistake, they run no code.
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        loader=jinja2.PackageLoader(_PACKAGE, ""),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    # Nothing a template of ours needs, and the sandbox is as small as it can be.
    for name in ("range", "lipsum", "cycler", "joiner", "namespace"):
        env.globals.pop(name, None)
    return env, jinja2.TemplateError


@lru_cache(maxsize=1)
def _page_library() -> tuple[Environment, type[Exception]]:
    """Return what renders pages for a browser: every value is escaped."""
    env, template_error = _load_library()
    # Invisible characters are shown: some of them turn the rest of a line round.
    return env.overlay(autoescape=True, finalize=_show_invisible), template_error


def _show_invisible(value: object) -> object:
    return printable(value) if type(value) is str else value


def source(template: str, lang: str) -> str:
    """Return the text of ``templates/<template>.<lang>.md.j2`` as it lies there.

    Raises:
        UsageError: there is no such template.
    """
    folder = Path(str(import_module(_PACKAGE).__file__)).parent
    try:
        return (folder / f"{template}.{lang}.md.j2").read_text("utf-8")
    except OSError as error:
        raise UsageError(f"There is no template {template}.{lang}: {error}.") from error


def fill(template: str, lang: str, /, **values: object) -> str:
    """Render ``templates/<template>.<lang>.md.j2``.

    Args:
        template: folder and stem, such as ``starter/MEMORY``.
        lang: ``zh`` or ``en``.
        values: plain text, numbers, lists and dicts; memory text is only ever a value.

    Raises:
        UsageError: there is no such template, or a value is missing.
    """
    env, template_error = _load_library()
    try:
        return env.get_template(f"{template}.{lang}.md.j2").render(values)
    except template_error as error:
        raise UsageError(f"Template {template}.{lang} cannot be rendered: {error}.") from error


def fill_page(template: str, /, **values: object) -> str:
    """Render ``templates/web/<template>.html.j2``; every value is escaped.

    Raises:
        UsageError: there is no such template, or a value is missing.
    """
    env, template_error = _page_library()
    try:
        return env.get_template(f"web/{template}.html.j2").render(values)
    except template_error as error:
        raise UsageError(f"Page {template} cannot be rendered: {error}.") from error


def fill_source(source: str, /, **values: object) -> str:
    """Render the text of a template as `fill_page` does; it may use the parts of our pages.

    Raises:
        UsageError: it is no template, or a value is missing.
    """
    env, template_error = _page_library()
    try:
        return env.from_string(source).render(values)
    except template_error as error:
        raise UsageError(f"The template of a plugin cannot be rendered: {error}.") from error
