"""ReMe as its default configuration has it: BM25 over Markdown, no embedding store."""

from __future__ import annotations

from importlib import import_module

from served import Ask, serve


async def index(folder: str) -> Ask:
    """Start the application without its background jobs and index the workspace once."""
    made = import_module("reme.config").resolve_app_config(
        log_config=False,
        workspace_dir=folder,
        log_to_console=False,
        log_to_file=False,
        enable_logo=False,
    )
    search = made["jobs"]["search"]
    made["jobs"] = {
        "search": search,
        "take": {
            "backend": "base",
            "watch_dirs": ["daily_dir"],
            "watch_suffixes": ["md"],
            "steps": [
                {
                    "backend": "init_changes_step",
                    "monitor_type": "file_store",
                    "monitor_name": "default",
                    "dispatch_steps": ["update_index_step"],
                }
            ],
        },
    }
    for name in ("as_llm", "agent_wrapper"):
        made["components"].pop(name, None)
    application = import_module("reme.application").Application(**made)
    await application.start()
    await application.run_job("take")

    async def ask(question: str, limit: int) -> list[str]:
        found = await application.run_job("search", query=question, limit=limit)
        return [one["path"] for one in found.metadata.get("results", [])]

    return ask


if __name__ == "__main__":
    serve("reme-ai", index)
