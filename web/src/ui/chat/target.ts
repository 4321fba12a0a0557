/** Brings the row that is asked for into sight, and keeps it there. */

import type { Virtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect } from "react";
import type { Row } from "../../state/timeline";
import type { Chat } from "../../state/types";

export function useTarget(chat: Chat, rows: Row[], virtualizer: Virtualizer<HTMLDivElement, Element>): void {
  const { target } = chat;
  const index = target ? rows.findIndex((row) => row.key === target.message) : -1;
  useLayoutEffect(() => {
    if (index < 0) return;
    const { range, scrollElement } = virtualizer;
    const inSight = range && range.startIndex <= index && index <= range.endIndex;
    // Also when it is in sight: other rows may be about to push it out, on the way to the end.
    // What is taller than the screen, or may become so when it opens, is read from its beginning.
    const size = virtualizer.measurementsCache[index]?.size ?? 0;
    const tall = rows[index]?.kind !== "message" || size > (scrollElement?.clientHeight ?? 0);
    virtualizer.scrollToIndex(index, { align: tall ? "start" : inSight ? "auto" : "center" });
    // What had the focus may have been on another branch.
    if (document.activeElement === document.body) scrollElement?.focus({ preventScroll: true });
    // Only a new target counts, and the moment its row is there.
  }, [target, index >= 0]);
}
