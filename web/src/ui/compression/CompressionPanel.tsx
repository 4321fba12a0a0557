/** An open compression: what was left out, the summary, the exact lines with their sources, the receipt, the whole as a bar. */

import { useEffect, useState } from "react";
import type { Snapshot } from "../../api/types";
import { readSnapshot } from "../../state/effects/snapshots";
import type { Chat } from "../../state/types";
import "../../styles/card.css";
import { Amber } from "./Amber";
import { ConversationBar } from "./ConversationBar";
import { Extracts } from "./Extracts";
import { LostChips } from "./LostChips";
import { PinList } from "./PinList";
import { ReceiptView } from "./ReceiptView";
import { SummaryEditor } from "./SummaryEditor";
import { SummaryView } from "./SummaryView";
import { VersionBar } from "./VersionBar";

interface Props {
  id: string;
  snapshot: Snapshot;
  chat: Chat;
  /** Told when it is there, and when it is gone: it may come later than it was opened. */
  shown: (there: boolean) => void;
}

export default function CompressionPanel({ id, snapshot, chat, shown }: Props) {
  useEffect(() => {
    shown(true);
    return () => shown(false);
  }, [shown]);
  const versions = chat.snapshots?.snapshots.filter((one) => one.cutoff === snapshot.cutoff && one.state !== "retired") ?? [];
  // Another version is looked at until a new one is in use.
  const [viewed, view] = useState(snapshot);
  const [serving, follow] = useState(snapshot.id);
  if (serving !== snapshot.id) {
    follow(snapshot.id);
    view(snapshot);
  }
  const found = chat.compression.read[viewed.id];
  // Until another version is there, the one before it stays in sight.
  const [read, show] = useState(found);
  if (found && found !== read) show(found);
  useEffect(() => void readSnapshot(chat.id, viewed.id), [chat.id, viewed.id]);
  const used = viewed.id === snapshot.id;
  return (
    <section id={id} className="compression-panel" aria-label="Compressed messages" aria-busy={!found}>
      {!read && <p className="compression-note">Loading…</p>}
      {read && (
        <>
          {used && <LostChips receipt={read.receipt} snapshot={viewed} conversation={chat.id} />}
          <Amber receipt={read.receipt} conversation={chat.id} />
          <VersionBar versions={versions} viewed={viewed} serving={snapshot} view={view} chat={chat} />
          {used && chat.compression.editing ? (
            <SummaryEditor id={chat.id} snapshot={snapshot} was={read.full.summary} />
          ) : (
            <SummaryView read={read} chat={chat} />
          )}
          <Extracts extracts={read.full.extracts} snapshot={viewed} chat={chat} />
          {used && <PinList chat={chat} />}
          <ReceiptView receipt={read.receipt} snapshot={viewed} conversation={chat.id} />
          {used && <ConversationBar chat={chat} snapshot={snapshot} />}
        </>
      )}
    </section>
  );
}
