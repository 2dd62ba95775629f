"""Documentation site in English and Chinese, made of the pages in ``docs/`` by zensical.

``python -m docs.site`` builds both languages into ``build/site``. What stands in the navigation,
and in which order, is said once: by the sections of ``index.md`` of each language. A page that
has no Chinese version stands on the Chinese site in English, with a line that says so.

A Chinese page names the English page that it translates and the hash of its text; ``--stale``
lists pages whose English text has changed since, ``--mark PAGE`` states that one is right again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "site"

MARK = re.compile(r"\A<!-- Translates (?P<page>[\w-]+\.md), (?P<hash>[0-9a-f]{12}) -->\n")
HEAD = re.compile(r"\A(?:<!--.*?-->\n|---\n.*?^---\n)", re.MULTILINE | re.DOTALL)
LINK = re.compile(
    r"(?P<image>!?)\[(?P<label>[^\]\n]*)\]\((?P<path>(?!\w+:)[^)#\s]+)(?P<anchor>#[^)\s]*)?\)"
)
FENCE = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)
ENGLISH = {
    "overview.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "sample.md": "memory/MEMORY.md",
}
"""Pages of the site that lie outside of ``docs/``, and where."""
CHINESE = {"overview.md": "README.zh.md"}
TITLES = {("overview.md", "en"): "What it is", ("overview.md", "zh"): "这是什么"}
"""Titles of pages whose own heading says something else."""
BILINGUAL = ("sample.md",)
CHINESE_TEXT = r"[\u3000-\u9fff\uff00-\uffef]"
WRAPPED = re.compile(
    rf"(?<={CHINESE_TEXT})\n *(?={CHINESE_TEXT})"
    r"|(?<=[、，。；：？！（）“”])\n *(?!\d+\. )(?=[^\s|#>*+-])"
)
"""A line end within Chinese text, which a browser would show as a space."""
UNTRANSLATED = '!!! note ""\n\n    本页还没有中文版，以下是英文原文。\n\n'
GENERATED = '!!! note ""\n\n    本页由源代码生成，只有英文版。\n\n'


class Language(NamedTuple):
    """One language of the site."""

    name: str
    """As zensical names it; also the folder of the site."""
    about: str
    label: str
    """What the switch of languages shows."""
    first: str
    """Title of the first page in the navigation."""
    dark: str
    light: str


LANGUAGES = (
    Language("en", "An agent's memory that you own", "English", "All pages", "Dark", "Light"),
    Language("zh", "属于您自己的智能体记忆", "中文", "全部页面", "深色", "浅色"),
)


# Translations


def digest(text: str) -> str:
    """Return the hash by which a translation names the text that it translates."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def stale(root: Path = ROOT) -> Iterator[str]:
    """Yield a line for each Chinese page whose English page has changed or is gone."""
    for page in sorted((root / "docs/zh").glob("*.md")):
        found = MARK.match(page.read_text(encoding="utf-8"))
        source = root / "docs" / page.name
        if found is None or found["page"] != page.name:
            yield f"zh/{page.name}: its first line does not name {page.name} and its hash"
        elif not source.is_file():
            yield f"zh/{page.name}: there is no {page.name}"
        elif found["hash"] != digest(source.read_text(encoding="utf-8")):
            yield f"zh/{page.name}: {page.name} has changed since it was translated"


def mark(name: str, root: Path = ROOT) -> None:
    """State that a Chinese page says what its English page says now."""
    page = root / "docs/zh" / name
    body = MARK.sub("", page.read_text(encoding="utf-8"))
    source = (root / "docs" / name).read_text(encoding="utf-8")
    page.write_text(f"<!-- Translates {name}, {digest(source)} -->\n{body}", encoding="utf-8")


# Pages


def names() -> list[str]:
    """Return the names of all pages of the site."""
    return sorted({page.name for page in (ROOT / "docs").glob("*.md")} | set(ENGLISH))


def place(name: str, language: str) -> str:
    """Return where the text of a page lies in the repository."""
    chinese = CHINESE.get(name, f"docs/zh/{name}")
    translated = language == "zh" and (ROOT / chinese).is_file()
    return chinese if translated else ENGLISH.get(name, f"docs/{name}")


