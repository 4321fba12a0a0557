/** A stored message. */

import { memo } from "react";
import { moment } from "../../../lib/format";
import type { ShownMessage } from "../../../state/types";
import { MessageActions } from "../MessageActions";
import { PartView } from "../parts/PartView";

const NAMES = { user: "You", assistant: "Answer", system: "System", tool: "Tool" } as const;

export const MessageRow = memo(function MessageRow({
  message,
  conversation,
}: {
  message: ShownMessage;
  conversation: string;
}) {
  const unfinished = message.role === "assistant" && message.status !== "complete";
  return (
    <article className={`message ${message.role}`} aria-label={NAMES[message.role]} data-message={message.id}>
      {message.role !== "user" && (
        <header className="message-head">
          <span>{message.name || message.model || NAMES[message.role]}</span>
          {message.created && <time dateTime={message.created}>{moment(message.created)}</time>}
        </header>
      )}
      <div className="message-body" dir="auto">
        {message.parts.map((part, index) => (
          <PartView key={index} index={index} part={part} role={message.role} conversation={conversation} message={message.id} />
        ))}
      </div>
      {unfinished && <p className="unfinished">Stopped before it was finished.</p>}
      <MessageActions message={message} />
    </article>
  );
});
