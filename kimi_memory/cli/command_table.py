"""The built-in commands by what they are for, and other words for them."""

from __future__ import annotations

GROUPS: dict[str, dict[str, str]] = {
    "begin": {
        "init": "make a memory in a folder",
    },
    "store": {
        "remember": "keep one statement at once",
        "session": "start a session, add turns, end it",
        "ingest": "store transcripts of other programs, each turn once",
        "import": "import the memories of another system, and update them later",
        "update": "read all imported sources again, then bring the index up to date",
    },
    "distil": {
        "distill": "turn ended sessions into events and cards",
        "consolidate": "run the daily or weekly job, or introspect",
    },
    "ask": {
        "list": "list what is held, by any filter, with how many there are",
        "recall": "find the lines that answer a question",
        "get": "show a note, or lines of a file",
        "trace": "show where a note comes from",
        "context": "print a block of memory for a prompt",
    },
    "correct": {
        "review": "show what waits for your word; accept, edit or reject it",
        "conflicts": "list contradictions, and settle them",
        "link": "link two notes, remove a link, list what is suggested",
        "project": "list projects, finish one, take one up again",
        "undo": "take a job back, byte for byte",
        "rollback": "bring back what was known at an earlier point",
    },
    "see it all": {
        "ui": "open the pages of a memory in a browser",
        "lsp": "serve an editor: hover, links, diagnostics, review",
        "tui": "open a panel on the memory in the terminal",
    },
    "look back": {
        "log": "show the history",
        "diff": "show what changed between two points in the history",
        "timeline": "show every state of a note or a key, and why it changed",
        "blame": "show since when a line or a field says so, by which job, from which turns",
        "bisect": "find the version from which on a note says something",
        "replay": "show what would be believed had a turn never been said",
        "versions": "list the versions of the memory",
        "name": "give a version a name, to come back to",
    },
    "remove": {
        "forget": "archive notes and keep them from coming back",
        "purge": "destroy a text or a session everywhere, with proof",
    },
    "check": {
        "status": "show what is in the memory",
        "doctor": "look for faults, and mend them",
        "verify": "check journal, notes, quotes and indexes",
        "index": "bring the indexes up to date, or rebuild them",
        "watch": "keep the index up to date while somebody edits the files",
        "plugins": "list plugins: loaded, from where, skipped and why",
        "config": "show and change settings, with a check",
        "completion": "print what lets a shell complete commands and options",
    },
    "copy and merge": {
        "backup": "write the memory and its history into one archive, and check it",
        "merge": "bring a branch or another copy of this memory into it",
        "sync": "merge what other copies sent to a remote, and send what is here",
        "remote": "add, list, check or remove the places this memory is synced with",
        "branch": "make, list, compare or remove working copies of this memory",
        "fork": "make a memory of its own of what this one knows",
        "pick": "take one change, or what is said of one thing, from another copy",
        "migrate": "move the memory to another place, and check it there",
        "trust": "say whose SSH keys you know, and what their signatures are worth",
        "attest": "sign what the memory holds at a point, or check such a statement",
        "node": "make this machine part of a cluster, list its machines, leave it",
        "deploy": "share a memory between machines, copy it here, say which of them leads",
        "cluster": "keep the memories of this machine in step, look at them, check their logs",
        "space": "share memories in a team, say who may do what, read who did",
        "sealed": "keep memories in a folder that is encrypted on disk",
        "git": "merge generated pages when git merges two copies",
    },
    "run by itself": {},
    "export": {},
    "give it to agents": {
        "hook": "answer agent programs, and put the hooks into their settings",
        "mcp": "serve agent programs over the Model Context Protocol",
        "serve": "serve programs in any language over HTTP",
        "proxy": "pass chats on to a model, and add memory to them",
    },
}
"""Every built-in command and what it does, by what a person wants to do.

Plugins fill the empty groups.
"""
OTHERS = "more"
"""Where commands of plugins stand that name no group."""
COMMANDS = {name: help for group in GROUPS.values() for name, help in group.items()}
ALIASES = {
    "search": "recall",
    "held": "list",
    "ls": "list",
    "browse": "list",
    "distil": "distill",
    "dream": "consolidate introspect",
}
"""Words that run a command."""
_MEANT_BY = {
    "get": "show cat",
    "recall": "find query ask",
    "remember": "add store save note",
    "consolidate introspect": "introspect",
    "consolidate daily": "daily",
    "consolidate weekly": "weekly",
    "forget": "delete remove rm",
    "purge": "destroy erase",
    "log": "history",
    "undo": "revert",
    "trace": "why source explain",
    "review": "approve",
    "review accept": "accept",
    "review reject": "reject",
    "conflicts": "resolve",
    "hook install": "install",
    "hook": "hooks",
    "serve": "server http",
    "init": "new create",
    "status": "info",
    "doctor": "check",
    "sync": "push pull",
    "fork": "clone",
    "update": "upgrade refresh",
    "config": "settings configure",
    "config set": "set",
    "--version": "version",
    "--help": "help",
}
MEANT = {word: meant for meant, words in _MEANT_BY.items() for word in words.split()}
"""What is meant by words of other programs; they are named, and not run."""
LONG = frozenset(
    {"list", "recall", "get", "trace", "log", "diff", "timeline", "blame", "versions", "doctor"}
)
"""Commands that may print more than a screen; they ask nothing meanwhile."""
EXAMPLES = (
    'remember "We use SQLite, because one file is easy to back up."',
    'recall "which database do we use?"',
    "trace decision.database",
    "review",
    "undo --dry-run",
)
