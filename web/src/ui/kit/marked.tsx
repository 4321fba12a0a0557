/** The words around a hit, those that were looked for marked as the server says: it counts characters. */

import type { ReactNode } from "react";
import type { Hit } from "../../api/types";

export function marked(hit: Hit): ReactNode[] {
  const letters = [...hit.snippet];
  const pieces: ReactNode[] = [];
  let from = 0;
  for (const [start, stop] of hit.marks) {
    pieces.push(letters.slice(from, start).join(""), <mark key={start}>{letters.slice(start, stop).join("")}</mark>);
    from = stop;
  }
  return [...pieces, letters.slice(from).join("")];
}
