/** Where the compression ends: what is above is sent as a summary, what is below word for word. Opens to what it stands for. */

import { useEffect, useRef } from "react";
import type { Snapshot } from "../../api/types";
import { count } from "../../lib/format";
import { toggleCompression } from "../../state/effects/snapshots";
import { dispatch } from "../../state/store";
import { snapshotKey } from "../../state/timeline";
import type { Chat } from "../../state/types";
import { Icon } from "../kit/Icon";
import { keepInSight } from "../kit/sight";
import { CompressionPanel } from "./CompressionPanel";

export function CompressionRow({ snapshot, chat }: { snapshot: Snapshot; chat: Chat }) {
  const { open } = chat.compression;
  const panel = `compression-${snapshot.id}`;
  const row = useRef<HTMLDivElement>(null);
  const wanted = chat.target?.message === snapshotKey(snapshot) && chat.target;
  const opened = useRef(open);
  useEffect(() => {
    const moved = opened.current !== open;
    opened.current = open;
    // Asked for once: when the row comes back into sight by scrolling, nothing moves.
    if (wanted) return keepInSight(row, { then: () => dispatch({ type: "chat/target", id: chat.id, message: null }) });
    return moved ? keepInSight(row) : undefined;
  }, [wanted, open]);
  return (
    <div ref={row} className={open ? "compression open" : "compression"} data-snapshot={snapshot.id}>
      <button
        type="button"
        className="compression-line"
        aria-expanded={open}
        aria-controls={open ? panel : undefined}
        onClick={() => void toggleCompression(chat.id, snapshot.id, !open)}
      >
        <Icon name="compress" />
        <span>
          <b className="compression-badge">{count(snapshot.messages)}</b> {snapshot.messages === 1 ? "message" : "messages"}{" "}
          compressed · {count(snapshot.tokens_before)} → {count(snapshot.tokens_after)} tokens
        </span>
        <Icon name="chevron" />
      </button>
      {open && <CompressionPanel id={panel} snapshot={snapshot} chat={chat} />}
    </div>
  );
}
