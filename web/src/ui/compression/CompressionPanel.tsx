/** An open compression: the summary, the exact lines with their sources, the receipt, and what can be done about it. */

import { useEffect, useState } from "react";
import type { Snapshot } from "../../api/types";
import { readSnapshot } from "../../state/effects/snapshots";
import type { Chat } from "../../state/types";
import { Markdown } from "../chat/Markdown";
import { Extracts } from "./Extracts";
import { CompressionActions } from "./CompressionActions";
import { ReceiptView } from "./ReceiptView";

export function CompressionPanel({ id, snapshot, chat }: { id: string; snapshot: Snapshot; chat: Chat }) {
  const found = chat.compression.read[snapshot.id];
  // Until another version is there, the one before it stays in sight.
  const [read, show] = useState(found);
  if (found && found !== read) show(found);
  useEffect(() => void readSnapshot(chat.id, snapshot.id), [chat.id, snapshot.id]);
  return (
    <section id={id} className="compression-panel" aria-label="Compressed messages" aria-busy={!found}>
      <CompressionActions snapshot={snapshot} chat={chat} />
      {!read && <p className="compression-note">Loading…</p>}
      {read && (
        <>
          <h2>Summary</h2>
          {read.full.summary ? (
            <Markdown text={read.full.summary} />
          ) : (
            <p className="compression-note">No model retold these messages: the exact lines below stand for them.</p>
          )}
          {read.full.files.length > 0 && (
            <p className="compression-note">
              Files of these messages: <bdi>{read.full.files.join(", ")}</bdi>
            </p>
          )}
          <Extracts extracts={read.full.extracts} snapshot={snapshot} chat={chat} />
          <ReceiptView receipt={read.receipt} snapshot={snapshot} conversation={chat.id} />
        </>
      )}
    </section>
  );
}
