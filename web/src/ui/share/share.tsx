/** A conversation as a file: Markdown, JSON, a page that needs nothing else, or Octavo's own. Loaded when one is wanted. */

import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import type { ReactNode } from "react";
import type { Conversation, Message, Part } from "../../api/types";
import { textOf } from "../../lib/files";
import { moment } from "../../lib/format";
import { titleOf } from "../../state/effects/conversations";
import { readPicture } from "../../state/effects/pictures";
import { readAll, readExport } from "../../state/effects/transfer";
import { DrawNow } from "../chat/Formula";
import { Markdown } from "../chat/Markdown";

const NAMES = { user: "You", assistant: "Answer", system: "System", tool: "Tool" } as const;
const STYLE = `:root{color-scheme:light dark}
body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:1rem/1.55 system-ui,sans-serif;overflow-wrap:anywhere;
color:light-dark(#22211e,#e9e5db);background:light-dark(#fbf9f4,#17191a)}
header p,h2,summary{color:light-dark(#5d5a52,#aaa79d);font-size:.85rem;font-weight:400}
h1{font-family:Georgia,serif}article{margin-block:1.6rem}.prose{font-family:Georgia,serif;line-height:1.65}
.prose :is(h1,h2,h3){color:inherit;font-size:1.1rem;font-weight:600}
.user>.plain{padding:.6rem 1rem;border-radius:1rem;background:light-dark(#e6efec,#1d2c2b)}.plain{white-space:pre-wrap}
pre{overflow:auto;padding:.8rem;border-radius:.5rem;background:light-dark(#f3efe6,#111314);font-size:.86rem;white-space:pre-wrap}
code{font-family:ui-monospace,monospace;font-size:.9em}figure{margin:0}
figcaption{color:light-dark(#5d5a52,#aaa79d);font-size:.78rem}
figcaption button,.table-copy{display:none}sup button{all:unset}a{color:light-dark(#1d5c56,#7cc7bd)}
.table{overflow-x:auto;overflow-wrap:normal}table{border-collapse:collapse;font:.875rem/1.5 system-ui,sans-serif}
td,th{border-bottom:1px solid #8886;padding:.3rem .7rem;text-align:start}.short{white-space:nowrap}.long{min-width:9rem}
.at-right{text-align:end}.at-center{text-align:center}.formula{display:block;overflow:auto hidden}
blockquote{margin-inline:0;padding-inline-start:1rem;border-inline-start:2px solid #8888}img{max-width:100%}
details{margin-block:.5rem;padding:.4rem .8rem;border:1px solid #8886;border-radius:.5rem}
.hl-comment{color:light-dark(#5d5a52,#aaa79d);font-style:italic}.hl-word{color:light-dark(#7a3e9d,#c9a0e8)}
.hl-string,.hl-added{color:light-dark(#2f6b2f,#9ccf8f)}.hl-number{color:light-dark(#9a4a00,#e8b070)}
.hl-call{color:light-dark(#1f5a96,#8fbdee)}.hl-removed{color:light-dark(#b3261e,#ff8a7d)}`;
const HAS_FORMULA = /\$|\\[([]/;
/** What a formula begins with: without any, the library for them is not loaded. */

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
  download(conversation, new Blob([await text()], { type }), ending);
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
  const said = messages.map((one) => `## ${NAMES[one.role]}, ${moment(one.created)}\n\n${one.parts.map(written).join("\n\n")}\n`);
  return [`# ${titleOf(conversation)}\n`, ...said].join("\n");
}

/** A part in Markdown; thoughts of a model are not part of what was said. */
function written(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "tool_call":
      return `Called \`${part.name}\`:\n\n${fenced(part.input)}`;
    case "tool_result":
      return `Result of \`${part.name}\`:\n\n${part.content.map((one) => (one.type === "text" ? fenced(one.text) : written(one))).join("\n\n")}`;
    case "attachment":
      return [`Attached: ${part.name}`, fenced(textOf(part.source ?? "") ?? "")].filter(Boolean).join("\n\n");
    case "image":
      return "[A picture]";
    default:
      return "";
  }
}

/** Text between fences that are longer than any inside of it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return text ? `${fence}\n${text}\n${fence}` : "";
}

/** As OpenAI's interface takes them: most programs read that. */
function json(conversation: Conversation, messages: Message[]): string {
  const said = messages.map(({ role, text, created }) => ({ role, content: text, created }));
  return JSON.stringify({ title: titleOf(conversation), messages: said }, null, 2);
}

/** React writes every word as text, so no word of a message becomes anything else in the file. */
async function page(conversation: Conversation, said: Message[]): Promise<string> {
  const draw = said.some((one) => HAS_FORMULA.test(one.text)) ? (await import("../../lib/math")).drawAlone : null;
  const messages = await Promise.all(said.map((one) => withPictures(conversation.id, one)));
  const place = document.createElement("div");
  const root = createRoot(place);
  const content = <Document conversation={conversation} messages={messages} />;
  flushSync(() => root.render(<DrawNow value={draw}>{content}</DrawNow>));
  const body = place.innerHTML;
  root.unmount();
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>${STYLE}</style>`;
  const title = Object.assign(document.createElement("title"), { textContent: titleOf(conversation) }).outerHTML;
  return `<!doctype html><html lang="en"><head>${head}${title}</head><body>${body}</body></html>`;
}

/** The file is to need nothing else: large pictures, which do not come with their message, are put into it. */
async function withPictures(id: string, message: Message): Promise<Message> {
  const parts = message.parts.map(async (part, index): Promise<Part> => {
    if (part.type !== "image" || part.source) return part;
    return { ...part, source: (await readPicture(id, message.id, index)) ?? "" };
  });
  return { ...message, parts: await Promise.all(parts) };
}

function Document({ conversation, messages }: { conversation: Conversation; messages: Message[] }) {
  return (
    <>
      <header>
        <h1 dir="auto">{titleOf(conversation)}</h1>
        <p>
          {moment(conversation.created)} to {moment(conversation.updated)}, saved from Octavo
        </p>
      </header>
      <main>
        {messages.map((one) => (
          <article key={one.id} className={one.role} dir="auto">
            <h2>
              {NAMES[one.role]}, {moment(one.created)}
            </h2>
            {one.parts.map((part, index) => (
              <Shared key={index} part={part} plain={one.role === "user"} />
            ))}
          </article>
        ))}
      </main>
    </>
  );
}

/** A part as the file shows it; what the page opens on demand is all there. */
function Shared({ part, plain }: { part: Part; plain: boolean }): ReactNode {
  switch (part.type) {
    case "text":
      return plain ? <p className="plain">{part.text}</p> : <Markdown text={part.text} />;
    case "image":
      return part.source.startsWith("data:image/") ? <img src={part.source} alt="Attached" /> : <p>[A picture]</p>;
    case "attachment":
      return <Folded title={part.name} text={textOf(part.source ?? "") ?? ""} />;
    case "tool_call":
      return <Folded title={`Called ${part.name}`} text={part.input} />;
    case "tool_result":
      return part.content.map((piece, index) =>
        piece.type === "text" ? (
          <Folded key={index} title={`Result ${part.name}`} text={piece.text} />
        ) : (
          <Shared key={index} part={piece} plain />
        ),
      );
    default:
      return null;
  }
}

function Folded({ title, text }: { title: string; text: string }) {
  if (!text) return <p>[{title}]</p>;
  return (
    <details>
      <summary>{title}</summary>
      <pre>{text}</pre>
    </details>
  );
}
