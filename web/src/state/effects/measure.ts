/** Counts what stands in the input, a moment after it was typed: the meter shows what would be sent. */

import * as api from "../../api/client";
import { Problem } from "../../api/problem";
import type { Entry } from "../../lib/entry";
import { expanded } from "../../lib/longtext";
import { dispatch, state } from "../store";
import { contentOf } from "./turns";

const PAUSE = 400;
/** Milliseconds without a key before it is counted. */

/** Begin; gives how to stop. */
export function measureEntry(id: string, entry: Entry): () => void {
  const text = expanded(entry);
  if (!text.trim() && entry.files.length === 0) {
    if (state().chat?.drafted) dispatch({ type: "chat/drafted", id, usage: null });
    return () => undefined;
  }
  const stop = new AbortController();
  const timer = setTimeout(() => void count(id, contentOf(text, entry.files.map((one) => one.part)), stop.signal), PAUSE);
  return () => {
    clearTimeout(timer);
    stop.abort();
  };
}

async function count(id: string, content: Parameters<typeof api.readUsageWith>[1], signal: AbortSignal): Promise<void> {
  try {
    dispatch({ type: "chat/drafted", id, usage: await api.readUsageWith(id, content, signal) });
  } catch (error) {
    // A meter that cannot be read says so elsewhere, and nobody asked for this.
    if (!signal.aborted && !(error instanceof Problem)) throw error;
  }
}
