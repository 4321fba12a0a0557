/** The exact context: system prompt, tools and messages as the provider gets them, and what each part costs. */

import type { Context } from "../../api/types";
import { count, plural } from "../../lib/format";
import { titleOfProvider } from "../../lib/provider";
import { useStore } from "../../state/store";
import { sectionsOf } from "../meter/MeterBreakdown";
import { CopyButton } from "../kit/CopyButton";
import { VirtualRows } from "./VirtualRows";

interface Piece {
  title: string;
  text: string;
}

export function SentView({ context }: { context: Context }) {
  const models = useStore((state) => state.models);
  const { usage } = context;
  const pieces = piecesOf(context);
  return (
    <div className="history">
      <div className="sent-head">
        <p>
          <b>{count(usage.reading.tokens)}</b> tokens to <bdi className="mono">{usage.model}</bdi>,{" "}
          {plural(context.messages.length, "message")} in the format of {titleOfProvider(context.format, models)}
        </p>
        <CopyButton text={() => jsonOf(context)} label="Copy as JSON" />
      </div>
      <dl className="sent-sections">
        {sectionsOf(usage).map(([name, tokens]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{count(tokens)}</dd>
          </div>
        ))}
      </dl>
      {!context.fits && (
        <p className="note">This is more than may be sent: it is compressed or shortened before it goes out.</p>
      )}
      {[...context.notes, ...context.repairs.map((repair) => repair.detail)].map((note, index) => (
        <p key={index} className="setting-note">
          Adjusted for the provider: {note}.
        </p>
      ))}
      <VirtualRows
        label="What will be sent"
        count={pieces.length}
        keyOf={String}
        start="first"
        row={(index) => {
          const piece = pieces[index]!;
          return (
            <article className="piece" aria-label={piece.title}>
              <h3>{piece.title}</h3>
              <pre dir="auto">{piece.text}</pre>
            </article>
          );
        }}
      />
    </div>
  );
}

/** Words are shown as words; everything else as the JSON that it is. */
function plain(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(plain).join("\n\n");
  const { type = "text", text, ...rest } = value as Record<string, unknown>;
  if (type === "text" && typeof text === "string" && Object.keys(rest).length === 0) return text;
  return JSON.stringify(value, null, 2);
}

const jsonOf = ({ system, tools, messages }: Context): string =>
  JSON.stringify({ ...(system != null && { system }), ...(tools.length && { tools }), messages }, null, 2);

function piecesOf(context: Context): Piece[] {
  const messages = context.messages.map((message) => {
    const { role, content, parts, ...rest } = message;
    const said = [content, parts, Object.keys(rest).length ? rest : null].filter((one) => one != null);
    return { title: String(role), text: said.map(plain).join("\n\n") };
  });
  const system = context.system == null ? [] : [{ title: "system", text: plain(context.system) }];
  const tools = context.tools.length ? [{ title: "tools", text: plain(context.tools) }] : [];
  return [...system, ...tools, ...messages];
}
