/** Everything that is stored of this branch, compressed messages too. Not what is sent. */

import { useEffect, useState } from "react";
import type { Context, Hit } from "../../api/types";
import { plural } from "../../lib/format";
import { markWords } from "../../lib/marking";
import { HistoryRow, type Fate } from "./HistoryRow";
import { HistorySearch } from "./HistorySearch";
import { useHistory } from "./useHistory";
import { VirtualRows } from "./VirtualRows";

const ELSEWHERE = "That message is on another branch of this conversation.";

export function AllView({ id, context }: { id: string; context: Context | null }) {
  const { messages, missing, loadOlder, reach, loadWhole } = useHistory(id);
  const [query, search] = useState("");
  const [target, aim] = useState<{ index: number; message: string } | null>(null);
  const [note, tell] = useState("");
  useEffect(() => () => markWords(null, ""), []);
  const jump = async (hit: Hit) => {
    const index = await reach(hit.message, hit.depth);
    tell(index < 0 ? ELSEWHERE : "");
    if (index >= 0) aim({ index, message: hit.message });
  };
  const fate = fatesOf(context);
  return (
    <div className="history">
      <p className="note history-note">
        <strong>This is not what is sent.</strong> It is everything that is stored of this branch
        {messages && <>: {plural(messages.length + missing, "message")}</>}. What the model gets is under “What will be
        sent”.
      </p>
      <HistorySearch id={id} query={query} search={search} jump={(hit) => void jump(hit)} />
      <p className="history-elsewhere" role="status">
        {note}
      </p>
      {messages?.length === 0 && <p className="empty">Nothing was said here yet.</p>}
      <VirtualRows
        label="Full history"
        count={(messages?.length ?? 0) + missing}
        keyOf={(index) => messages?.[index - missing]?.id ?? `missing-${index}`}
        start="last"
        target={target}
        drawn={(first, list) => {
          if (missing > first) void loadOlder();
          markWords(list, query);
        }}
        row={(index) => {
          const message = messages?.[index - missing];
          if (!message) return <p className="past-missing">Loading…</p>;
          return (
            <HistoryRow
              message={message}
              conversation={id}
              fate={fate(message.id)}
              at={message.id === target?.message}
              whole={loadWhole}
            />
          );
        }}
      />
    </div>
  );
}

/** What becomes of a message, as the server says; unknown as long as it has not said it. */
function fatesOf(context: Context | null): (message: string) => Fate {
  const sent = new Set(context?.sent);
  const pinned = new Set(context?.pinned);
  return (message) => (context ? (pinned.has(message) ? "pinned" : sent.has(message) ? "sent" : "compressed") : null);
}
