/** Alt and the arrow keys go through what was sent before, with its long pastes; what was being typed comes last. */

import { useRef, type KeyboardEvent } from "react";
import { readSent } from "../../lib/entries";
import type { Draft } from "../../lib/longtext";
import { readEntry, setEntry } from "../../state/effects/entry";

export function useRecall(key: string): (event: KeyboardEvent) => boolean {
  const walk = useRef<{ entries: Draft[]; at: number } | null>(null);
  return (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === "Alt") return false;
    if (!event.altKey || !step) {
      walk.current = null;
      return false;
    }
    event.preventDefault();
    const { text, pastes } = readEntry(key);
    const sent = walk.current ?? { entries: [...readSent(), { text, pastes }], at: readSent().length };
    const wanted = sent.entries[sent.at + step];
    if (!wanted) return true;
    walk.current = { ...sent, at: sent.at + step };
    setEntry(key, wanted);
    return true;
  };
}
