// OpenAI's JavaScript library, Chat Completions: every other turn is streamed.
import OpenAI from "openai";
import { GATEWAY, MODEL, SYSTEM, converse, log } from "./plan.mjs";

const client = new OpenAI({ baseURL: `${GATEWAY}/v1`, maxRetries: 0 });
const parameters = { type: "object", properties: { number: { type: "integer" } } };
const tools = [{ type: "function", function: { name: "read_log", parameters } }];

async function answer(messages, turn) {
  const asked = { model: MODEL, messages, tools, max_tokens: 400 };
  const whole =
    turn % 2
      ? await client.chat.completions.create(asked)
      : await client.chat.completions.stream(asked).finalChatCompletion();
  const { role, content, tool_calls } = whole.choices[0].message;
  return { role, content, ...(tool_calls?.length ? { tool_calls } : {}) };
}

await converse(async (history, question, turn) => {
  if (!history.length) history.push({ role: "system", content: SYSTEM });
  history.push({ role: "user", content: question });
  for (;;) {
    const message = await answer(history, turn);
    history.push(message);
    if (!message.tool_calls) return history;
    for (const call of message.tool_calls) {
      const { number } = JSON.parse(call.function.arguments);
      history.push({ role: "tool", tool_call_id: call.id, content: log(number) });
    }
  }
});
