"""The command ``kimi-memory``, short ``kmem``."""

from __future__ import annotations

import gc
import io
import os
import sys

from kimi_memory import __version__

# A command makes few cycles and ends soon: Python's default of 700 looks for them hundreds of
# times during the imports alone.
YOUNG = 300_000
"""So many new values are made before Python looks for cycles among them."""


def main() -> int:
    """Run one command; the exit code is that of its error, if any."""
    if sys.argv[1:] == ["--version"]:
        # Scripts ask for it at every start of theirs: the command line takes longer to load.
        sys.stdout.write(f"kimi-memory {__version__}\n")
        return 0
    if sys.argv[1:3] == ["hook", "run"]:
        # A person waits for this one at every prompt: it needs no command line.
        from kimi_memory.agent_hooks.entrypoint import main as quick

        # All is written and closed by then: to take apart what was loaded only takes time.
        os._exit(quick(sys.argv[3:]))
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal of another encoding shows what it can; nothing was wrong with the command.
        sys.stdout.reconfigure(errors="replace")
    # Set before numpy is loaded: starting threads takes longer than our sums.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(YOUNG)
    from kimi_memory.cli import run

    code = run(sys.argv[1:])
    # The process ends: looking once more for cycles in all that was loaded frees nothing.
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(main())
