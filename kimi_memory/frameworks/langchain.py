"""LangChain: middleware that recalls and captures around an agent, and a retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langchain_core.retrievers import BaseRetriever

from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import Role
from kimi_memory.domain.search_types import Hit
from kimi_memory.domain.session import named
from kimi_memory.frameworks.talk import Heard, Talk
from kimi_memory.recall.query_parser import parse

_ROLES = {"human": Role.USER, "ai": Role.ASSISTANT}


class MemoryMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Middleware for ``create_agent(middleware=[…])``.

    What is known about the last message goes behind the system prompt of the request
    and nowhere else, so it is neither in the thread nor captured again. What the person
    and the agent said becomes turns of a session, one a thread.

    Args:
        memory: an open memory.
        agent: who answers.
        conversation: names the session where there is no checkpointer, so no thread.
        budget: most tokens of what is put in.
    """

    def __init__(
        self, memory: Memory, agent: str = "langchain", *, conversation: str = "", budget: int = 900
    ) -> None:
        super().__init__()
        self._talk = Talk(memory, agent, "langchain", budget)
        self._conversation = conversation

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Let the model answer with what is known."""
        return handler(self._request_with_memory(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Let the model answer with what is known; recall runs in a thread."""
        return await handler(await asyncio.to_thread(self._request_with_memory, request))

    def after_agent(self, state: AgentState[Any], runtime: Any) -> None:
        """Store what was said since the person spoke last."""
        self._talk.store_messages(
            self._conversation_name(runtime), _last_exchange(state["messages"])
        )

    async def aafter_agent(self, state: AgentState[Any], runtime: Any) -> None:
        """Store what was said since the person spoke last, in a thread."""
        await asyncio.to_thread(self.after_agent, state, runtime)

    def _request_with_memory(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        asked = [one for one in request.messages if isinstance(one, HumanMessage)]
        question = str(asked[-1].text) if asked else ""
        block = self._talk.block(self._conversation_name(request.runtime), question)
        if not block:
            return request
        return request.override(system_message=_append_block(request.system_message, block))

    def _conversation_name(self, runtime: Any) -> str:
        """Return the name of the conversation; it must not end up in another's session."""
        shown = getattr(runtime, "execution_info", None)
        # Without a thread no name is made up: two conversations would become one session.
        return str(getattr(shown, "thread_id", None) or self._conversation)


class MemoryRetriever(BaseRetriever):
    """A retriever for chains: the lines of a memory that answer a question, best first.

    Each document says where it stands, how well it fits and whose word it is.
    """

    memory: Any
    """An open memory."""
    k: int = 10
    """Most documents."""
    agent: str = "langchain"
    """Whose private area may be seen beside what is shared."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        if not query.strip():
            return []
        asked = parse(query, self.memory.now(), limit=k or self.k)
        own = replace(asked, within=(named("agent", self.agent),))
        return [_convert_hit(hit) for hit in self.memory.recall(own).hits]


def _convert_hit(hit: Hit) -> Document:
    unit = hit.unit
    about = {
        "citation": hit.citation,
        "score": hit.score,
        "kind": unit.kind,
        "status": unit.status,
        "trust": unit.trust,
        "date": f"{unit.at:%Y-%m-%d}" if unit.at else "",
    }
    return Document(page_content=hit.snippet, id=unit.id, metadata=about)


def _append_block(message: SystemMessage | None, block: str) -> SystemMessage:
    if message is None:
        return SystemMessage(content=block)
    if isinstance(message.content, str):
        return SystemMessage(content=f"{message.content}\n\n{block}")
    return SystemMessage(content=[*message.content, {"type": "text", "text": block}])


def _last_exchange(messages: Sequence[AnyMessage]) -> Iterator[Heard]:
    """Yield the last message of the person and the agent's words after it.

    Earlier ones were stored when they were said; without a checkpointer, callers give
    them again under other ids.
    """
    last = max((n for n, one in enumerate(messages) if isinstance(one, HumanMessage)), default=0)
    for one in messages[last:]:
        if isinstance(one, HumanMessage | AIMessage):
            yield Heard(_ROLES[one.type], str(one.text), one.id or "")
