/** A conversation as a file: Markdown, JSON, a page that needs nothing else, or Octavo's own. Loaded when one is wanted. */

import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import type { Conversation, Message } from "../../api/types";
import { moment } from "../../lib/format";
import { titleOf } from "../../state/effects/conversations";
import { readAll, readExport } from "../../state/effects/transfer";
import { Markdown } from "../chat/Markdown";

const NAMES = { user: "You", assistant: "Answer", system: "System", tool: "Tool" } as const;
const STYLE = `:root{color-scheme:light dark}
body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:1rem/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
header p,h2{opacity:.7;font-size:.85rem;font-weight:400}h1{font-family:Georgia,serif}article{margin-block:1.2rem}
.user{padding:.6rem 1rem;border-radius:1rem;background:#8883}.plain{white-space:pre-wrap}
pre{overflow:auto;padding:.8rem;border-radius:.5rem;background:#8882}figcaption button{display:none}
figure{margin:0}table{border-collapse:collapse}td,th{border:1px solid #8888;padding:.2rem .6rem;text-align:start}`;

export type Kind = "markdown" | "json" | "page" | "octavo";

export async function save(conversation: Conversation, kind: Kind): Promise<void> {
  if (kind === "octavo") {
    const blob = await readExport(conversation);
    if (blob) download(conversation, blob, "jsonl");
    return;
  }
  const messages = await readAll(conversation.id);
  if (!messages) return;
  const [text, type, ending] = {
    markdown: [() => markdown(conversation, messages), "text/markdown", "md"] as const,
    json: [() => json(conversation, messages), "application/json", "json"] as const,
    page: [() => page(conversation, messages), "text/html", "html"] as const,
  }[kind];
  download(conversation, new Blob([text()], { type }), ending);
}

function download(conversation: Conversation, blob: Blob, ending: string): void {
  const link = document.createElement("a");
  const name = titleOf(conversation).replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase();
  link.href = URL.createObjectURL(blob);
  link.download = `${name || "conversation"}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function markdown(conversation: Conversation, messages: Message[]): string {
  const said = messages.map((one) => `## ${NAMES[one.role]}, ${moment(one.created)}\n\n${one.text}\n`);
  return [`# ${titleOf(conversation)}\n`, ...said].join("\n");
}

/** As OpenAI's interface takes them: most programs read that. */
function json(conversation: Conversation, messages: Message[]): string {
  const said = messages.map(({ role, text, created }) => ({ role, content: text, created }));
  return JSON.stringify({ title: titleOf(conversation), messages: said }, null, 2);
}

/** React writes every word as text, so no word of a message becomes anything else in the file. */
function page(conversation: Conversation, messages: Message[]): string {
  const place = document.createElement("div");
  const root = createRoot(place);
  flushSync(() => root.render(<Document conversation={conversation} messages={messages} />));
  const body = place.innerHTML;
  root.unmount();
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>${STYLE}</style>`;
  const title = Object.assign(document.createElement("title"), { textContent: titleOf(conversation) }).outerHTML;
  return `<!doctype html><html lang="en"><head>${head}${title}</head><body>${body}</body></html>`;
}

function Document({ conversation, messages }: { conversation: Conversation; messages: Message[] }) {
  return (
    <>
      <header>
        <h1 dir="auto">{titleOf(conversation)}</h1>
        <p>
          {moment(conversation.created)} to {moment(conversation.updated)}, written out by Octavo
        </p>
      </header>
      {messages.map((one) => (
        <article key={one.id} className={one.role} dir="auto">
          <h2>
            {NAMES[one.role]}, {moment(one.created)}
          </h2>
          {one.parts.map((part, index) =>
            part.type === "text" ? (
              one.role === "user" ? (
                <p key={index} className="plain">
                  {part.text}
                </p>
              ) : (
                <Markdown key={index} text={part.text} />
              )
            ) : part.type === "image" && part.source.startsWith("data:image/") ? (
              <img key={index} src={part.source} alt="Attached" />
            ) : part.type === "attachment" ? (
              <p key={index}>[{part.name}]</p>
            ) : null,
          )}
        </article>
      ))}
    </>
  );
}
