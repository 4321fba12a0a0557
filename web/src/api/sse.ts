/**
 * Follows a stream of events, and comes back by itself where it left off.
 *
 * Not the browser's EventSource: that cannot send a key, and gives up on an error status without telling which.
 */

import { address, headers } from "./http";
import { Problem, problemOf, unreachable } from "./problem";

export interface Told {
  id: string;
  event: string;
  data: unknown;
}

const FIRST_WAIT = 400;
/** Milliseconds: a restarted server is found again within this time. */
const LONGEST_WAIT = 5_000;

/** Take complete events out of a text; gives what is left. */
export function takeEvents(text: string, into: Told[]): string {
  const blocks = text.split("\n\n");
  const rest = blocks.pop() ?? "";
  for (const block of blocks) {
    const told = readEvent(block);
    if (told) into.push(told);
  }
  return rest;
}

function readEvent(block: string): Told | null {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const colon = line.indexOf(": ");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  const data = fields.get("data");
  if (data === undefined) return null;
  return { id: fields.get("id") ?? "", event: fields.get("event") ?? "message", data: JSON.parse(data) };
}

export interface Following {
  signal: AbortSignal;
  /** Each event, in order; true says that nothing more is wanted. */
  heard: (told: Told) => boolean | void;
  /** The connection was lost, or is there again. */
  connected?: (now: boolean) => void;
}

/**
 * Follow until `heard` has enough or the signal says so.
 *
 * A lost connection is tried again for ever; an error the server means (4xx) is thrown.
 */
export async function follow(path: string, following: Following): Promise<void> {
  const { signal, connected } = following;
  let last = "";
  let wait = FIRST_WAIT;
  while (!signal.aborted) {
    try {
      const enough = await readOnce(path, last, following, (id) => {
        last = id;
        wait = FIRST_WAIT;
      });
      if (enough) return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && error.status >= 400 && error.status < 500 && error.status !== 429)
        throw error;
      connected?.(false);
    }
    await pause(wait, signal);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }
}

async function readOnce(
  path: string,
  last: string,
  { signal, heard, connected }: Following,
  seen: (id: string) => void,
): Promise<boolean> {
  const more = last ? { "last-event-id": last } : undefined;
  const response = await fetch(address(path), { headers: headers(more), signal, cache: "no-store" });
  if (!response.ok) throw await problemOf(response);
  if (!response.body) throw unreachable();
  connected?.(true);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return false;
    const told: Told[] = [];
    text = takeEvents(text + value, told);
    for (const one of told) {
      seen(one.id);
      if (heard(one)) {
        void reader.cancel();
        return true;
      }
    }
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
