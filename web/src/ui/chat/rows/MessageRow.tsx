/** A stored message. */

import { memo } from "react";
import { when } from "../../../lib/format";
import { useStore } from "../../../state/store";
import type { ShownMessage } from "../../../state/types";
import { MessageActions } from "../MessageActions";
import { PartView } from "../parts/PartView";
import { AgainActions } from "./AgainActions";

/** That an answer broke off; at the end of the conversation also what can be done about it. */
function Unfinished({ message }: { message: ShownMessage }) {
  const last = useStore(({ chat }) => chat?.messages.at(-1)?.id === message.id && !chat.turn && !chat.failure);
  const writing = message.status === "streaming";
  return (
    <div className="unfinished">
      <p>{writing ? "Still being written." : message.cut ? "Cut off at its longest length." : "Stopped before it was finished."}</p>
      {last && !writing && <AgainActions />}
    </div>
  );
}

/** As the page calls it; that it was left out is said before. */
const plain = (note: string): string => note.replace(/ left out$/, "").replace(/\bextracts\b/, "exact lines");

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
          {message.created && <time dateTime={message.created}>{when(message.created)}</time>}
        </header>
      )}
      <div className="message-body" dir="auto">
        {message.parts.map((part, index) => (
          <PartView key={index} index={index} part={part} role={message.role} conversation={conversation} message={message.id} />
        ))}
      </div>
      {message.left_out && message.left_out.length > 0 && (
        <p className="left-out">Not seen by the model, for lack of room: {message.left_out.map(plain).join("; ")}</p>
      )}
      {unfinished && <Unfinished message={message} />}
      <MessageActions message={message} />
    </article>
  );
});
