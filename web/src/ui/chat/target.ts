/** Brings the row that is asked for into sight; it is marked until somebody goes on to something else. */

import type { Virtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect } from "react";
import { dispatch } from "../../state/store";
import type { Row } from "../../state/timeline";
import type { Chat } from "../../state/types";

const BY_HAND = ["wheel", "touchmove", "pointerdown", "keydown"];
/** What comes before somebody scrolls; the page scrolls by itself too, on its way to the row. */

export const leaveTarget = (id: string): void => dispatch({ type: "chat/target", id, message: null });

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
  useEffect(() => {
    const element = virtualizer.scrollElement;
    if (!target || !element) return;
    const gone = new AbortController();
    const options = { passive: true, signal: gone.signal };
    const watch = () => element.addEventListener("scroll", () => isOut(element) && leaveTarget(chat.id), options);
    for (const kind of BY_HAND) element.addEventListener(kind, watch, { ...options, once: true });
    return () => gone.abort();
  }, [target, chat.id, virtualizer]);
}

function isOut(element: Element): boolean {
  const place = element.querySelector(".row.target")?.getBoundingClientRect();
  const { top, bottom } = element.getBoundingClientRect();
  return !place || place.bottom < top || place.top > bottom;
}
