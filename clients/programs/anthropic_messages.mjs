// Anthropic's JavaScript library: thinking, cache markers that move along, every other turn streamed.
import Anthropic from "@anthropic-ai/sdk";
import { GATEWAY, MODEL, SYSTEM, converse, log } from "./plan.mjs";

const client = new Anthropic({ baseURL: GATEWAY, maxRetries: 0 });
const cache_control = { type: "ephemeral" };
const input_schema = { type: "object", properties: { number: { type: "integer" } } };
const tools = [{ name: "read_log", description: "Read a log.", input_schema }];

function marked(messages) {
  const last = messages.at(-1);
  const content = last.content.map((block, index) =>
    index === last.content.length - 1 ? { ...block, cache_control } : block,
  );
  return [...messages.slice(0, -1), { ...last, content }];
}

async function answer(messages, turn) {
  const asked = {
    model: MODEL,
    max_tokens: 500,
    system: [{ type: "text", text: SYSTEM, cache_control }],
    tools,
    thinking: { type: "adaptive" },
    messages: marked(messages),
  };
  return turn % 2 ? client.messages.create(asked) : client.messages.stream(asked).finalMessage();
}

await converse(async (history, question, turn) => {
  history.push({ role: "user", content: [{ type: "text", text: question }] });
  for (;;) {
    const { content } = await answer(history, turn);
    history.push({ role: "assistant", content });
    const calls = content.filter((block) => block.type === "tool_use");
    if (!calls.length) return history;
    const results = calls.map(({ id, input }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: log(input.number),
    }));
    history.push({ role: "user", content: results });
  }
});
