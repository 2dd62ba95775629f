"""A capability of Pydantic AI that recalls before the model and captures after the run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import InstructionPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.run import AgentRunResult

from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import Role
from kimi_memory.frameworks.talk import Heard, Talk

_HOST = "pydantic-ai"


class MemoryCapability(AbstractCapability[Any]):
    """A capability for ``Agent(capabilities=[…])``.

    What is known about the prompt becomes the last part of the instructions. The prompt
    and the output of a run become turns of a session, one a conversation.

    Args:
        memory: an open memory.
        agent: who answers.
        conversation: names the session, instead of the framework's own id.
        budget: most tokens of what is put in.
    """

    def __init__(
        self, memory: Memory, agent: str = _HOST, *, conversation: str = "", budget: int = 900
    ) -> None:
        self._talk = Talk(memory, agent, _HOST, budget)
        self._conversation = conversation

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Let the model answer with what is known; recall runs in a thread."""
        asked = _prompt_text(ctx.prompt)
        block = await asyncio.to_thread(self._talk.block, self._conversation_name(ctx), asked)
        if not block:
            return request_context
        params = request_context.model_request_parameters
        parts = [*(params.instruction_parts or []), InstructionPart(block, dynamic=True)]
        told = replace(params, instruction_parts=parts)
        return replace(request_context, model_request_parameters=told)

    async def after_run(
        self, ctx: RunContext[Any], *, result: AgentRunResult[Any]
    ) -> AgentRunResult[Any]:
        """Store what was asked and answered."""
        said = [
            Heard(Role.USER, _prompt_text(ctx.prompt), f"{ctx.run_id}:user"),
            Heard(Role.ASSISTANT, str(result.output), f"{ctx.run_id}:assistant"),
        ]
        await self._talk.keep(self._conversation_name(ctx), said)
        return result

    def _conversation_name(self, ctx: RunContext[Any]) -> str:
        return self._conversation or str(ctx.conversation_id or "")


def _prompt_text(prompt: str | Sequence[object] | None) -> str:
    """Return the words of a prompt; pictures and files have none."""
    parts = [prompt] if isinstance(prompt, str) else prompt or ()
    return "\n".join(part for part in parts if isinstance(part, str))
