// Memory for OpenCode: every moment is told to kimi-memory, and what it answers is shown to the model.
import { spawn } from "node:child_process";

const COMMAND = ["kimi-memory", "hook", "run", "--host", "opencode"];
const SECONDS = 10;

// Nothing here may break the program: whatever goes wrong, there is no answer.
function tell(payload) {
  return new Promise((resolve) => {
    let out = "";
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"], detached: true });
    const done = () => {
      clearTimeout(timer);
      try {
        resolve(out ? JSON.parse(out).context : "");
      } catch {
        resolve("");
      }
    };
    const timer = setTimeout(() => child.kill(), SECONDS * 1000);
    child.on("error", done).on("close", done);
    child.stdin.on("error", () => {});
    child.stdout.on("data", (part) => (out += part));
    child.stdin.end(JSON.stringify(payload));
  });
}

const words = (parts) =>
  parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n");

export const KimiMemory = async ({ directory }) => {
  const inner = new Set(); // sessions of sub-agents
  const standing = new Map(); // what is said at the start of each session
  const replies = new Map(); // the last reply in each session, by its message
  const told = (event, id, rest = {}) => tell({ event, session_id: id, cwd: directory, ...rest });

  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const prompt = words(parts);
      if (inner.has(sessionID) || !prompt) return;
      if (!standing.has(sessionID)) standing.set(sessionID, await told("start", sessionID));
      const text = await told("prompt", sessionID, { prompt, prompt_id: message.id });
      const id = `prt_${message.id.slice(4)}zkimi`;
      if (text) parts.push({ id, sessionID, messageID: message.id, type: "text", synthetic: true, text });
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (standing.get(sessionID)) system.push(standing.get(sessionID));
    },
    event: async ({ event: { type, properties } }) => {
      const id = properties?.sessionID ?? properties?.info?.sessionID ?? properties?.info?.id;
      if (type === "session.created" && properties.info.parentID) inner.add(id);
      if (type === "message.updated" && properties.info.role === "assistant")
        if (replies.get(id)?.message !== properties.info.id)
          replies.set(id, { message: properties.info.id, parts: new Map() });
      if (type === "message.part.updated") {
        const { part } = properties;
        const reply = replies.get(part.sessionID);
        if (part.type === "text" && reply?.message === part.messageID) reply.parts.set(part.id, part.text);
      }
      if (inner.has(id)) return;
      if (type === "session.compacted") standing.set(id, await told("start", id));
      if (type === "session.deleted") await told("end", id);
      if (type === "session.idle" && replies.has(id)) {
        const { message, parts } = replies.get(id);
        replies.delete(id);
        await told("turn", id, { prompt_id: message, last_assistant_message: [...parts.values()].join("\n") });
      }
    },
  };
};
