"""Front matter in other forms than our own, read by python-frontmatter with a strict handler.

The library alone takes duplicate keys, anchors and dates as it likes, rewrites line ends and
drops what is no mapping. Its handler decides all of that, so ours keeps every offset as it
is in the file, for the patcher that writes a value back to its place.
"""

from __future__ import annotations

import re
from typing import Any

import frontmatter
from frontmatter.default_handlers import BaseHandler

from kimi_memory.formats import frontmatter_yaml
from kimi_memory.formats.frontmatter_yaml import Tree


class StrictFrontMatter(BaseHandler):
    """Splits one text where its block stands, and reads the block as strict YAML.

    Args:
        text: the whole file.
        block: where its front matter begins and ends, and where the body begins.
        path: named in refusals.
        first: number of the first line of the block.
    """

    FM_BOUNDARY = re.compile(r"^---[ \t]*$", re.MULTILINE)

    def __init__(self, text: str, block: tuple[int, int, int], path: str, first: int) -> None:
        super().__init__()
        self._text, self._block, self._path, self._first = text, block, path, first
        self.tree = Tree()

    def split(self, text: str) -> tuple[str, str]:
        """Return block and body of the file as they stand there, not as the library cleaned it."""
        start, end, body = self._block
        return self._text[start:end], self._text[body:]

    def load(self, fm: str) -> dict[str, Any]:
        """Return the values of a block.

        Raises:
            FormatError: the block is not strict YAML.
        """
        self.tree = frontmatter_yaml.load(fm, self._path, self._first)
        return dict(self.tree.values or {})


def load_tree(text: str, block: tuple[int, int, int], path: str, first: int) -> Tree:
    """Return the values of the front matter of a text, with their places in the block.

    Raises:
        FormatError: the block is not strict YAML.
    """
    handler = StrictFrontMatter(text, block, path, first)
    frontmatter.parse(text, handler=handler)
    return handler.tree
