/** A stored message, with what becomes of it when the next request is made. */

import { memo } from "react";
import type { Message } from "../../api/types";
import { moment } from "../../lib/format";
import { isShortened } from "../../lib/shortened";
import { Markdown } from "../chat/Markdown";
import { PartView } from "../chat/parts/PartView";

export type Fate = "sent" | "pinned" | "compressed" | null;
export const ROLES = { user: "You", assistant: "Answer", system: "System", tool: "Tool" } as const;
const FATES = { sent: "sent word for word", pinned: "pinned, always sent", compressed: "compressed, not sent" } as const;

interface Props {
  message: Message;
  conversation: string;
  fate: Fate;
  at: boolean;
  whole: (message: string) => void;
}

export const HistoryRow = memo(function HistoryRow({ message, conversation, fate, at, whole }: Props) {
  return (
    <article
      className={`past ${message.role} ${fate ?? ""} ${at ? "at" : ""}`}
      aria-label={ROLES[message.role]}
      aria-current={at || undefined}
      data-message={message.id}
    >
      <header>
        <b>{ROLES[message.role]}</b>
        <time dateTime={message.created}>{moment(message.created)}</time>
        {fate && <span className="tag">{FATES[fate]}</span>}
      </header>
      <div dir="auto">
        {message.parts.map((part, index) =>
          part.type === "text" ? (
            message.role === "user" ? (
              <p key={index} className="plain">
                {part.text}
              </p>
            ) : (
              <Markdown key={index} text={part.text} />
            )
          ) : (
            <PartView key={index} part={part} role={message.role} conversation={conversation} message={message.id} index={index} />
          ),
        )}
      </div>
      {message.parts.some((part) => part.type === "text" && isShortened(part.text)) && (
        <button type="button" className="button small" onClick={() => whole(message.id)}>
          Show all of it
        </button>
      )}
    </article>
  );
});
