"""All routes, in the order of the OpenAPI document."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.domain.compaction import Compaction, Flushed
from kimi_memory.domain.job import Job, JobReport
from kimi_memory.domain.job_registry import periodic
from kimi_memory.domain.note import CardType
from kimi_memory.domain.operation_types import Commit, Waiting
from kimi_memory.domain.past import BlameLine, TimelineEntry
from kimi_memory.domain.search_types import Answer, Context
from kimi_memory.domain.session import AREAS, Session
from kimi_memory.recall.query_parser import CLOSED
from kimi_memory.server import chats, reading, responses, simple, writing
from kimi_memory.server.cluster_routes import CLUSTER
from kimi_memory.server.principal import Scope
from kimi_memory.server.schema import Field, Route, Special

# A hundred years: to count back far more days leaves the calendar.
MOST_DAYS = 36_500
# An answer is read by a model or a person; more than that is a question badly put.
MOST_HITS = 100
# About the largest part of a window that anybody gives to memories.
MOST_TOKENS = 50_000
# Each is read from git, and the answer stands in memory whole.
MOST_COMMITS = 1000

_DRY = Field(name="dry_run", kind="flag", help="Only show the diff", default=False)
_PROJECT = Field(name="project", help="Project it belongs to")
_AGENT = Field(name="agent", help="Agent it belongs to")
_USER = Field(name="user", help="User it belongs to")
_AREA = Field(
    name="area", help="Whose alone it is: of its agent, its user, its session; else shared",
    choices=("", *AREAS),
)  # fmt: skip
_WITHIN = Field(
    name="within", kind="texts",
    help="Private scopes to see beside what is shared, such as agent:NAME; '' for none",
)  # fmt: skip
_AS_OF = Field(
    name="as_of", help="What was known at this point: a date, a commit, v12, a name, a job"
)
_LIMIT = Field(
    name="limit", kind="int", help="Most hits; 0 for the memory's own", least=0, most=MOST_HITS
)
_CHAT = (
    Field(name="messages", kind="objects", help="A chat, oldest first", required=True),
    Field(name="session", help="The session that holds it; found by its first message if empty"),
    _PROJECT,
    _AGENT,
    _USER,
    _AREA,
)
_KEEP = Field(
    name="keep", kind="int", help="Latest messages that stay; 0 for the settings' own", least=0,
    most=MOST_HITS,
)  # fmt: skip
_SESSION = Field(name="id", help="Whole id of the session", required=True, place="path")


def _mark_query_fields(*fields: Field) -> tuple[Field, ...]:
    """Return fields that stand in the address."""
    return tuple(replace(field, place="query") for field in fields)


def _build_filter_fields() -> tuple[Field, ...]:
    lists = ("tier", "kind", "type", "tag", "status", "speaker", "session", "key", "path")
    words = ("phrases", "excluded")
    moments = {
        "since": "Only from this moment on",
        "until": "Only before this moment",
        "valid_at": "What was held to be true at this moment",
    }
    return (
        *(
            Field(name=name, kind="texts", help=f"Any of these: {' '.join(CLOSED.get(name, ()))}")
            for name in lists
        ),
        *(Field(name=name, kind="texts", help=f"{name.capitalize()} of words") for name in words),
        Field(name="project", help="Only this project"),
        Field(name="agent", help="Only this agent"),
        Field(name="user", help="Only this user"),
        _WITHIN,
        *(Field(name=name, kind="moment", help=help) for name, help in moments.items()),
        _AS_OF,
        Field(name="min_score", kind="float", help="Least score", least=0, most=1),
        Field(
            name="hops",
            kind="int",
            help="Links to follow; -1 for the memory's own",
            default=-1,
            least=-1,
            most=2,
        ),
        Field(
            name="turn_days",
            kind="int",
            help="Turns of so many last days alone; 0 for the memory's own",
            least=0,
            most=MOST_DAYS,
        ),
        Field(
            name="vector_weight",
            kind="float",
            help="Weight of the vector lane, or its share with 70/30; -1 for the memory's own",
            default=-1.0,
            least=-1,
            most=10,
        ),
        Field(
            name="fusion",
            choices=("", "score", "70/30", "rrf"),
            help="How lanes are joined; empty for the memory's own",
        ),
    )


SIMPLE = (
    Route(
        method="POST", path="/search", name="search", summary="Find lines (simple contract).",
        gives=responses.Places, deed=simple.search,
        fields=(
            Field(name="query", help="A question or words, in any language", required=True),
            Field(name="limit", kind="int", help="Most hits", default=6, least=1, most=MOST_HITS),
            Field(name="minScore", kind="float", help="Least score", least=0, most=1),
            Field(name="sources", kind="texts", help="memory, sessions, or both"),
        ),
    ),
    Route(
        method="GET", path="/get", name="read", summary="Return a file or lines of it.",
        gives=responses.Piece, deed=simple.get,
        fields=_mark_query_fields(
            Field(name="path", help="Path in the memory, or the day of a diary", required=True),
            Field(name="startLine", kind="int", help="First line", default=1, least=1),
            Field(name="endLine", kind="int", help="Last line; 0 for all", least=0),
        ),
    ),
    Route(
        method="POST", path="/append", name="append", summary="Keep some text (simple contract).",
        gives=responses.Kept, deed=simple.append, scope=Scope.WRITE, writes=True,
        fields=(
            Field(name="content", help="What to keep", required=True),
            Field(name="path", help="memory/DATE.md, MEMORY.md, USER.md, PROJECT.md; else today"),
            Field(name="ref", help="Your own id of it; the same one is stored once a day"),
        ),
    ),
)  # fmt: skip

READING = (
    Route(
        method="POST", path="/v1/recall", name="recall", summary="Find the lines that answer.",
        gives=Answer, deed=reading.recall,
        fields=(
            Field(name="query", help="A line with fields, phrases and exclusions, or a question"),
            Field(name="text", help="Instead of a query: words in which nothing is syntax"),
            _LIMIT,
            *_build_filter_fields(),
        ),
    ),
    Route(
        method="POST", path="/v1/context", name="context", summary="Return a block for a prompt.",
        gives=Context, deed=reading.context,
        fields=(
            Field(
                name="purpose", help="Start of a session, a task, or the next turn",
                choices=("start", "task", "live"), default="task",
            ),
            Field(name="query", help="What it is about"),
            Field(name="budget", kind="int", help="Most tokens", least=0, most=MOST_TOKENS),
            Field(name="session", help="The running session"),
            Field(name="project", help="At a start: only this project; else all"),
            _AS_OF,
            Field(name="valid_at", kind="moment", help="What was so at this moment"),
            _WITHIN,
        ),
    ),
    Route(
        method="GET", path="/v1/get", name="get", summary="Return a note or a file.",
        gives=responses.Text, deed=reading.get,
        fields=_mark_query_fields(
            Field(name="what", help="An id, the beginning of one, or a path", required=True),
            Field(name="first", kind="int", help="First line", default=1, least=1),
            Field(name="lines", kind="int", help="How many; 0 for all", least=0),
        ),
    ),
    Route(
        method="GET", path="/v1/trace", name="trace", summary="Show where a note comes from.",
        gives=responses.Origins, deed=reading.trace,
        fields=_mark_query_fields(Field(name="id", help="Id of a note", required=True)),
    ),
    Route(
        method="GET", path="/v1/timeline/{key}", name="timeline",
        summary="List the states of a note or a key.",
        gives=list[TimelineEntry], deed=reading.timeline,
        fields=(
            Field(name="key", help="A key, or the id of a note", required=True, place="path"),
            *_mark_query_fields(
                Field(name="since", help="Only from this point on: a date, v12, a commit, a job"),
                Field(name="until", help="Only up to this point"),
            ),
        ),
    ),
    Route(
        method="GET", path="/v1/blame/{id}", name="blame",
        summary="Show since when a note says what it says.",
        gives=list[BlameLine], deed=reading.blame,
        fields=(
            Field(name="id", help="Id of a note", required=True, place="path"),
            *_mark_query_fields(Field(name="field", help="Of the note; what it says if empty")),
        ),
    ),
    Route(
        method="GET", path="/v1/log", name="log", summary="List commits, newest first.",
        gives=list[Commit], deed=reading.log, whole=True,
        fields=_mark_query_fields(
            Field(
                name="limit", kind="int", help="Most commits", default=20, least=1,
                most=MOST_COMMITS,
            ),
            Field(name="path", help="Only what concerns one file"),
        ),
    ),
    Route(
        method="GET", path="/v1/diff", name="diff", summary="Show what changed.",
        gives=responses.Difference, deed=reading.diff, scope=Scope.ADMIN, whole=True,
        fields=_mark_query_fields(
            Field(name="old", help="A commit", default="HEAD"),
            Field(name="new", help="A commit; else the files now"),
            Field(name="path", help="Only one file"),
        ),
    ),
    Route(
        method="GET", path="/v1/review", name="review", summary="List what waits for a person.",
        gives=list[Waiting], deed=reading.review, whole=True,
    ),
    Route(
        method="GET", path="/v1/conflicts", name="conflicts", summary="List contradictions.",
        gives=list[responses.Quarrel], deed=reading.conflicts, whole=True,
    ),
    Route(
        method="GET", path="/v1/status", name="status", summary="Count what is there.",
        gives=responses.State, deed=reading.status, whole=True,
    ),
    Route(
        method="GET", path="/v1/health", name="health", summary="Say whether the server works.",
        # Programs that watch a server have no token.
        gives=responses.Health, deed=reading.health, scope=None,
    ),
)  # fmt: skip

WRITING = (
    Route(
        method="POST", path="/v1/remember", name="remember", summary="Keep one statement.",
        gives=JobReport, deed=writing.remember, scope=Scope.WRITE, writes=True,
        fields=(
            Field(name="text", help="One statement", required=True),
            Field(name="key", help="What it is about, such as db.choice"),
            Field(name="type", help="Kind of knowledge", choices=tuple(map(str, CardType))),
            _PROJECT,
            _AGENT,
            _USER,
            _AREA,
        ),
    ),
    Route(
        method="GET", path="/v1/sessions", name="sessions", summary="List open sessions.",
        gives=responses.Sessions, deed=reading.open_sessions,
    ),
    Route(
        method="POST", path="/v1/sessions", name="start", summary="Start a session, or go on.",
        gives=Session, deed=writing.start, scope=Scope.WRITE, writes=True,
        fields=(
            Field(name="id", help="An id of yours; a fresh one if empty"),
            _AGENT,
            Field(name="user", help="Name of the person"),
            _PROJECT,
            Field(name="host", help="Program it is captured from"),
            Field(name="title", help="What it is about"),
            _AREA,
        ),
    ),
    Route(
        method="POST", path="/v1/sessions/{id}/turns", name="turn", summary="Store one turn.",
        gives=responses.Stored, deed=writing.turn, scope=Scope.WRITE, writes=True,
        fields=(
            _SESSION,
            Field(name="text", help="What was said", required=True),
            Field(
                name="role", help="Who speaks", default="user",
                choices=("user", "assistant", "tool", "system"),
            ),
            Field(name="speaker", help="Name of who speaks"),
            Field(name="at", kind="moment", help="When it was said; else now"),
            Field(name="ref", help="Your own id of the message; the same one is stored once"),
            Field(
                name="origin", help="Whose words these are, where the role does not tell",
                choices=("agent", "tool", "import", "remote"),
            ),
        ),
    ),
    Route(
        method="POST", path="/v1/sessions/{id}/state", name="state",
        summary="Record the task or variables of a session.",
        gives=Session, deed=writing.state, scope=Scope.WRITE, writes=True,
        fields=(
            _SESSION,
            Field(name="task", kind="object", help="The current task"),
            Field(name="variables", kind="object", help="Merged into earlier ones"),
        ),
    ),
    Route(
        method="POST", path="/v1/sessions/{id}/end", name="end",
        summary="End a session: archive and distil it.",
        gives=JobReport, deed=writing.end, scope=Scope.WRITE, writes=True, fields=(_SESSION,),
    ),
    Route(
        method="POST", path="/v1/compact", name="compact", summary="Make a chat fit its window.",
        gives=Compaction, deed=chats.compact, scope=Scope.WRITE, writes=True,
        fields=(
            *_CHAT,
            Field(
                name="window_tokens", kind="int", least=0,
                help="Context window of the model; 0 for the settings' own",
            ),
            Field(
                name="share", kind="float", least=0, most=1,
                help="Part of it that a chat may take; 0 for the settings' own",
            ),
            _KEEP,
            Field(name="force", kind="flag", help="Compact a chat that fits", default=False),
        ),
    ),
    Route(
        method="POST", path="/v1/flush", name="flush", summary="Keep a chat before it is cut.",
        gives=Flushed, deed=chats.flush, scope=Scope.WRITE, writes=True, fields=_CHAT,
    ),
    Route(
        method="GET", path="/v1/sessions/{id}/window", name="window",
        summary="Return the history to resume a session with.",
        gives=responses.History, deed=chats.window,
        fields=(
            _SESSION,
            *_mark_query_fields(
                Field(name="budget", kind="int", help="Most tokens; 0 for the settings' own",
                      least=0),
                _KEEP,
            ),
        ),
    ),
    Route(
        method="POST", path="/v1/distil", name="distil", summary="Distil what waits.",
        gives=list[JobReport], deed=writing.distil, scope=Scope.ADMIN, writes=True, whole=True,
        fields=(Field(name="session", help="One session; else all that wait"), _DRY),
    ),
    Route(
        method="POST", path="/v1/consolidate", name="consolidate",
        summary="Run the daily or weekly job.",
        gives=list[JobReport], deed=writing.consolidate, scope=Scope.ADMIN, writes=True,
        whole=True,
        fields=(
            Field(
                name="period", help="Which job", required=True,
                choices=tuple(job.name for job in periodic()),
            ),
            Field(name="day", kind="day", help="One day or week; else all with news"),
            _DRY,
        ),
    ),
    Route(
        method="POST", path="/v1/forget", name="forget",
        summary="Archive notes so that they do not come back.",
        gives=JobReport, deed=writing.forget, scope=Scope.WRITE, writes=True,
        fields=(
            Field(name="note", help="Id of a note"),
            Field(name="key", help="Or a key"),
            Field(name="session", help="Or all that rests on a session (admin)"),
            Field(name="query", help="Or all that says these words (admin)"),
            Field(name="since", kind="moment", help="Or all said from then on (admin)"),
            Field(name="until", kind="moment", help="And before then (admin)"),
            Field(name="why", help="A reason, kept with the tombstone"),
            Field(name="hashed", kind="flag", help="The tombstone keeps only a hash"),
            _DRY,
        ),
    ),
    Route(
        method="POST", path="/v1/undo", name="undo", summary="Take a job back, byte for byte.",
        gives=Job, deed=writing.undo, scope=Scope.ADMIN, writes=True, whole=True,
        fields=(Field(name="job", help="Id of a job, as log shows it", required=True),),
    ),
)  # fmt: skip

ROUTES: tuple[Route, ...] = (*SIMPLE, *READING, *WRITING, *CLUSTER)

SPECIAL = (
    Special(path="/openapi.json", name="describe", scope=None),
    Special(path="/v1/metrics", name="measure", scope=Scope.READ, whole=True),
    Special(path="/v1/events", name="follow", scope=Scope.READ),
)
