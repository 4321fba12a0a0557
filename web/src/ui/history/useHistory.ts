/** The messages of a branch from its end upward, as far as somebody wanted to see them. */

import { useEffect, useRef, useState } from "react";
import type { Message } from "../../api/types";
import { readPage, readWhole } from "../../state/effects/history";

interface Loaded {
  messages: Message[];
  before: string | null;
}

export interface History {
  messages: Message[] | null;
  /** Messages before those that are here; they are known to be there by the depth of the first one. */
  missing: number;
  loadOlder: () => Promise<void>;
  /** Load until a depth is there; gives the message's row, or -1 if it is on another branch. */
  reach: (message: string, depth: number) => Promise<number>;
  loadWhole: (message: string) => void;
}

export function useHistory(id: string): History {
  const [loaded, show] = useState<Loaded | null>(null);
  const current = useRef<Loaded | null>(null);
  const asking = useRef<Promise<void> | null>(null);
  const keep = (next: Loaded) => {
    current.current = next;
    show(next);
  };
  const ask = async () => {
    const known = current.current;
    const page = await readPage(id, known?.before ?? null);
    if (page) keep({ messages: [...page.messages, ...(known?.messages ?? [])], before: page.before });
  };
  const loadOlder = (): Promise<void> => {
    if (current.current && !current.current.before) return Promise.resolve();
    asking.current ??= ask().finally(() => (asking.current = null));
    return asking.current;
  };
  useEffect(() => void loadOlder(), []);
  const reach = async (message: string, depth: number) => {
    let had = -1;
    while (current.current && missingOf(current.current) >= depth && current.current.messages.length > had) {
      had = current.current.messages.length;
      await loadOlder();
    }
    const at = current.current?.messages.findIndex((one) => one.id === message) ?? -1;
    return at < 0 ? -1 : at + missingOf(current.current);
  };
  const loadWhole = (message: string) =>
    void readWhole(id, message).then((whole) => {
      const known = current.current;
      if (whole && known)
        keep({ ...known, messages: known.messages.map((one) => (one.id === message ? whole : one)) });
    });
  return { messages: loaded?.messages ?? null, missing: missingOf(loaded), loadOlder, reach, loadWhole };
}

function missingOf(loaded: Loaded | null): number {
  return loaded?.before ? Math.max(0, (loaded.messages[0]?.depth ?? 1) - 1) : 0;
}
