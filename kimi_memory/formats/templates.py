"""Templates: pages and blocks rendered from packaged Jinja files, per language."""

from __future__ import annotations

from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from kimi_memory.errors import UsageError


@lru_cache(maxsize=1)
def _make_environment() -> Environment:
    # Words of people fill these templates; taken for a template by mistake, they run no code.
    env = ImmutableSandboxedEnvironment(
        loader=PackageLoader("kimi_memory.templates", ""),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    # Nothing a template of ours needs, and the sandbox is as small as it can be.
    for name in ("range", "lipsum", "cycler", "joiner", "namespace"):
        env.globals.pop(name, None)
    return env


def source(template: str, lang: str) -> str:
    """Return the text of ``templates/<template>.<lang>.md.j2`` as it lies there.

    Raises:
        UsageError: there is no such template.
    """
    env = _make_environment()
    try:
        assert env.loader is not None  # it was made with one
        return env.loader.get_source(env, f"{template}.{lang}.md.j2")[0]
    except TemplateError as error:
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
    try:
        return _make_environment().get_template(f"{template}.{lang}.md.j2").render(values)
    except TemplateError as error:
        raise UsageError(f"Template {template}.{lang} cannot be rendered: {error}.") from error