def page_text(name: str, language: str) -> str:
    """Return a page in a language; in English with a note where it is not translated."""
    path = place(name, language)
    text = (ROOT / path).read_text(encoding="utf-8")
    note = ""
    if language == "zh" and name not in BILINGUAL and path == place(name, "en"):
        note = GENERATED if text.startswith("<!-- Made by") else UNTRANSLATED
    return note + HEAD.sub("", text)


def title(name: str, language: str) -> str:
    """Return the title of a page."""
    found = re.search(r"^# (.+)$", FENCE.sub("", page_text(name, language)), re.MULTILINE)
    own = found[1].replace("`", "") if found else name
    return TITLES.get((name, language), own)


def slugs(text: str) -> list[str]:
    """Return the anchors of the headings of a page, in their order."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


def site_anchor(anchor: str, name: str, language: str) -> str:
    """Return an anchor of a page as it is in a language.

    An English page that stands on the Chinese site may lead to the heading of a Chinese page,
    which has its headings in the order of its English page.
    """
    if not anchor or not name.endswith(".md"):
        return anchor
    english, own = (slugs(page_text(name, one)) for one in ("en", language))
    found = anchor.removeprefix("#")
    return f"#{found if found in own else dict(zip(english, own, strict=False)).get(found, found)}"


def site_path(path: str, language: str) -> str:
    """Return where a file of the repository stands on the site; empty if the site has it not."""
    if path in CHINESE.values() and language == "en":
        return next(f"../zh/{name[:-3]}.html" for name, lies in CHINESE.items() if lies == path)
    for name in names():
        if path in (ENGLISH.get(name), CHINESE.get(name), f"docs/{name}", f"docs/zh/{name}"):
            return name
    picture = path.startswith("docs/") and path.endswith((".png", ".svg"))
    return path.removeprefix("docs/") if picture else ""


def adapt_links(text: str, path: str, language: str) -> str:
    """Return the text of a page with its links as the site has them.

    A link to a page that is named by its file shows the title of that page. A link to a file that
    the site does not have keeps its label only.

    Args:
        text: a page, with links as they are followed in the repository.
        path: where the page lies in the repository.
        language: the language of the site.
    """

    def adapt(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), found["path"]))
        name, label = site_path(target, language), found["label"]
        if not name:
            return label
        if name.endswith(".md") and posixpath.basename(label) == posixpath.basename(found["path"]):
            label = title(name, language)
        anchor = site_anchor(found["anchor"] or "", name, language)
        return f"{found['image']}[{label}]({name}{anchor})"

    parts = FENCE.split(text)
    return "".join(
        adapt_fence(part) if part.startswith("```") else WRAPPED.sub("", LINK.sub(adapt, part))
        for part in parts
    )


def adapt_fence(block: str) -> str:
    """Return a block of code whose first line says what zensical reads, not what tests read."""
    head, body = block.split("\n", 1)
    head = re.sub(r" file=(\S+)", r' title="\1"', head.removesuffix(" run"))
    return f"{head}\n{body}"


def sections(language: str) -> list[tuple[str, list[str]]]:
    """Return the navigation of a language: each heading of its index with the pages below it."""
    path = place("index.md", language)
    text = adapt_links(page_text("index.md", language), path, language)
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("## "):
            found.append((line[3:], []))
        elif found:
            known = {name for _, pages in found for name in pages}
            pages = [link["path"] for link in LINK.finditer(line)]
            found[-1][1].extend(name for name in pages if name in names() and name not in known)
    return [(heading, pages) for heading, pages in found if pages]


def config(language: Language) -> str:
    """Return the configuration of zensical for one language."""

    def entry(name: str, value: str) -> str:
        return f"{{ {quoted(name)} = {value} }}"

    rows = [entry(language.first, '"index.md"')]
    for heading, pages in sections(language.name):
        below = ", ".join(entry(title(name, language.name), quoted(name)) for name in pages)
        rows.append(entry(heading, f"[{below}]"))
    switch = "\n".join(
        f'[[project.extra.alternate]]\nname = "{one.label}"\n'
        f'link = "../{one.name}/index.html"\nlang = "{one.name}"\n'
        for one in LANGUAGES
    )
    return CONFIG.format(language=language, nav=",\n  ".join(rows), switch=switch)


def quoted(text: str) -> str:
    """Return a string as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


