/** A long list of which only what is in sight is in the page; rows are measured as they appear. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, type ReactNode } from "react";

const GUESS = 90;
/** Pixels of a row before it was measured. */

interface Props {
  label: string;
  count: number;
  keyOf: (index: number) => string;
  row: (index: number) => ReactNode;
  start: "first" | "last";
  /** The row to bring into sight; a new object for every time. */
  target?: { index: number } | null;
  /** Called with the first row in sight, and with the list, whenever that was drawn. */
  drawn?: (first: number, list: HTMLElement) => void;
}

export function VirtualRows({ label, count, keyOf, row, start, target, drawn }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    getItemKey: keyOf,
    estimateSize: () => GUESS,
    overscan: 6,
    paddingStart: 8,
    paddingEnd: 16,
    // Rows grow when more is known about them: whoever looks at the end keeps looking at it.
    anchorTo: start === "last" ? "end" : "start",
  });
  const items = virtualizer.getVirtualItems();
  const total = virtualizer.getTotalSize();
  const height = virtualizer.scrollRect?.height;
  /** Whether the end stays in sight while rows grow and the list changes its height: until somebody moves it. */
  const atEnd = useRef(start === "last");
  const leave = () => void (atEnd.current = false);
  useLayoutEffect(() => {
    if (count > 0 && atEnd.current) virtualizer.scrollToEnd();
  }, [count > 0, total, height]);
  useEffect(() => {
    if (!target) return;
    leave();
    virtualizer.scrollToIndex(target.index, { align: "center" });
  }, [target]);
  useEffect(() => {
    if (scroller.current) drawn?.(items[0]?.index ?? 0, scroller.current);
  });
  return (
    <div
      ref={scroller}
      className="rows"
      role="region"
      aria-label={label}
      tabIndex={0}
      onWheel={leave}
      onTouchMove={leave}
      onPointerDown={leave}
      onKeyDown={leave}
    >
      <div className="rows-inner" style={{ height: total }}>
        {items.map((item) => (
          <div
            key={item.key}
            ref={virtualizer.measureElement}
            data-index={item.index}
            className="rows-row"
            style={{ transform: `translateY(${item.start}px)` }}
          >
            {row(item.index)}
          </div>
        ))}
      </div>
    </div>
  );
}
