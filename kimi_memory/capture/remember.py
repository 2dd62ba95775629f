"""What is remembered at once: by request, or by triggers within the limits."""

from __future__ import annotations

import hashlib
from datetime import datetime

from kimi_memory.capture.log import Captured
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.note import CardType, Lang, Origin, Quote
from kimi_memory.domain.session import Session, scope_of
from kimi_memory.errors import UsageError
from kimi_memory.nlp.basic.characters import fold_case, language_of
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.rules import cues
from kimi_memory.nlp.rules.addressed import tells_agents


def remembered_in(
    at: datetime, copy: str, project: str = "", agent: str = "", user: str = "", *, area: str = ""
) -> str:
    """Return the session of a day's remembered statements: one for each copy and owner.

    Two copies that wrote into one file could not be merged.
    """
    whose = f"\0{project}\0{agent}" if project or agent else ""
    whose += f"\0user {user}\0{area}" if user or area else ""
    mark = f"-{hashlib.sha256(whose.encode()).hexdigest()[:10]}" if whose else ""
    return f"remembered-{at:%Y%m%d}{f'-{copy}' if copy else ''}{mark}"


def explicit_draft(captured: Captured, session: Session, key: str, type: str) -> Draft:
    """Return the draft of something a person asked to remember."""
    turn = captured.turn
    lang = Lang(language_of(turn.text))
    found = captured.drafts[0] if captured.drafts else None
    title = " ".join(turn.text.split())[:60]
    try:
        kind = CardType(type) if type else (found.type if found else CardType.FACT)
    except ValueError:
        raise UsageError(f"{type!r} is no card type. Use one of {', '.join(CardType)}.") from None
    if turn.origin is not Origin.HUMAN and _is_order(turn.text):
        kind = CardType.RULE  # Another name makes no fact of an agent's order.
    return Draft(
        type=kind,
        key=key or (found.key if found else f"note.{slug(title, limit=40)}"),
        title=found.title if found else title,
        value=turn.text.strip(),
        # The whole turn is its evidence: what is to be remembered is said in so many words.
        quotes=(Quote(session.id, turn.n, turn.text),),
        at=turn.at,
        lang=lang,
        importance=0.9,
        confidence=0.9,
        reversal=bool(found and found.reversal),
        origin=turn.origin,
        category=session.project or (found.category if found else "general"),
        project=session.project,
        scope=scope_of(session),
    )


def _is_order(text: str) -> bool:
    return bool(cues.RULE.search(fold_case(text))) or tells_agents(text)
