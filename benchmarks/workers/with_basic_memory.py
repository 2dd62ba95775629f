"""basic-memory: its synchronisation of a folder, and its search tool in the same process."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from served import Ask, serve


async def index(folder: str) -> Ask:
    """Make a project of the folder and synchronise it."""
    # Its log of every answer costs more than the search.
    import_module("loguru").logger.remove()
    db = import_module("basic_memory.db")
    settings = import_module("basic_memory.config")
    search_notes = import_module("basic_memory.mcp.tools").search_notes
    projects = import_module("basic_memory.repository").ProjectRepository
    starting = import_module("basic_memory.services.initialization")
    syncing = import_module("basic_memory.sync.sync_service")
    manager = settings.ConfigManager()
    config = manager.load_config()
    config.projects = {"bench": settings.ProjectEntry(path=folder)}
    config.default_project = "bench"
    config.semantic_search_enabled = False
    manager.save_config(config)
    await db.run_migrations(config)
    await starting.reconcile_projects_with_config(config)
    _, sessions = await db.get_or_create_db(
        db_path=config.database_path, db_type=db.DatabaseType.FILESYSTEM
    )
    active = await projects(sessions).get_active_projects()
    [project] = [one for one in active if one.name == "bench"]
    service = await syncing.get_sync_service(project)
    await service.sync(Path(folder), project_name="bench")

    async def ask(question: str, limit: int) -> list[str]:
        search = getattr(search_notes, "fn", search_notes)
        found = await search(
            query=question,
            project="bench",
            page_size=limit,
            search_type="text",
            output_format="json",
        )
        if isinstance(found, str):
            return []
        return [one["file_path"] for one in found["results"]]

    return ask


if __name__ == "__main__":
    serve("basic-memory", index)
