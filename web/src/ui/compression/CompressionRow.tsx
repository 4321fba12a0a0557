/**
 * A compression: what is above is sent as a summary, what is below word for word.
 *
 * Its head says everything in two lines: how much became how little, by whom and when, and what came of the facts. It
 * opens to what stands for the messages.
 */

import { lazy, Suspense, useEffect, useRef, useState } from "react";
import type { Snapshot } from "../../api/types";
import { count, plural, when } from "../../lib/format";
import { toggleCompression, undoCompression } from "../../state/effects/snapshots";
import { dispatch } from "../../state/store";
import { snapshotKey } from "../../state/timeline";
import type { Chat } from "../../state/types";
import { Icon } from "../kit/Icon";
import { keepInSight } from "../kit/sight";
import { CompressionMenu } from "./CompressionMenu";

const load = () => import("./CompressionPanel");
const CompressionPanel = lazy(load);
export function CompressionRow({ snapshot, chat }: { snapshot: Snapshot; chat: Chat }) {
  const { open } = chat.compression;
  const panel = `compression-${snapshot.id}`;
  const row = useRef<HTMLDivElement>(null);
  const wanted = chat.target?.message === snapshotKey(snapshot) && chat.target;
  const opened = useRef(open);
  const [there, setThere] = useState(false);
  // There before it is opened: it opens to its full size at once.
  useEffect(() => void load(), []);
  useEffect(() => {
    const moved = opened.current !== (open && there);
    opened.current = open && there;
    // Asked for once: when the row comes back into sight by scrolling, nothing moves.
    if (wanted) return keepInSight(row, { then: () => dispatch({ type: "chat/target", id: chat.id, message: null }) });
    return moved ? keepInSight(row) : undefined;
  }, [wanted, open, there]);
  return (
    <div ref={row} className={open ? "compression card open" : "compression card"} data-snapshot={snapshot.id}>
      <div className="compression-head">
        <button
          type="button"
          className="compression-line"
          aria-expanded={open}
          aria-controls={open ? panel : undefined}
          onClick={() => void toggleCompression(chat.id, snapshot.id, !open)}
        >
          <Icon name="chevron" />
          <span className="compression-what">
            <b>{plural(snapshot.messages, "message")} compressed</b>, {when(snapshot.created)} · {authorOf(snapshot)} ·{" "}
            <span className="compression-pair">
              {count(snapshot.tokens_before)} → {count(snapshot.tokens_after)} tokens
            </span>
          </span>
        </button>
        <Bar snapshot={snapshot} />
        <button type="button" className="button quiet small" onClick={() => void undoCompression(chat.id, snapshot)}>
          Undo
        </button>
        <CompressionMenu snapshot={snapshot} chat={chat} />
      </div>
      <Verdict facts={snapshot.facts} />
      {open && (
        <Suspense>
          <CompressionPanel id={panel} snapshot={snapshot} chat={chat} shown={setThere} />
        </Suspense>
      )}
    </div>
  );
}

export function authorOf({ model, kind }: Snapshot): string {
  const author = model ? `by ${model}` : "exact lines only";
  return kind === "edited" ? `${author}, edited` : author;
}

/** What is left of how much. */
function Bar({ snapshot }: { snapshot: Snapshot }) {
  const left = Math.min(100, (100 * snapshot.tokens_after) / Math.max(1, snapshot.tokens_before));
  return (
    <span className="compression-gauge" aria-hidden="true">
      <span style={{ inlineSize: `${left}%` }} />
    </span>
  );
}

/** What came of the facts, in one sentence. */
export function Verdict({ facts }: { facts: Snapshot["facts"] }) {
  if (!facts || facts.count + facts.taken_out === 0) return null;
  return (
    <p className="compression-verdict">
      {facts.count > 0 && (
        <>
          {count(facts.verbatim)} of {plural(facts.count, "fact")} kept word for word
          {facts.told > 0 && <> · {count(facts.told)} retold</>}
          {" · "}
          {facts.lost > 0 ? <b className="some-lost">{count(facts.lost)} no longer seen</b> : "none lost"}
        </>
      )}
      {facts.count > 0 && facts.taken_out > 0 && " · "}
      {facts.taken_out > 0 && <b className="taken-out">{plural(facts.taken_out, "line")} taken out: not in the originals</b>}
    </p>
  );
}
