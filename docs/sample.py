"""The sample in ``memory/``, made from the bundled transcripts by the real jobs.

``python -m docs.sample`` makes it again. Clock, key and ids are fixed, so the same
sources give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.capture.ingest import open_file
from kimi_memory.config import MARKER
from kimi_memory.domain.ids import derived_id
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host

ROOT = Path(__file__).parent.parent
TRANSCRIPTS = ROOT / "templates/starter/transcripts"
NAME = "Sample · 示例"
NOW = datetime(2026, 3, 9, 8, tzinfo=UTC)
"""The Monday after the conversations."""
ID = derived_id("memory", NOW, NAME)


def write(folder: Path) -> None:
    """Make the sample in `folder`, in place of an earlier one.

    Raises:
        UsageError: something else lies there.
    """
    _refuse_others(folder)
    with TemporaryDirectory() as work:
        grow(Path(work, "memory"), Path(work, "home"))
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(
            Path(work, "memory"), folder, ignore=shutil.ignore_patterns(".*"), dirs_exist_ok=True
        )
    marker = folder / MARKER
    text = re.sub(r'^id = ".*"$', f'id = "{ID}"', marker.read_text("utf-8"), flags=re.MULTILINE)
    marker.write_text(text, encoding="utf-8")


def grow(root: Path, home: Path) -> None:
    """Let a memory live through the transcripts: sessions, days, weeks."""
    home.mkdir()
    # The marks of masked secrets depend on the machine's key: here it is no secret.
    (home / "key").write_bytes(hashlib.sha256(NAME.encode()).digest())
    opening = Opening(
        home=Home(home, home),
        clock=lambda: NOW,
        host=Host(entry_points=False),
        background=False,
    )
    Memory.create(root, name=NAME, opening=opening).close()
    # Its days are the same wherever it is made.
    marker = root / MARKER
    text = marker.read_text("utf-8").replace("[memory]\n", '[memory]\ntimezone = "UTC"\n', 1)
    marker.write_text(text, encoding="utf-8")
    with Memory.open(root, opening) as memory:
        for report in memory.ingest(
            open_file(TRANSCRIPTS / f"{name}.jsonl") for name in ("zh", "en")
        ):
            memory.end(report.session)
        memory.consolidate("daily")
        memory.consolidate("weekly")


def _refuse_others(folder: Path) -> None:
    marker = folder / MARKER
    known = marker.is_file() and ID in marker.read_text("utf-8")
    if not known and folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not the sample. Name an empty folder.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the sample."""
    parser = argparse.ArgumentParser(prog="python -m docs.sample", description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "memory")
    write(parser.parse_args(arguments).folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
