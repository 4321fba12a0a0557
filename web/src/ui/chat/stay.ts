/** When the input grows or a phone is turned, whoever was at the end still is. */

import { useEffect, type RefObject } from "react";

export function useStaysAtEnd(scroller: RefObject<HTMLElement | null>, near: number): void {
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    let height = element.clientHeight;
    const follow = new ResizeObserver(() => {
      // From the end as it was: a frame that shrinks moves it away without anybody having scrolled.
      const left = element.scrollHeight - element.scrollTop - height;
      if (element.clientHeight < height && left < near) element.scrollTop = element.scrollHeight;
      height = element.clientHeight;
    });
    follow.observe(element);
    return () => follow.disconnect();
  }, [scroller, near]);
}
