"""Bundled plugins, each a file or a folder; `NAMES` is the order in which they are registered.

pluggy asks the last registered first, so later names come before earlier ones. A plugin
is imported when one of its hooks is first asked, so its hooks are stated here.
"""

# Imported at once, the plugins would take most of the start of a command that asks one of them.
NAMES: dict[str, tuple[str, ...]] = {
    "activity": ("memory_opened", "session_ended", "changes_applied", "recalled"),
    "filesystem": ("check_health",),
    "demo": ("register_commands",),
    "audit": ("register_commands",),
    "compaction": ("register_commands", "open_compactor trylast"),
    "evals": ("register_commands",),
    "export": ("register_commands",),
    "schedule": ("register_commands",),
    "skills": ("register_commands",),
    "words": ("split_words trylast",),
    "markdown": ("split_note trylast",),
    "dates": ("expand_query",),
    "privacy": ("screen_text",),
    "triggers": ("capture_turn",),
    "import_markdown": ("read_memories trylast",),
    "import_cards": ("read_memories",),
    "import_mem0": ("read_memories",),
    "import_claude_mem": ("read_memories",),
    "import_kimi": ("read_memories",),
    "read_markdown": ("read_transcript",),
    "read_messages": ("read_transcript",),
    "read_session": ("read_transcript",),
    "read_openclaw": ("read_transcript",),
    "read_codex": ("read_transcript",),
    "read_claude": ("read_transcript",),
    "distiller": ("distil_session trylast",),
    "digests": ("digest_session trylast",),
    "todos": ("distil_session wrapper",),
    "statements": ("distil_session wrapper",),
    "acts": ("distil_session wrapper",),
    "conflicts": ("judge_conflict trylast",),
    "model_distiller": (
        "distil_session wrapper",
        "digest_session wrapper",
        "judge_conflict wrapper",
    ),
    "expiry": ("consolidate_day",),
    "projects": ("consolidate_day",),
    "agents": ("consolidate_day",),
    "daily": ("consolidate_day",),
    "weekly": ("consolidate_week",),
    "identity": ("consolidate_week",),
    "links": ("consolidate_week",),
    "weights": ("weigh_hit",),
    "ngrams": ("embed_texts trylast",),
    "ollama": ("generate_text configured", "embed_texts configured", "check_health configured"),
    "openai_compatible": (
        "generate_text configured",
        "embed_texts configured",
        "check_health configured",
    ),
    "gemini": (
        "generate_text configured",
        "embed_texts configured",
        "check_health configured",
    ),
    "reranker": ("rerank configured",),
    "whoosh_index": ("open_keywords trylast",),
    "usearch_index": ("open_vectors trylast",),
}
"""The hooks of each plugin, with what its ``hookimpl`` says."""
