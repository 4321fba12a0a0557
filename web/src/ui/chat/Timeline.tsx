/**
 * The messages, as many as are in sight.
 *
 * Rows are measured as they appear. The end stays in sight while an answer grows, unless somebody scrolled away from
 * it; older messages that are loaded above do not move what is being read.
 */

import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { loadOlder } from "../../state/effects/chat";
import { useStore } from "../../state/store";
import { hasOlder, isCovered, rowsOf, type Row } from "../../state/timeline";
import type { Chat } from "../../state/types";
import { Icon } from "../kit/Icon";
import { TimelineRow } from "./rows/TimelineRow";
import { useStaysAtEnd } from "./stay";
import { leaveTarget, useTarget } from "./target";

const NEAR_END = 96;
/** Pixels from the end that still count as being there. */
const EARLY = 8;
/** Rows from the beginning at which older messages are asked for. */
const GUESS = 120;
/** Pixels of a row before it was measured. */

export function Timeline({ chat }: { chat: Chat }) {
  const running = useStore((state) => state.compressions[chat.id]);
  const rows = useMemo(() => rowsOf(chat, running), [chat, running]);
  const scroller = useRef<HTMLDivElement>(null);
  const [away, setAway] = useState(false);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => rows[index]?.key ?? index,
    estimateSize: () => GUESS,
    overscan: 6,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: NEAR_END,
    paddingStart: 24,
    paddingEnd: 32,
    onChange: (instance) => setAway(!instance.isAtEnd(NEAR_END)),
  });
  const items = virtualizer.getVirtualItems();
  const printing = usePrinting();
  const ready = chat.status === "ready";
  useLayoutEffect(() => virtualizer.scrollToEnd(), [ready, virtualizer]);
  useLayoutEffect(() => {
    // A row that comes in between, such as a compression, would push the end out of sight. One may take another's place.
    if (!away && !chat.target) virtualizer.scrollToEnd();
  }, [rows.map((row) => row.key).join(" ")]);
  useSentIsSeen(rows, () => virtualizer.scrollToEnd());
  useTarget(chat, rows, virtualizer);
  useStaysAtEnd(scroller, NEAR_END);
  const near = ready && hasOlder(chat) && (items[0]?.index ?? EARLY) < EARLY;
  useEffect(() => {
    if (near && chat.older === "idle") void loadOlder();
  }, [near, chat.older]);
  return (
    <div className="timeline-frame">
      <div ref={scroller} className="timeline" role="log" aria-label="Messages" aria-live="off" tabIndex={0}>
        {/* Not a row: what is being read is kept in its place by the row at the top. */}
        {chat.older === "loading" && <p className="older">Loading older messages…</p>}
        {ready && rows.length === 0 && <p className="timeline-empty">Nothing was said here yet.</p>}
        {printing && rows.map((row) => <TimelineRow key={row.key} row={row} chat={chat} />)}
        <div className="timeline-inner" style={{ height: virtualizer.getTotalSize() }} hidden={printing}>
          {(printing ? [] : items).map((item) => (
            <div
              key={item.key}
              ref={virtualizer.measureElement}
              data-index={item.index}
              className={chat.target?.message === item.key ? "row target" : "row"}
              data-covered={isCovered(rows[item.index]) || undefined}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <TimelineRow row={rows[item.index]!} chat={chat} />
            </div>
          ))}
        </div>
      </div>
      {away && rows.length > 0 && (
        <button
          type="button"
          className="to-end"
          onClick={() => {
            leaveTarget(chat.id);
            virtualizer.scrollToEnd();
          }}
        >
          <Icon name="down" />
          Latest
        </button>
      )}
    </div>
  );
}

/** On paper there is no scrolling: all rows are there, not only those in sight. */
function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const begin = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return printing;
}

/** What one sends oneself is always brought into sight. */
function useSentIsSeen(rows: Row[], scroll: () => void): void {
  const sending = rows.some((row) => row.kind === "pending");
  useLayoutEffect(() => {
    if (sending) scroll();
    // Only the moment of sending counts.
  }, [sending]);
}
