// The Vercel AI SDK with its providers for OpenAI's chat and for Anthropic: every other turn is streamed.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { GATEWAY, MODEL, SYSTEM, converse, log } from "./plan.mjs";

const baseURL = `${GATEWAY}/v1`;
const model = {
  chat: () => createOpenAI({ baseURL }).chat(MODEL),
  responses: () => createOpenAI({ baseURL }).responses(MODEL),
  anthropic: () => createAnthropic({ baseURL })(MODEL),
}[process.env.DIALECT]();
const read_log = tool({
  description: "Read a log.",
  inputSchema: z.object({ number: z.number() }),
  execute: async ({ number }) => log(number),
});

await converse(async (history, question, turn) => {
  const messages = [...history, { role: "user", content: question }];
  const asked = {
    model,
    system: SYSTEM,
    messages,
    tools: { read_log },
    stopWhen: stepCountIs(200),
    maxOutputTokens: 500,
    maxRetries: 0,
  };
  if (turn % 2) return [...messages, ...(await generateText(asked)).responseMessages];
  const streamed = streamText({
    ...asked,
    onError({ error }) {
      throw error;
    },
  });
  await streamed.consumeStream();
  return [...messages, ...(await streamed.responseMessages)];
});