CONFIG = """[project]
site_name = "kimi_memory"
site_description = "{language.about}"
docs_dir = "source-{language.name}"
site_dir = "{language.name}"
use_directory_urls = false
extra_javascript = ["switch.js"]
nav = [
  {nav}
]

[project.theme]
language = "{language.name}"
font = false
features = [
  "content.code.copy", "navigation.footer", "navigation.sections", "navigation.top",
  "search.highlight", "toc.follow",
]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "{language.dark}"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "{language.light}"

[project.markdown_extensions]
admonition = {{}}
tables = {{}}
toc.permalink = true
toc.slugify = {{ object = "pymdownx.slugs.slugify", kwds = {{ case = "lower" }} }}
pymdownx.highlight.pygments_lang_class = true
pymdownx.superfences = {{}}

{switch}"""
SWITCH = """// Both languages have the same pages: the switch leads to this one in the other.
const page = location.pathname.split("/").pop() || "index.html";
for (const link of document.querySelectorAll("a.md-select__link[hreflang]"))
  link.href = link.getAttribute("href").replace(/[^/]*$/, page);
"""
FIRST = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>kimi_memory</title>
<link rel="icon" href="en/assets/images/favicon.png">
<style>body {{ font: 1.2rem/2 sans-serif; margin: 20vh auto; text-align: center }}</style>
<h1>kimi_memory</h1>
<p>{links}
"""


# Building


def lay_out(language: Language, build: Path) -> Path:
    """Write the pages and the configuration of one language; return the configuration."""
    pages = build / f"source-{language.name}"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    for name in names():
        text = page_text(name, language.name)
        adapted = adapt_links(text, place(name, language.name), language.name)
        (pages / name).write_text(adapted, encoding="utf-8")
    for picture in [*ROOT.glob("docs/*.svg"), *ROOT.glob("docs/pages/*.png")]:
        target = pages / picture.relative_to(ROOT / "docs")
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(picture, target)
    (pages / "switch.js").write_text(SWITCH, encoding="utf-8")
    chosen = build / f"{language.name}.toml"
    chosen.write_text(config(language), encoding="utf-8")
    return chosen


def build_site(build: Path) -> int:
    """Build both languages and a first page that leads to them; return the exit code."""
    zensical = Path(sys.executable).with_name("zensical")
    if not zensical.is_file():
        print("zensical is not installed: pip install 'kimi-memory[docs]'", file=sys.stderr)
        return 1
    build.mkdir(parents=True, exist_ok=True)
    for language in LANGUAGES:
        argv = [zensical, "build", "--strict", "--clean", "--config-file", lay_out(language, build)]
        ran = subprocess.run(argv, check=False)
        if ran.returncode:
            return ran.returncode
    links = " · ".join(f'<a href="{one.name}/index.html">{one.label}</a>' for one in LANGUAGES)
    (build / "index.html").write_text(FIRST.format(links=links), encoding="utf-8")
    print(f"To read it: python -m http.server --bind 127.0.0.1 --directory {build}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Build the site, list stale translations, or mark one as right again."""
    options = argparse.ArgumentParser(prog="python -m docs.site", description=main.__doc__)
    options.add_argument("--stale", action="store_true", help="list stale pages, exit 1 if any")
    options.add_argument("--mark", nargs="+", metavar="PAGE", help="these translations are right")
    options.add_argument("--folder", type=Path, default=BUILD, help="where the site goes")
    chosen = options.parse_args(argv)
    for name in chosen.mark or ():
        mark(name)
    if chosen.stale:
        lines = list(stale())
        print("\n".join(lines) or "every translation is current")
        return 1 if lines else 0
    return 0 if chosen.mark else build_site(chosen.folder)


if __name__ == "__main__":
    sys.exit(main())
